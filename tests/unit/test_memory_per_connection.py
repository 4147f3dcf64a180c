"""Memory per connection of a gateway that is arithmetic: each connection takes the same."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from natxy.measure.memory import MEMORY, MemorySamples, Sample, memory_at_points
from natxy.measure.table_size import PortRange
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Topic
from natxy.model.telemetry import Snapshot
from natxy.procedure.capacity import capacity
from natxy.procedure.degradation import Column, DegradationPlan, degradation
from natxy.procedure.scale_up import ScaleUpPlan, scale_up
from natxy.procedure.scale_up import _memory as of_scale_up
from natxy.procedure.series import Searching
from tests.remarks import about, topics
from tests.unit.capacity import PLAN, WIDE
from tests.unit.connections import plan as traffic_plan
from tests.unit.degradation import ESTABLISHMENT, THROUGHPUT
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

OCTETS = 384
ENTRIES = 5000


@dataclass(kw_only=True)
class Counted(StatefulDut):
    """Counts its memory; what it once needed it keeps if it is `greedy`."""

    own_bytes: int | None = 10**7
    greedy: bool = False
    most: int = field(default=0, init=False)

    def set_cores(self, cores: int) -> None:
        """It is as fast with any number."""

    def telemetry(self) -> Snapshot:
        if self.own_bytes is None:
            return Snapshot()
        stored = self.gateway.stored
        self.most = max(self.most, stored) if self.greedy else stored
        return Snapshot(memory_bytes=self.own_bytes + OCTETS * self.most, memory_of="the table")


def measured(*, repetitions: int = 1, entries: int = ENTRIES, **keys: Any) -> Measurement:
    gateway = StatefulGateway(entries=entries)
    dut = Counted(gateway=gateway, **keys)
    session = FakeEngine(gateway=gateway).session(traffic_plan({}, forward=WIDE, reverse=WIDE), dut)
    return capacity(replace(PLAN, repetitions=repetitions), session)


@pytest.mark.parametrize("greedy", [False, True])
def test_each_repetition_has_a_value(greedy: bool) -> None:
    """Also if the gateway keeps the memory of the first one."""
    result = measured(repetitions=3, greedy=greedy)
    figure = result.figure(MEMORY)
    assert figure.unit == "octets"
    assert not figure.primary
    if greedy:  # the search has tried more than the table holds, and less has used it since
        assert figure.values == pytest.approx([OCTETS] * 3, rel=0.01)
    else:
        assert figure.values == (OCTETS,) * 3
    said = "Memory is that of the table, with 5,000 connections and with none."
    assert str(about(Topic.MEMORY, result.remarks)) == said


@pytest.mark.parametrize(
    ("own_bytes", "entries", "topic", "facts"),
    [
        (None, ENTRIES, Topic.MEMORY_UNKNOWN, {}),
        (0, 2000, Topic.MEMORY_BY_CHANCE, {"grown": 768_000, "least": 2**20}),
    ],
)
def test_without_the_figure_a_remark_says_why(
    own_bytes: int | None, entries: int, topic: Topic, facts: dict[str, float]
) -> None:
    result = measured(own_bytes=own_bytes, entries=entries)
    assert MEMORY not in [figure.name for figure in result.figures]
    assert about(topic, result.remarks).facts == facts


def in_series(search: Searching, **keys: Any) -> tuple[Measurement, Measurement]:
    """The degradation over two numbers of connections, and the scale up of two cores."""
    measured = []
    for procedure in ("degradation", "scale-up"):
        gateway = StatefulGateway(new_cps=100_000, frames_fps=100_000)
        dut = Counted(gateway=gateway, **keys)
        connections = {} if procedure == "degradation" else {"count": 4000}
        session = FakeEngine(gateway=gateway).session(
            traffic_plan(connections, forward=WIDE, reverse=WIDE), dut
        )
        if procedure == "degradation":
            columns = tuple(Column(connections=count) for count in (4000, 6000))
            measured.append(degradation(DegradationPlan(search=search, columns=columns), session))
        else:
            measured.append(scale_up(ScaleUpPlan(search=search, cores=(1, 2)), session))
    return measured[0], measured[1]


@pytest.mark.parametrize("search", [ESTABLISHMENT, THROUGHPUT], ids=["phase 1", "phase 2"])
def test_each_point_of_a_series_has_the_figure(search: Searching) -> None:
    for result in in_series(replace(search, repetitions=2)):
        points = [figure for figure in result.figures if figure.primary][:2]
        memory = [figure for figure in result.figures if figure.name == MEMORY]
        at = [point.at for point in result.figures if point.name == points[0].name]
        assert [figure.at for figure in memory] == at
        assert [figure.values for figure in memory] == [(OCTETS,) * 2] * 2
        memory_remarks = [each for each in result.remarks if each.code is Topic.MEMORY]
        assert any("with 4,000" in str(each) for each in memory_remarks)


def test_columns_with_as_many_connections_have_a_figure_each() -> None:
    gateway = StatefulGateway(new_cps=100_000)
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    columns = tuple(
        Column(
            source_ports=PortRange(count=sources), destination_ports=PortRange(count=destinations)
        )
        for sources, destinations in ((1000, 6), (2000, 3))
    )
    result = degradation(
        DegradationPlan(search=ESTABLISHMENT, columns=columns),
        FakeEngine(gateway=gateway).session(traffic, Counted(gateway=gateway)),
    )
    memory = [figure for figure in result.figures if figure.name == MEMORY]
    assert [figure.at for figure in memory] == [
        "6,000 connections, 1,000 x 6 ports",
        "6,000 connections, 2,000 x 3 ports",
    ]


def test_a_gateway_that_keeps_its_memory_has_the_figure_of_each_column() -> None:
    """Before the second column it has the memory of the first one's connections."""
    result, _ = in_series(ESTABLISHMENT, greedy=True)
    values = [figure.values[0] for figure in result.figures if figure.name == MEMORY]
    assert values == [OCTETS, OCTETS]


def test_a_series_without_the_figure_says_so_once() -> None:
    for result in in_series(ESTABLISHMENT, own_bytes=None):
        assert MEMORY not in [figure.name for figure in result.figures]
        assert topics(result.remarks).count(Topic.MEMORY_UNKNOWN) == 1


def test_a_point_without_the_figure_is_named() -> None:
    gateway = StatefulGateway(new_cps=100_000)
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    session = FakeEngine(gateway=gateway).session(traffic, Counted(gateway=gateway))
    columns = tuple(Column(connections=count) for count in (1000, 6000))
    result = degradation(DegradationPlan(search=ESTABLISHMENT, columns=columns), session)
    (memory,) = [figure for figure in result.figures if figure.name == MEMORY]
    assert memory.at.startswith("6,000 connections")
    assert (memory.at_value, memory.at_unit) == (6000, "connections")
    assert about(Topic.MEMORY_BY_CHANCE, result.remarks).where.startswith("1,000 connections")


def sample(held: int | None, before: int | None, after: int | None) -> Sample:
    return Sample(held=held, before_bytes=before, after_bytes=after, memory_of="the table")


@pytest.mark.parametrize(
    ("after", "octets"), [(2**20 - 1, None), (2**20, 2**20 / 1000), (2**21, 2**21 / 1000)]
)
def test_a_mebibyte_of_growth_is_enough(after: int, octets: float | None) -> None:
    points = {"1,000 connections": [[sample(1000, 7, after + 7)]]}
    figures, (said,) = memory_at_points(points, started_anew=False)
    assert [figure.values for figure in figures] == ([] if octets is None else [(octets,)])
    assert (said.code is Topic.MEMORY_BY_CHANCE) is (octets is None)


def test_a_memory_that_shrank_has_grown_by_nothing() -> None:
    _, (said,) = memory_at_points({"a": [[sample(10, 1000, 500)]]}, started_anew=True)
    assert said.facts["grown"] == 0


def test_the_fullest_trial_that_passed_is_the_one_that_counts() -> None:
    mib = 2**20
    trials = [
        sample(1000, 0, 2 * mib),
        sample(4000, 0, 8 * mib),
        sample(None, 0, 99 * mib),
        sample(5000, 0, None),
        sample(0, 0, 77 * mib),
    ]
    (figure,), (said,) = memory_at_points({"a": [trials]}, started_anew=True)
    assert figure.values == (8 * mib / 4000,)
    assert said.facts["connections"] == (4000,)


def test_a_device_that_is_set_up_anew_has_its_own_memory_without_connections() -> None:
    mib = 2**20
    points = {"1 core": [[sample(1000, 0, 4 * mib)]], "2 cores": [[sample(1000, mib, 5 * mib)]]}
    own, _ = memory_at_points(points, started_anew=True)
    assert [figure.values[0] * 1000 for figure in own] == [4 * mib, 4 * mib]
    kept, _ = memory_at_points(points, started_anew=False)
    assert [figure.values[0] * 1000 for figure in kept] == [4 * mib, 5 * mib]


def test_a_stateless_gateway_has_no_memory_per_connection() -> None:
    traffic = traffic_plan({})
    stateless = traffic.testbed.model_copy(update={"connections": None})
    session = FakeEngine(gateway=StatefulGateway()).session(traffic)
    figures = {1: Figure(name="throughput", unit="fps", at="1 core", values=(1.0,))}
    samples = {1: MemorySamples()}
    assert of_scale_up(figures, samples, session.with_testbed(stateless)) == ((), ())
    _, remarks = of_scale_up(figures, samples, session)
    assert len(remarks) == 1
