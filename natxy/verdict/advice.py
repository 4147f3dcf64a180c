"""Advice for users whose trials stay invalid; it depends on what made them invalid."""

from collections.abc import Sequence

from natxy.model.reason import Cause, Reason

# Any tester can send at this rate, so a problem at it or below has another cause than the rate.
SURELY_SENT_FPS = 10_000
LOWER_RATE = "use a lower rate"
DISCARDED = "a lower rate does not help: find out what discards frames at so low a rate"
DOCTOR = "run `natxy doctor`, which reports what takes the tester's cores away"
DOCTOR_FIRST = f"{DOCTOR}; if it finds nothing, the tester is too slow: {LOWER_RATE}"
GATEWAY_AWAY = "run `natxy doctor`, which reports what takes the gateway's core away"
PLACED = "the host decides where the cores of a virtual machine run: repeat the measurement later"
LINK = "check the cable, and the port at its other end"

# If the problem grows with the rate; the same at low rates; and if it does not grow with the rate.
# A sender that may not pause (LATE) does not tell.
_ADVICE = {
    Cause.LINK: (LINK, LINK, LINK),
    Cause.PORT: (LOWER_RATE, DISCARDED, DOCTOR),
    Cause.RECORDS: (LOWER_RATE, DISCARDED, None),
    Cause.LATE: (DOCTOR_FIRST, DOCTOR, None),
    Cause.TESTER: (DOCTOR_FIRST, DOCTOR, DOCTOR),
    Cause.GATEWAY: (GATEWAY_AWAY, GATEWAY_AWAY, GATEWAY_AWAY),
    Cause.HOST: (PLACED, PLACED, PLACED),
}


def explained(reasons: Sequence[Reason], rate_fps: int, *, too_slow: bool) -> str:
    """Returns the reason that explains the others, with the advice that fits it, if there is one.

    `too_slow` is that of the trial's record: the problem grows with the rate.
    """
    reason = min(reasons, key=lambda each: each.code.cause.value)
    advice = _advice(reason.code.cause, rate_fps, too_slow=too_slow)
    return f"{reason}; {advice}" if advice else str(reason)


def _advice(cause: Cause, rate_fps: int, *, too_slow: bool) -> str | None:
    if cause not in _ADVICE:
        return None
    grows, at_low_rates, otherwise = _ADVICE[cause]
    if otherwise and not too_slow:
        return otherwise
    return at_low_rates if rate_fps <= SURELY_SENT_FPS else grows
