"""Advice to a person whose trials stay invalid: it must fit what has spoilt them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import Pattern

SURELY_SENT_FPS = 10_000  # any tester sends so many: what is wrong there has another cause
LOWER_RATE = "a lower rate is right"
DISCARDED = "a lower rate does not help: look for what discards frames at so low a rate"
DOCTOR = "run `natxy doctor`, which says what takes the tester's cores away"
DOCTOR_FIRST = f"{DOCTOR}; if it finds nothing, the tester is too slow and {LOWER_RATE}"
GATEWAY_AWAY = "run `natxy doctor`, which says what takes the gateway's core away"
LINK = "look at the cable, and at the port at its other end"
CLOCK = 'tester.arrival_clock = "tsc" does without the port\'s clock'


@dataclass(frozen=True, kw_only=True)
class _Cause:
    """A reason that the engine gives, and what to do about it: where what went wrong grows with the
    rate, where it does so and the rate is low all the same, and where it does not."""

    pattern: Pattern[str]
    grows: str
    grows_at_low_rates: str
    comes_and_goes: str  # empty: the trial's record does not tell these apart


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


# The first that fits explains those after it: a link that is down makes frames late as well.
_CAUSES = (
    _cause(r"link (was|went) down|received with an error", LINK),
    _cause(r"its clock|port's clock", CLOCK),
    _cause(r"port took only|frames missed|not sent|dropped by", LOWER_RATE, DISCARDED, DOCTOR),
    _cause(r"no room", LOWER_RATE, DISCARDED),
    # A sender that may not pause says nothing of why it was late.
    _cause(r"after it was due|left too late", DOCTOR_FIRST, DOCTOR),
    _cause(r"paused for|waited for the tester|tester was away|pauses of the tester",
           DOCTOR_FIRST, DOCTOR, DOCTOR),
    _cause(r"was away for", GATEWAY_AWAY),
)  # fmt: skip


def explained(reasons: Sequence[str], rate_fps: int, *, too_slow: bool) -> str:
    """The reason that explains the others, and the advice that fits it; `too_slow` is what the
    trial's record says: whether what went wrong grows with the rate.

    What the device under test says of itself is not explained: it has its own words for it.
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
    """The engine gives some reasons with their advice."""
    return reason if "tester.arrival_clock" in reason else f"{reason}; {advice}"
