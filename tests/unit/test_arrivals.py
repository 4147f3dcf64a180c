"""A direction in which nothing ever arrived: an error that names it, and no figure of 0."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from natxy.errors import MeasurementError
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Direction, Stream
from natxy.procedure.back_to_back import BackToBackPlan, back_to_back
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.reasons import LATE

TIMING = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(0))
SHARED: dict[str, Any] = {"timing": TIMING, "seed": 1, "repetitions": 2}
GOALS = (rfc2544_goal(final_duration_s=TIMING.duration_s, width=Fraction(1, 50)),)
Measure = Callable[[Session], object]
MEASUREMENTS: dict[str, Measure] = {
    "throughput": partial(throughput, ThroughputPlan(**SHARED, max_rate_fps=64_000)),
    "mlr": partial(
        mlr_throughput,
        MlrThroughputPlan(timing=TIMING, goals=GOALS, seed=1, max_rate_fps=64_000),
    ),
    "frame-loss": partial(frame_loss, FrameLossPlan(**SHARED, rates_fps=(64_000,))),
    "latency": partial(latency, LatencyPlan(**SHARED, rate_fps=64_000, tags=10)),
    "pdv": partial(pdv, PdvPlan(**SHARED, rate_fps=64_000)),
    "back-to-back": partial(
        back_to_back, BackToBackPlan(**SHARED, throughput_fps=1000, burst_rate_fps=64_000)
    ),
    "recovery": partial(recovery, RecoveryPlan(**SHARED, rate_fps=64_000)),
}
EACH = pytest.mark.parametrize("measure", MEASUREMENTS.values(), ids=MEASUREMENTS)


@dataclass
class Deaf:
    """Loses all frames of a direction, or all but its first `come`."""

    direction: Direction
    come: int = 0

    def __call__(self, stream: Stream) -> Sequence[int]:
        return range(self.come, frames_in(stream)) if stream.direction == self.direction else ()


@EACH
@pytest.mark.parametrize(("direction", "port"), [("forward", "right"), ("reverse", "left")])
def test_each_measurement_names_the_direction(
    measure: Measure, direction: Direction, port: str, nat64: TrafficPlan
) -> None:
    session = FakeEngine(lose=Deaf(direction)).session(nat64)
    with pytest.raises(MeasurementError) as told:
        measure(session)
    said = str(told.value)
    assert said.startswith(f"{direction}: none of ")
    assert f"came to the tester's {port} port" in said
    assert "neighbour" in said
    assert "mappings" in said


def test_a_gateway_that_lets_little_through_has_a_throughput_of_0(nat64: TrafficPlan) -> None:
    session = FakeEngine(lose=Deaf("reverse", come=1)).session(nat64)
    plan = ThroughputPlan(**SHARED, max_rate_fps=64_000, error=SearchError(rate_fps=100))
    assert throughput(plan, session).figures[0].values == (0, 0)


def test_a_gateway_that_passes_nothing_at_high_rates_is_searched_on(nat64: TrafficPlan) -> None:
    def lose(stream: Stream) -> range:
        return range(frames_in(stream) if rate_of(stream) > 2000 else 0)

    plan = ThroughputPlan(**SHARED, max_rate_fps=64_000, error=SearchError(rate_fps=100))
    found = throughput(plan, FakeEngine(lose=lose).session(nat64))
    assert all(1900 <= rate <= 2000 for rate in found.figures[0].values)


def test_a_search_ends_at_the_first_slow_trial(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=Deaf("reverse"))
    with pytest.raises(MeasurementError):
        MEASUREMENTS["throughput"](engine.session(nat64))
    assert engine.rates_fps[-2:] == [2000, 1000]


def test_frames_that_are_wrong_did_not_arrive(nat64: TrafficPlan) -> None:
    """A half is lost, the other half is misdelivered: no trial misdelivers all."""
    engine = FakeEngine(lose=lambda stream: range(frames_in(stream) // 2))
    engine.misdelivers = 5
    plan = FrameLossPlan(**(SHARED | {"repetitions": 1}), rates_fps=(200,))
    with pytest.raises(MeasurementError, match=r"none of 10 frames .* 5 were misdelivered by the"):
        frame_loss(plan, engine.session(nat64))


def test_icmp_errors_say_why(nat64: TrafficPlan) -> None:
    error = {"ip_version": 6, "type": 1, "code": 0, "source": "2001:2::1", "count": 7, "mtu": None}
    engine = FakeEngine(lose=Deaf("forward"), icmp_errors=({**error, "example": ""},))
    with pytest.raises(MeasurementError, match=r"these errors came: \d+ x ICMPv6 no route, from"):
        MEASUREMENTS["frame-loss"](engine.session(nat64))


def test_an_invalid_trial_shows_nothing(nat64: TrafficPlan) -> None:
    """The tester may have been deaf itself; the next trial is right."""
    engine = FakeEngine()
    engine.lose = lambda stream: range(frames_in(stream) if len(engine.specs) == 1 else 0)
    engine.invalid = lambda _: LATE if len(engine.specs) == 1 else None
    assert MEASUREMENTS["throughput"](engine.session(nat64))
