"""Advice that fits what has spoilt the trials, in the engine's own words for it."""

from fractions import Fraction

import pytest

from natxy.dut.none import NoDut
from natxy.errors import TesterLimit
from natxy.model.traffic import TrafficPlan
from natxy.procedure.advice import explained
from natxy.procedure.observer import Observer
from natxy.procedure.timing import Timing
from natxy.procedure.trial import Trials
from tests.unit.scripted_engine import ScriptedEngine

LATE = "forward: a frame left 4.000 ms after it was due; 1.000 ms is tolerated"
GAP = "forward: the sender paused for 20.00 ms of 60.0 ms (expected at most 2 %)"
MISSED = "left port: 5 frames missed for want of descriptors (rx_missed)"
DROPPED = "right port: 5 frames dropped by the network interface (kernel_rx_dropped)"
REFUSED = "reverse: the port took only 10 of 100 frames"
LINK = "right port: its link was down at the end"
CLOCK = "left port: its clock was known within 2.000 ms only"
DUT = "The reference gateway did not poll its ports for 9000 us, more than the limit of 1000."
LOW_FPS, HIGH_FPS = 1000, 1_000_000
TIMING = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))


@pytest.mark.parametrize(
    ("reasons", "rate_fps", "shown", "advice"),
    [
        ((LATE,), LOW_FPS, LATE, "natxy doctor"),
        ((GAP,), LOW_FPS, GAP, "natxy doctor"),
        ((LATE,), HIGH_FPS, LATE, "the tester is too slow and a lower rate"),
        ((MISSED,), HIGH_FPS, MISSED, "a lower rate is right"),
        ((DROPPED,), HIGH_FPS, DROPPED, "a lower rate is right"),
        ((LATE, REFUSED), HIGH_FPS, REFUSED, "a lower rate is right"),
        ((REFUSED,), LOW_FPS, REFUSED, "a lower rate does not help"),
        ((LATE, LINK), HIGH_FPS, LINK, "the cable"),
        ((CLOCK,), HIGH_FPS, CLOCK, "tester.arrival_clock"),
    ],
)
def test_it_fits_the_reason_that_explains_the_others(
    reasons: tuple[str, ...], rate_fps: int, shown: str, advice: str
) -> None:
    said = explained(reasons, rate_fps)
    assert said.startswith(f"{shown}; ")
    assert advice in said


def test_of_lateness_at_a_low_rate_no_lower_one_is_the_cure() -> None:
    assert "lower rate" not in explained((LATE,), LOW_FPS)


def test_what_the_gateway_says_of_itself_gets_no_advice() -> None:
    assert explained((DUT,), HIGH_FPS) == DUT


def test_advice_that_the_engine_gives_is_not_given_twice() -> None:
    said = f'{CLOCK}; tester.arrival_clock = "tsc" does without'
    assert explained((said,), HIGH_FPS) == said


@pytest.mark.parametrize(("reason", "advice"), [(LATE, "natxy doctor"), (LINK, "the cable")])
def test_trials_that_stay_invalid_end_with_it(nat64: TrafficPlan, reason: str, advice: str) -> None:
    trials = Trials(
        tester=ScriptedEngine(invalid=lambda _: reason).tester(nat64),
        dut=NoDut(),
        timing=TIMING,
        campaign_seed=1,
        observer=Observer(),
    )
    with pytest.raises(TesterLimit, match=advice) as limit:
        trials.run_valid(load=LOW_FPS, repetition=1, seed=1, invalid_repeats=0)
    assert "a lower rate is right" not in str(limit.value)
