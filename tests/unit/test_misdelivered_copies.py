"""A wrong copy of a frame that also arrived right: no trial with one passes."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Stream
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.load import steady
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.fake_engine import KIND, FakeEngine, rate_of

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))


def copying(copies: int = 1, above_fps: int = 0) -> FakeEngine:
    """A gateway that, above a rate, also sends wrong copies of frames."""

    def counters(stream: Stream) -> dict[str, Any]:
        wrong = copies if rate_of(stream) > above_fps else 0
        return {"misdelivered": KIND["misdelivered"] | {"address": wrong, "total": wrong}}

    return FakeEngine(counters=counters)


def result_of(nat64: TrafficPlan, copies: int, frames: int = 100) -> TrialResult:
    engine = copying(copies)
    load = steady(frames * 10, Fraction(1, 10))
    return engine.run(TrialPlan(traffic=nat64, timing=TIMING).spec(load=load, seed=1, nonce=1))


def test_all_frames_arrived_and_one_came_again_to_another_address(nat64: TrafficPlan) -> None:
    result = result_of(nat64, 1)
    assert (result.lost, result.misdelivered) == (0, 2)  # in each direction one
    assert not result.passed
    assert result_of(nat64, 0).passed
    assert not steady(1000, Fraction(1, 10)).passes(result)


@pytest.mark.parametrize(("copies", "passes"), [(10, True), (11, False)])
def test_an_accepted_loss_includes_wrong_copies(
    copies: int, passes: bool, nat64: TrafficPlan
) -> None:
    from dataclasses import replace

    accepted = LossTolerance(fraction=Fraction(1, 10))
    load = replace(steady(1000, Fraction(1, 10)), accepted=accepted)
    assert load.passes(result_of(nat64, copies)) is passes


def test_a_wrong_frame_that_was_lost_counts_once(nat64: TrafficPlan) -> None:
    engine = FakeEngine(misdelivers=3)
    load = steady(1000, Fraction(1, 10))
    result = engine.run(TrialPlan(traffic=nat64, timing=TIMING).spec(load=load, seed=1, nonce=1))
    assert [stream.lost_or_wrong for stream in result.streams] == [3, 3]


def test_a_search_ends_below_the_rate_at_which_copies_are_wrong(nat64: TrafficPlan) -> None:
    engine = copying(above_fps=5000)
    plan = ThroughputPlan(timing=TIMING, seed=1, repetitions=1, max_rate_fps=10_000)
    found = throughput(plan, engine.session(nat64))
    assert found.figures[0].values[0] <= 5000
    assert found.counts.misdelivered > 0
