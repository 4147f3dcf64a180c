"""The estimated durations are those of trials that were run against gateways that are arithmetic.

Each gateway has the rates that the estimate assumes of one.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.cli.expected_plan import (
    ASSUMED_FPS,
    ASSUMED_TABLE,
    DELETION_S,
    expected_s,
    phase_1_search_s,
)
from natxy.measure.table_size import PortRange, Size
from natxy.model.phase_names import AGAIN
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.capacity import CapacityPlan, capacity
from natxy.procedure.closing import ClosingPlan, closing
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.search.capacity_goal import CapacityGoal
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.closing import Closer
from natxy.trial.repeats import BETWEEN_S
from natxy.trial.timing import Timing
from tests.unit.capacity import WIDE
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.stateful_gateway import StatefulGateway

TIMING = Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20))
PLAN: dict[str, Any] = {"timing": TIMING, "seed": 7, "repetitions": 1}


def ran_s(specs: list[TrialSpec]) -> float:
    """Returns the duration of these trials, without warm-up and phases that repeat lost frames."""
    total_s = Fraction(0)
    for spec in specs:
        if not spec.seed:
            continue
        phases = [phase for phase in spec.phases if phase.name not in AGAIN]
        sent_ns = sum(phase.streams[0].duration_ns + phase.gap_ns for phase in phases)
        total_s += BETWEEN_S + Fraction(sent_ns + len(phases) * spec.drain_ns, 10**9)
    return float(total_s)


def losing_above(limit_fps: int) -> FakeEngine:
    def lose(stream: Stream) -> range:
        beyond_fps = rate_of(stream) - limit_fps
        return range(max(beyond_fps > 0, frames_in(stream) * beyond_fps // rate_of(stream)))

    return FakeEngine(lose=lose)


@pytest.mark.parametrize(
    ("maximum_fps", "device_fps"), [(200_000, ASSUMED_FPS), (600_000, ASSUMED_FPS), (3000, 2000)]
)
def test_an_mlrsearch_takes_the_trials_that_it_takes_with_such_a_gateway(
    maximum_fps: int, device_fps: int, nat64: TrafficPlan
) -> None:
    """One of 100,000 frames a second or, below a low maximum, of two thirds of that."""
    asked = MlrThroughputPlan(
        goals=(rfc2544_goal(final_duration_s=TIMING.duration_s),),
        max_rate_fps=maximum_fps,
        **PLAN | {"repetitions": 2},
    )
    engine = losing_above(device_fps)
    mlr_throughput(asked, engine.session(nat64))
    found_s = expected_s(asked, nat64.testbed)
    assert float(found_s) == pytest.approx(ran_s(engine.specs), rel=1e-6)


def test_an_mlrsearch_without_a_maximum_is_assumed_to_start_at_twice_the_gateways_rate(
    nat64_testbed: Testbed,
) -> None:
    goals = (rfc2544_goal(final_duration_s=TIMING.duration_s),)
    asked = MlrThroughputPlan(goals=goals, **PLAN)
    given = replace(asked, max_rate_fps=2 * ASSUMED_FPS)
    assert expected_s(asked, nat64_testbed) == expected_s(given, nat64_testbed)


@pytest.mark.parametrize(
    ("max_cps", "device_cps"), [(10**9, ASSUMED_FPS), (9000, 6000)], ids=["free", "limited"]
)
def test_a_search_for_a_capacity_takes_the_trials_that_it_takes_with_such_a_gateway(
    max_cps: int, device_cps: int
) -> None:
    """The table of the assumed gateway holds three times C0."""
    goal = CapacityGoal(c0=1000, max_cps=max_cps)
    asked = CapacityPlan(goal=goal, **PLAN | {"repetitions": 2})
    gateway = StatefulGateway(entries=ASSUMED_TABLE * goal.c0, new_cps=device_cps)
    engine = FakeEngine(gateway=gateway)
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    capacity(asked, engine.session(traffic))
    found_s = expected_s(asked, traffic.testbed)
    assert float(found_s) == pytest.approx(ran_s(engine.specs), rel=1e-3)


def test_a_table_is_not_assumed_to_hold_more_than_may_be_tested() -> None:
    testbed = traffic_plan({}).testbed
    small = CapacityPlan(goal=CapacityGoal(c0=1000, most=1000), **PLAN)
    large = CapacityPlan(goal=CapacityGoal(c0=1000), **PLAN)
    assert expected_s(small, testbed) < expected_s(large, testbed)


@pytest.mark.parametrize(
    "connections",
    [
        {"rate_fps": 1000},
        {"rate_fps": 1000, "sample": 500},
        {"rate_fps": 40_000, "sample": 5000},
        {"rate_fps": 1000, "sample": 500, "delay_s": 10},
        {"rate_fps": 1000, "sample": 500, "transport": "tcp"},
    ],
    ids=str,
)
def test_a_trial_lasts_as_long_as_its_phases(connections: dict[str, Any]) -> None:
    traffic = traffic_plan(connections, frame_size_bytes=98)
    asked = FrameLossPlan(rates_fps=(1000,), **PLAN)
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    frame_loss(asked, engine.session(traffic))
    assert float(expected_s(asked, traffic.testbed)) == pytest.approx(ran_s(engine.specs), rel=1e-6)


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_a_search_for_a_rate_of_closing_takes_its_trials_with_handshakes_of_phase_1(
    by: Closer,
) -> None:
    traffic = traffic_plan(
        {"transport": "tcp", "rate_fps": 1000}, forward=WIDE, frame_size_bytes=98
    )
    asked = ClosingPlan(by=by, max_rate_cps=9000, **PLAN | {"repetitions": 2})
    gateway = StatefulGateway(frames_fps=6000)
    engine = FakeEngine(gateway=gateway)
    closing(asked, engine.session(traffic))
    assert float(expected_s(asked, traffic.testbed)) == pytest.approx(ran_s(engine.specs), rel=1e-3)


def test_a_tear_down_takes_the_time_of_its_fillings_and_deletions() -> None:
    """A rate of phase 1 that the plan gives needs no search for one."""
    traffic = traffic_plan({"rate_fps": None}, forward=WIDE)
    sizes = (Size(connections=1000), Size(connections=3000))
    asked = TearDownPlan(sizes=sizes, rate_cps=2000, **PLAN | {"repetitions": 3})
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    result = tear_down(asked, engine.session(traffic))
    assert len([spec for spec in engine.specs if spec.seed]) == 2 * 3
    fills_s = float(expected_s(asked, traffic.testbed) - 2 * 3 * DELETION_S)
    assert fills_s == pytest.approx(ran_s(engine.specs), rel=1e-6)
    assert result.conditions.connections
    assert result.conditions.connections.rate_fps == 2000


@pytest.mark.parametrize(("initiator", "ports"), [("left", 1000), ("right", 200)])
def test_ranges_make_as_many_connections_as_the_initiators_ports_have_combinations(
    initiator: str, ports: int
) -> None:
    narrow = {**WIDE, "source_port": {"mode": "increasing", "min": 1000, "max": 1199}}
    testbed = traffic_plan({"initiator": initiator}, forward=WIDE, reverse=narrow).testbed
    of_testbed = Size(destination_ports=PortRange(count=3))
    assert of_testbed.about(testbed) == 3 * ports
    given = Size(source_ports=PortRange(count=40), destination_ports=PortRange(count=3))
    assert given.about(testbed) == 120
    assert replace(given, connections=7).about(testbed) == 7


def test_what_a_measurement_refuses_takes_no_time(nat64_testbed: Testbed) -> None:
    """`natxy plan` must not fail where the cell itself will say what is missing."""
    assert nat64_testbed.connections is None
    assert expected_s(EstablishmentPlan(**PLAN), nat64_testbed) == 0
    assert phase_1_search_s(TIMING, nat64_testbed) == 0
    with pytest.raises(TypeError, match="str: has no duration"):
        expected_s("a plan", nat64_testbed)
