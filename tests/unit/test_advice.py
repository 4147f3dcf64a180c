"""Advice that fits what has spoilt the trials, in the engine's own words for it."""

from fractions import Fraction

import pytest

from natxy.dut.none import NoDut
from natxy.errors import TesterLimit
from natxy.model.traffic import TrafficPlan
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.verdict.advice import DISCARDED, DOCTOR, DOCTOR_FIRST, LOWER_RATE, explained
from tests.unit.scripted_engine import ScriptedEngine

LATE = "forward: a frame left 4.000 ms after it was due (expected at most 1.000 ms)"
GAP = "forward: the sender paused for 20.00 ms of 60.0 ms (expected at most 2 %)"
MISSED = "left port: 5 frames missed for lack of descriptors (rx_missed)"
DROPPED = "right port: 5 frames dropped by the network interface (kernel_rx_dropped)"
REFUSED = "reverse: the port took only 10 of 100 frames"
NO_ROOM = "left port: 5 frames without a record, because its buffer had no room (records_lost)"
DAMAGED = "left port: 5 frames received with an error (rx_errors)"
OVERRUN = "forward: up to 300 frames waited for the tester at once, more than its ring holds"
AWAY = "the gateway's CPU 1 was away for 5.00 ms in all, at most 5.00 ms at once"
LINK = "right port: its link was down at the end"
CLOCK = "left port: the error of its clock was 2.000 ms (expected at most 0.02 ms)"
DUT = "The calibration gateway did not poll its ports for 9000 us, more than the limit of 1000."
LOW_FPS, HIGH_FPS = 1000, 1_000_000
TIMING = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))


@pytest.mark.parametrize(
    ("reasons", "rate_fps", "too_slow", "shown", "advice"),
    [
        ((LATE,), LOW_FPS, False, LATE, DOCTOR),
        ((GAP,), LOW_FPS, True, GAP, DOCTOR),
        ((LATE,), HIGH_FPS, False, LATE, DOCTOR_FIRST),
        ((GAP,), HIGH_FPS, True, GAP, DOCTOR_FIRST),
        ((GAP,), HIGH_FPS, False, GAP, DOCTOR),
        ((OVERRUN,), HIGH_FPS, False, OVERRUN, DOCTOR),
        ((MISSED,), HIGH_FPS, True, MISSED, LOWER_RATE),
        ((DROPPED,), HIGH_FPS, True, DROPPED, LOWER_RATE),
        ((DROPPED,), 50_000, False, DROPPED, DOCTOR),
        ((NO_ROOM,), HIGH_FPS, False, NO_ROOM, LOWER_RATE),
        ((LATE, REFUSED), HIGH_FPS, True, REFUSED, LOWER_RATE),
        ((REFUSED,), LOW_FPS, True, REFUSED, DISCARDED),
        ((LATE, LINK), HIGH_FPS, False, LINK, "check the cable"),
        ((DAMAGED,), HIGH_FPS, False, DAMAGED, "check the cable"),
        ((CLOCK,), HIGH_FPS, False, CLOCK, "tester.arrival_clock"),
        ((AWAY,), HIGH_FPS, False, AWAY, "what takes the gateway's core away"),
    ],
)
def test_it_fits_the_reason_that_explains_the_others_and_whether_that_grows_with_the_rate(
    reasons: tuple[str, ...], rate_fps: int, too_slow: bool, shown: str, advice: str
) -> None:
    said = explained(reasons, rate_fps, too_slow=too_slow)
    assert said.startswith(f"{shown}; ")
    assert advice in said
    assert (LOWER_RATE in said) == (LOWER_RATE in advice)


def test_what_the_gateway_says_of_itself_gets_no_advice() -> None:
    assert explained((DUT,), HIGH_FPS, too_slow=False) == DUT


def test_advice_that_the_engine_gives_is_not_given_twice() -> None:
    said = f'{CLOCK}; tester.arrival_clock = "tsc" does not use this clock'
    assert explained((said,), HIGH_FPS, too_slow=False) == said


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
    assert LOWER_RATE not in str(limit.value)
