"""Tests of the loss that a load accepts, of what it never accepts, and of its streams."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.model.stream_counters import ConnectionCounters
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Stream
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.settings import LossTolerance
from natxy.trial.load import steady
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.timeline import Schedule
from tests.unit.fake_engine import KIND, FakeEngine, rate_of
from tests.unit.results import result_of, stream_of

STRICT = steady(1000, Fraction(1))
TOLERANT = replace(STRICT, accepted=LossTolerance(fraction=Fraction(1, 100)))


def test_each_direction_may_lose_as_much_as_is_accepted() -> None:
    reverse = stream_of(sent=1000, missing=10, direction="reverse")
    assert TOLERANT.passes(result_of(stream_of(sent=1000, missing=10), reverse))
    assert not TOLERANT.passes(result_of(stream_of(sent=1000, missing=11), reverse))


@pytest.mark.parametrize("cut", [{"ended_early": True}, {"incomplete": True}], ids=str)
def test_a_trial_that_was_cut_short_does_not_pass(cut: dict[str, Any]) -> None:
    lost = result_of(stream_of(sent=1000, missing=1))
    assert TOLERANT.passes(lost)
    assert not TOLERANT.passes(lost.model_copy(update=cut))


def test_a_mapping_that_changed_is_never_accepted() -> None:
    none: dict[str, int] = dict.fromkeys(ConnectionCounters.model_fields, 0)
    for changed in (0, 1):
        counters = ConnectionCounters.model_validate(none | {"changed": changed})
        stream = stream_of(sent=1000).model_copy(update={"connections": counters})
        for load in (STRICT, TOLERANT):
            assert load.passes(result_of(stream)) == (changed == 0)


@pytest.mark.parametrize(("rate_fps", "wait_ns"), [(20_000, 25_000), (10, 100_000)])
def test_the_second_direction_is_due_between_the_frames_of_the_first(
    nat64: TrafficPlan, rate_fps: int, wait_ns: int
) -> None:
    forward, reverse = steady(rate_fps, Fraction(1)).test_phase(nat64).streams
    assert [segment.pause_ns for segment in forward.segments] == [0]
    assert [segment.pause_ns for segment in reverse.segments] == [wait_ns, 0]
    assert forward.frames == reverse.frames == rate_fps
    assert Schedule.of(reverse.segments).due_ns(1) == wait_ns + 1e9 / rate_fps


TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))


def copying(copies: int = 1, above_fps: int = 0) -> FakeEngine:
    """A gateway that, above a rate, also sends wrong copies of frames."""

    def counters(stream: Stream) -> dict[str, Any]:
        wrong = copies if rate_of(stream) > above_fps else 0
        return {"misdelivered": KIND["misdelivered"] | {"address": wrong, "total": wrong}}

    return FakeEngine(counters=counters)


def result_with(nat64: TrafficPlan, copies: int, frames: int = 100) -> TrialResult:
    engine = copying(copies)
    load = steady(frames * 10, Fraction(1, 10))
    return engine.run(TrialPlan(traffic=nat64, timing=TIMING).spec(load=load, seed=1, nonce=1))


def test_all_frames_arrived_and_one_came_again_to_another_address(nat64: TrafficPlan) -> None:
    result = result_with(nat64, 1)
    assert (result.lost, result.misdelivered) == (0, 2)  # in each direction one
    assert not result.passed
    assert result_with(nat64, 0).passed
    assert not steady(1000, Fraction(1, 10)).passes(result)


@pytest.mark.parametrize(("copies", "passes"), [(10, True), (11, False)])
def test_an_accepted_loss_includes_wrong_copies(
    copies: int, passes: bool, nat64: TrafficPlan
) -> None:
    from dataclasses import replace

    accepted = LossTolerance(fraction=Fraction(1, 10))
    load = replace(steady(1000, Fraction(1, 10)), accepted=accepted)
    assert load.passes(result_with(nat64, copies)) is passes


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
