"""Overload by the tests that have rates or resets of their own: back-to-back frames and reset."""

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.model.measurement import Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream
from natxy.procedure.back_to_back import BURST, BackToBackPlan
from natxy.procedure.overload import DEGRADATION, OverloadPlan, overload
from natxy.procedure.reset import BY_LOSS, BY_TIMESTAMPS, ResetPlan
from natxy.trial.timing import Timing
from tests.remarks import about
from tests.unit.fake_engine import FakeEngine, frames_in
from tests.unit.overload import flows_of

TIMES: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(1, 10), drain_s=Fraction(2)),
    "seed": 7,
}
BURSTS = BackToBackPlan(
    burst_rate_fps=100_000, throughput_fps=60_000, step_frames=1, repetitions=3, **TIMES
)


def holding(bursts: dict[int, Sequence[int]]) -> FakeEngine:
    """The longest bursts without loss that repetitions find, for each number of flows."""
    seeds: dict[int, list[int]] = {}

    def lose(stream: Stream) -> Sequence[int]:
        flows, seed = flows_of(stream), engine.specs[-1].seed
        seen = seeds.setdefault(flows, [])
        if seed not in seen:
            seen.append(seed)
        return range(bursts[flows][seen.index(seed)], frames_in(stream))

    engine = FakeEngine(lose=lose)
    return engine


def values(result: Measurement, name: str, at: str) -> tuple[float, ...]:
    return result.figure(name, "forward", at).values


def test_the_mean_of_bursts_degrades_as_what_is_better_higher(nat64: TrafficPlan) -> None:
    """RFC 2544 section 26.4 takes the average: 1,000 with one flow, and 400 with ten. The median
    would go from 900 up to 950."""
    engine = holding({1: (900, 900, 1200), 10: (950, 50, 200)})
    result = overload(OverloadPlan(test=BURSTS, flows=(10,)), engine.session(nat64))
    assert result.figure(BURST, at="1 flow").values == (900, 900, 1200)
    assert result.figure(BURST, at="10 flows").values == (950, 50, 200)
    lost = result.figure(f"{DEGRADATION} of {BURST}", at="10 flows")
    assert lost.values == pytest.approx((60.0,))
    assert result.title == "Overload scalability of back-to-back frames, simultaneous load"
    assert about(Topic.DEGRADATION, result.remarks).facts["formula"] == "(X1 - Xn) / X1"


class Switch(NoDut):
    """A gateway that is reset at once."""

    def __init__(self) -> None:
        self.resets = 0

    def restart(self) -> str:
        self.resets += 1
        return "power interruption: a switch"


def away(frames: dict[int, int]) -> Callable[[Stream], Sequence[int]]:
    """Frames that a reset costs, for each number of flows."""
    return lambda stream: range(400, 400 + frames[flows_of(stream)])


def test_a_reset_that_takes_longer_with_more_flows(nat64: TrafficPlan) -> None:
    """10 ms without forwarding with one flow, 25 ms with ten, 5 ms with a hundred."""
    engine = FakeEngine(lose=away({1: 100, 10: 250, 100: 50}), during=lambda: time.sleep(0.03))
    test = ResetPlan(rate_fps=10_000, reset_after_s=Fraction(1, 100), repetitions=2, **TIMES)
    dut = Switch()
    result = overload(OverloadPlan(test=test, flows=(10, 100)), engine.session(nat64, dut))
    assert dut.resets == len(engine.specs) == 6
    assert values(result, BY_LOSS, "1 flow") == (0.01, 0.01)
    assert values(result, BY_LOSS, "10 flows") == (0.025, 0.025)
    lost = f"{DEGRADATION} of {BY_LOSS}"
    assert values(result, lost, "10 flows") == pytest.approx((150.0,))
    assert values(result, lost, "100 flows") == pytest.approx((-50.0,))
    seen = f"{DEGRADATION} of {BY_TIMESTAMPS}"  # an interval of 0.1 ms longer
    assert values(result, seen, "10 flows") == pytest.approx((15 / 10.1 * 100,))
    assert about(Topic.DEGRADATION, result.remarks).facts["formula"] == "(Xn - X1) / X1"
    assert Remark.of(Topic.RESET, way="power interruption: a switch") in result.remarks
