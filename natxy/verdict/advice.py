"""Advice for users whose trials stay invalid; it depends on what made them invalid."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import Pattern

# Any tester can send at this rate, so a problem at it or below has another cause than the rate.
SURELY_SENT_FPS = 10_000
LOWER_RATE = "use a lower rate"
DISCARDED = "a lower rate does not help: find out what discards frames at so low a rate"
DOCTOR = "run `natxy doctor`, which reports what takes the tester's cores away"
DOCTOR_FIRST = f"{DOCTOR}; if it finds nothing, the tester is too slow: {LOWER_RATE}"
GATEWAY_AWAY = "run `natxy doctor`, which reports what takes the gateway's core away"
PLACED = "the host decides where the cores of a virtual machine run: repeat the measurement later"
LINK = "check the cable, and the port at its other end"
CLOCK = 'set tester.arrival_clock = "tsc", which does without the port\'s clock'


@dataclass(frozen=True, kw_only=True)
class _Cause:
    """A kind of reason for INVALID, and what the user can do about it."""

    pattern: Pattern[str]
    grows: str  # advice if the problem grows with the rate
    grows_at_low_rates: str  # the same, but the rate is low already
    # Advice if the problem does not grow with the rate; empty: the trial's record does not tell.
    comes_and_goes: str


def _cause(
    pattern: str, advice: str, at_low_rates: str | None = None, comes_and_goes: str = ""
) -> _Cause:
    low = advice if at_low_rates is None else at_low_rates
    return _Cause(
        pattern=re.compile(pattern),
        grows=advice,
        grows_at_low_rates=low,
        comes_and_goes=comes_and_goes,
    )


# The first cause that matches explains the later ones: a link that is down also makes frames late.
_CAUSES = (
    _cause(r"link (was|went) down|received with an error", LINK),
    _cause(r"its clock|port's clock", CLOCK),
    _cause(r"port took only|frames missed|not sent|dropped by", LOWER_RATE, DISCARDED, DOCTOR),
    _cause(r"no room", LOWER_RATE, DISCARDED),
    # If a sender may not pause, the record does not tell why it was late.
    _cause(r"after it was due|left too late", DOCTOR_FIRST, DOCTOR),
    _cause(r"paused for|waited for the tester|tester was away|pauses of the tester",
           DOCTOR_FIRST, DOCTOR, DOCTOR),
    _cause(r"was away for", GATEWAY_AWAY),
    _cause(r"the host had moved|the host let", PLACED),
)  # fmt: skip


def explained(reasons: Sequence[str], rate_fps: int, *, too_slow: bool) -> str:
    """Returns the reason that explains the others, with the advice that fits it.

    `too_slow` is that of the trial's record: the problem grows with the rate. A reason that the DUT
    itself gives is returned without advice.
    """
    for cause in _CAUSES:
        for reason in reasons:
            if cause.pattern.search(reason):
                return _joined(reason, _advice(cause, rate_fps, too_slow=too_slow))
    return reasons[0]


def _advice(cause: _Cause, rate_fps: int, *, too_slow: bool) -> str:
    if cause.comes_and_goes and not too_slow:
        return cause.comes_and_goes
    return cause.grows_at_low_rates if rate_fps <= SURELY_SENT_FPS else cause.grows


def _joined(reason: str, advice: str) -> str:
    """Joins reason and advice; some reasons of the engine contain their advice already."""
    return reason if "tester.arrival_clock" in reason else f"{reason}; {advice}"
