"""Tests of the loss that a load accepts, of what it never accepts, and of its streams."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.model.stream_counters import ConnectionCounters
from natxy.model.traffic import TrafficPlan
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.load import steady
from natxy.verdict.timeline import Schedule
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
