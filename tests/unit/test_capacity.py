"""Capacity and tear-down of devices that are arithmetic, collapse, or delete too little."""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console

from natxy.cli.now_and_then import Lines, NowAndThen
from natxy.cli.progress import SearchDisplay
from natxy.errors import ConfigurationError, DutError
from natxy.measure.table_size import Size
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.procedure.capacity import CAPACITY, CapacityPlan, capacity
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.search.capacity_goal import CapacityGoal
from natxy.trial.timing import Timing
from tests.remarks import topics
from tests.unit.capacity import EngineAtACorpse
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

WIDE = {
    "source_port": {"mode": "increasing", "min": 1000, "max": 1999},
    "destination_port": {"mode": "increasing", "min": 1, "max": 10},
}
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))


def plan(c0: int) -> CapacityPlan:
    goal = CapacityGoal(c0=c0, first_cps=10_000, max_cps=100_000)
    return CapacityPlan(timing=TIMING, seed=3, repetitions=2, goal=goal)


@dataclass(kw_only=True)
class Collapsing(StatefulDut):
    """Dies of more than `most` connections; `by` says who notices it first."""

    most: int = 1500
    by: str = "driver"
    recovered: int = 0

    def before_trial(self) -> None:
        if self.by == "driver" and self.gateway.stored > self.most:
            raise DutError("The gateway has ended.")

    def recover(self) -> None:
        self.recovered += 1
        self.gateway.stored = 0


def measured(
    gateway: StatefulGateway, dut: StatefulDut | None = None, engine: FakeEngine | None = None
) -> Measurement:
    engine = engine or FakeEngine(gateway=gateway)
    session = engine.session(traffic_plan({"count": 500}, forward=WIDE), dut)
    return capacity(plan(500), session)


def test_each_repetition_has_its_row() -> None:
    result = measured(StatefulGateway(entries=1234))
    assert result.figure(CAPACITY).values == (1234.0, 1234.0)
    assert result.figure("C0").values == (500.0, 500.0)
    assert result.figure("CS").values == (1000.0, 1000.0)
    assert result.figure("CT").values == (2000.0, 2000.0)
    assert result.figure("R0").values[0] == 100_000.0
    assert not any(result.figure(CAPACITY).lower_bound)


def test_a_device_that_dies_of_too_many_has_failed_that_step_and_is_brought_back() -> None:
    """The death may be seen only after the trial that killed the gateway."""
    gateway = StatefulGateway(entries=1500)
    dut = Collapsing(gateway=gateway, most=1499)
    result = measured(gateway, dut)
    assert result.figure(CAPACITY).values == (1500.0, 1500.0)
    assert dut.recovered > 0
    assert Topic.COLLAPSED in topics(result.remarks)


def test_a_device_that_answers_nobody_has_collapsed_too() -> None:
    gateway = StatefulGateway()
    dut = Collapsing(gateway=gateway, by="engine")
    result = measured(gateway, dut, EngineAtACorpse(gateway=gateway))
    assert result.figure(CAPACITY).values == (1500.0, 1500.0)
    assert dut.recovered > 0


def test_a_start_that_is_not_safe_is_said() -> None:
    with pytest.raises(DutError, match=r"does not hold C0 = 500 connections at any rate"):
        measured(StatefulGateway(entries=499))


def test_all_combinations_that_are_taken_are_a_lower_bound() -> None:
    result = measured(StatefulGateway())
    assert all(result.figure(CAPACITY).lower_bound)


def test_the_progress_names_the_connections_that_a_trial_creates() -> None:
    gateway, shown = StatefulGateway(entries=1234), StringIO()
    session = FakeEngine(gateway=gateway).session(traffic_plan({"count": 500}, forward=WIDE))
    console = Console(file=shown, width=200, force_terminal=True, color_system=None)
    with SearchDisplay(console, "capacity", unit="cps") as display:
        capacity(plan(500), session.with_observer(display))
    assert re.search(r"trying +1,234 connections", shown.getvalue())


def test_the_progress_of_a_search_for_phase_1s_rate_counts_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The unit is the same in a measurement that counts frames."""
    gateway, lines = StatefulGateway(entries=1234), list[str]()
    session = FakeEngine(gateway=gateway).session(traffic_plan({"count": 500}, forward=WIDE))
    monkeypatch.setattr("natxy.cli.now_and_then.EVERY_S", 0.0)
    observer = NowAndThen(Lines(say=lines.append), unit="fps")
    capacity(plan(500), session.with_observer(observer))
    assert all(" connections, " in line for line in lines)
    assert lines
    assert all(" cps, " in line for line in lines)


def test_connections_are_needed() -> None:
    traffic = traffic_plan({"count": 500}, forward=WIDE)
    stateless = traffic.testbed.model_copy(update={"connections": None})
    gateway = StatefulGateway()
    session = FakeEngine(gateway=gateway).session(replace(traffic, testbed=stateless))
    with pytest.raises(ConfigurationError, match="connections: is missing"):
        capacity(plan(500), session)


# --- tear-down -----------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Deleting(StatefulDut):
    """A microsecond a connection and a millisecond for nothing; `noise_s` to and fro."""

    noise_s: float = 0.0
    leaves: int = 0
    deletions: list[int] = field(default_factory=list)

    def delete_all(self) -> float:
        stored = self.gateway.stored
        self.gateway.stored = min(stored, self.leaves)
        self.deletions.append(stored)
        noise_s: float = self.noise_s * (-1) ** (len(self.deletions) // 2)
        return 0.001 + stored * 1e-6 + noise_s


def torn_down(dut: Deleting, counts: tuple[int, ...]) -> Measurement:
    session = FakeEngine(gateway=dut.gateway).session(
        traffic_plan({"count": 500}, forward=WIDE), dut
    )
    sizes = tuple(Size(connections=count) for count in counts)
    asked = TearDownPlan(timing=TIMING, seed=3, repetitions=4, sizes=sizes)
    return tear_down(asked, session)


def test_a_rate_is_of_the_difference_between_full_and_empty() -> None:
    dut = Deleting(gateway=StatefulGateway())
    result = torn_down(dut, (500, 1000))
    for count in (500, 1000):
        at = f"{count:,} connections"
        assert result.figure("connection tear-down rate", at=at).values[0] == pytest.approx(1e6)
        assert result.figure("full table deletion time", at=at).values[0] == pytest.approx(
            0.001 + count / 1e6
        )
    assert dut.deletions[:2] == [500, 0]


def test_a_rate_within_the_noise_stands_in_parentheses() -> None:
    result = torn_down(Deleting(gateway=StatefulGateway(), noise_s=0.0002), (500,))
    figure = result.figure("connection tear-down rate", at="500 connections")
    assert figure.values
    assert figure.uncertain
    assert Topic.UNCERTAIN in topics(result.remarks)


def test_a_deletion_that_deletes_too_little_is_no_figure() -> None:
    with pytest.raises(DutError, match="still has 3 connections after it deleted all"):
        torn_down(Deleting(gateway=StatefulGateway(), leaves=3), (500,))


def test_a_table_that_does_not_hold_what_was_made_is_no_figure() -> None:
    with pytest.raises(DutError, match="Phase 1 created only 400 of 500 connections, in 4 trials"):
        torn_down(Deleting(gateway=StatefulGateway(entries=400)), (500,))
    with pytest.raises(
        DutError, match="has 490 connections in its table after phase 1 created 500"
    ):
        torn_down(Deleting(gateway=StatefulGateway(absent=10)), (500,))
