"""Advice for users whose trials stay invalid; it depends on what made them invalid."""

from collections.abc import Sequence

from natxy.model.reason import Advice, Cause, Explanation, Reason
from natxy.model.trial_record import TrialRecord

# Any tester can send at this rate, so a problem at it or below has another cause than the rate.
SURELY_SENT_FPS = 10_000

# If the problem grows with the rate; the same at low rates; and if it does not grow with the rate.
# A sender that may not pause (LATE) does not tell.
_ADVICE = {
    Cause.LINK: (Advice.LINK, Advice.LINK, Advice.LINK),
    Cause.PORT: (Advice.LOWER_RATE, Advice.DISCARDED, Advice.DOCTOR),
    Cause.RECORDS: (Advice.LOWER_RATE, Advice.DISCARDED, None),
    Cause.LATE: (Advice.DOCTOR_FIRST, Advice.DOCTOR, None),
    Cause.TESTER: (Advice.DOCTOR_FIRST, Advice.DOCTOR, Advice.DOCTOR),
    Cause.GATEWAY: (Advice.GATEWAY_AWAY, Advice.GATEWAY_AWAY, Advice.GATEWAY_AWAY),
    Cause.HOST: (Advice.PLACED, Advice.PLACED, Advice.PLACED),
}


def explained(reasons: Sequence[Reason], rate_fps: int, *, too_slow: bool) -> Explanation:
    """Returns the reason that explains the others, with the advice that fits it, if there is one.

    `too_slow` is that of the trial's record: the problem grows with the rate.
    """
    reason = min(reasons, key=lambda each: each.code.cause.value)
    advice = _advice(reason.code.cause, rate_fps, too_slow=too_slow)
    return Explanation(code=reason.code, where=reason.where, facts=reason.facts, advice=advice)


def why_invalid(trial: TrialRecord) -> Explanation:
    return explained(trial.invalid_reasons, trial.rate_fps, too_slow=trial.too_slow)


def _advice(cause: Cause, rate_fps: int, *, too_slow: bool) -> Advice | None:
    if cause not in _ADVICE:
        return None
    grows, at_low_rates, otherwise = _ADVICE[cause]
    if otherwise and not too_slow:
        return otherwise
    return at_low_rates if rate_fps <= SURELY_SENT_FPS else grows
