"""Advice that fits what has spoilt the trials."""

from fractions import Fraction

import pytest

from natxy.errors import TesterLimit
from natxy.model.reason import Advice, Code, Reason
from natxy.model.traffic import TrafficPlan
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.verdict.advice import explained
from tests.unit.fake_engine import FakeEngine
from tests.unit.reasons import LATE, a_reason

GAP = a_reason(Code.PAUSED)
MISSED = a_reason(Code.RX_MISSED, "left")
DROPPED = a_reason(Code.KERNEL_RX_DROPPED, "right")
REFUSED = a_reason(Code.PORT_REFUSED, "reverse")
NO_ROOM = a_reason(Code.RECORDS_LOST, "left")
DAMAGED = a_reason(Code.RX_ERRORS, "left")
OVERRUN = a_reason(Code.RING_FULL)
AWAY = a_reason(Code.GATEWAY_AWAY, "the gateway's CPU 1")
LINK = a_reason(Code.LINK_DOWN, "right")
CLOCK = a_reason(Code.CLOCK_ERROR, "left")
DUT = a_reason(Code.GATEWAY_POLLED_LATE, "")
LOW_FPS, HIGH_FPS = 1000, 1_000_000
TIMING = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))


@pytest.mark.parametrize(
    ("reasons", "rate_fps", "too_slow", "shown", "advice"),
    [
        ((LATE,), LOW_FPS, False, LATE, Advice.DOCTOR),
        ((GAP,), LOW_FPS, True, GAP, Advice.DOCTOR),
        ((LATE,), HIGH_FPS, False, LATE, Advice.DOCTOR_FIRST),
        ((GAP,), HIGH_FPS, True, GAP, Advice.DOCTOR_FIRST),
        ((GAP,), HIGH_FPS, False, GAP, Advice.DOCTOR),
        ((OVERRUN,), HIGH_FPS, False, OVERRUN, Advice.DOCTOR),
        ((MISSED,), HIGH_FPS, True, MISSED, Advice.LOWER_RATE),
        ((DROPPED,), HIGH_FPS, True, DROPPED, Advice.LOWER_RATE),
        ((DROPPED,), 50_000, False, DROPPED, Advice.DOCTOR),
        ((NO_ROOM,), HIGH_FPS, False, NO_ROOM, Advice.LOWER_RATE),
        ((LATE, REFUSED), HIGH_FPS, True, REFUSED, Advice.LOWER_RATE),
        ((REFUSED,), LOW_FPS, True, REFUSED, Advice.DISCARDED),
        ((LATE, LINK), HIGH_FPS, False, LINK, Advice.LINK),
        ((DAMAGED,), HIGH_FPS, False, DAMAGED, Advice.LINK),
        ((AWAY,), HIGH_FPS, False, AWAY, Advice.GATEWAY_AWAY),
    ],
)
def test_it_fits_the_reason_that_explains_the_others_and_whether_that_grows_with_the_rate(
    reasons: tuple[Reason, ...], rate_fps: int, too_slow: bool, shown: Reason, advice: Advice
) -> None:
    why = explained(reasons, rate_fps, too_slow=too_slow)
    assert (why.code, why.where, why.facts) == (shown.code, shown.where, shown.facts)
    assert why.advice is advice
    assert str(why) == f"{shown}; {advice.value}"


@pytest.mark.parametrize("reason", [DUT, CLOCK])
def test_what_says_all_by_itself_gets_no_advice(reason: Reason) -> None:
    assert str(explained((reason,), HIGH_FPS, too_slow=False)) == str(reason)


@pytest.mark.parametrize(("reason", "advice"), [(LATE, "natxy doctor"), (LINK, "the cable")])
def test_trials_that_stay_invalid_end_with_it(
    nat64: TrafficPlan, reason: Reason, advice: str
) -> None:
    trials = Trials(
        session=FakeEngine(invalid=lambda _: reason).session(nat64),
        timing=TIMING,
        campaign_seed=1,
    )
    with pytest.raises(TesterLimit, match=advice) as limit:
        trials.run_valid(load=LOW_FPS, repetition=1, invalid_repeats=0)
    assert Advice.LOWER_RATE.value not in str(limit.value)
