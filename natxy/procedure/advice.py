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
    """A reason that the engine gives, and what to do about it at a high rate and at a low one."""

    pattern: Pattern[str]
    advice: str
    at_low_rates: str


def _cause(pattern: str, advice: str, at_low_rates: str | None = None) -> _Cause:
    low = advice if at_low_rates is None else at_low_rates
    return _Cause(pattern=re.compile(pattern), advice=advice, at_low_rates=low)


# The first that fits explains those after it: a link that is down makes frames late as well.
_CAUSES = (
    _cause(r"link (was|went) down", LINK),
    _cause(r"its clock|port's clock", CLOCK),
    _cause(r"port took only|frames missed|with an error|not sent|no room|dropped by", LOWER_RATE,
           DISCARDED),
    _cause(r"after it was due|left too late|paused for|waited for the tester|tester was away"
           r"|pauses of the tester",
           DOCTOR_FIRST, DOCTOR),
    _cause(r"was away for", GATEWAY_AWAY),
)  # fmt: skip


def explained(reasons: Sequence[str], rate_fps: int) -> str:
    """The reason that explains the others, and the advice that fits it.

    What the device under test says of itself is not explained: it has its own words for it.
    """
    for cause in _CAUSES:
        for reason in reasons:
            if cause.pattern.search(reason):
                return _joined(reason, _advice(cause, rate_fps))
    return reasons[0]


def _advice(cause: _Cause, rate_fps: int) -> str:
    return cause.at_low_rates if rate_fps <= SURELY_SENT_FPS else cause.advice


def _joined(reason: str, advice: str) -> str:
    """The engine gives some reasons with their advice."""
    return reason if "tester.arrival_clock" in reason else f"{reason}; {advice}"
