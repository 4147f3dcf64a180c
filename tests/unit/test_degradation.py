"""Degradation with connections of a gateway whose hash chains make it slower."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.base import TableParameters
from natxy.errors import ConfigurationError, DutError, MeasurementError
from natxy.measure.table_size import PortRange
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.procedure.degradation import DEGRADATION, Column, DegradationPlan, degradation
from natxy.procedure.series import PREVIOUS, Searching
from natxy.report.cell_figures import CellResult, ColumnFigures
from natxy.search.bisection import SearchError
from natxy.trial.seeds import MAX_SEED
from tests.remarks import about, topics
from tests.unit.clauses import texts
from tests.unit.connections import plan as traffic_plan
from tests.unit.degradation import ESTABLISHMENT, THROUGHPUT
from tests.unit.fake_engine import FakeEngine
from tests.unit.kept import Kept
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway


@dataclass(kw_only=True)
class Chained(StatefulGateway):
    """100,000 a second, divided by 1 + connections a bucket."""

    buckets: int = 1000
    made: int = 0

    def makes(self, asked: int, rate_cps: int) -> int:
        self.made = asked
        self.new_cps = self.frames_fps = 100_000 * self.buckets // (self.buckets + asked)
        return super().makes(asked, rate_cps)


@dataclass(kw_only=True)
class Resizable(StatefulDut):
    resized: list[tuple[int | None, int | None]] = field(default_factory=list)

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        self.resized.append((entries, hash_size))
        if hash_size is not None and isinstance(self.gateway, Chained):
            self.gateway.buckets = hash_size
        self.known = TableParameters(
            entries=self.known.entries if entries is None else entries,
            hash_size=self.known.hash_size if hash_size is None else hash_size,
            timeout_s=self.known.timeout_s,
        )


def measure(
    columns: tuple[Column, ...],
    search: Searching = ESTABLISHMENT,
    gateway: StatefulGateway | None = None,
    connections: dict[str, Any] | None = None,
    **engine_keys: Any,
) -> tuple[Measurement, FakeEngine, Resizable]:
    gateway = gateway or Chained()
    engine = FakeEngine(gateway=gateway, **engine_keys)
    dut = Resizable(gateway=gateway, known=TableParameters(entries=10**6, hash_size=1000))
    plan = DegradationPlan(search=search, columns=columns)
    return degradation(plan, engine.session(traffic_plan(connections or {}), dut)), engine, dut


def columns_of(*connections: int, **keys: Any) -> tuple[Column, ...]:
    return tuple(Column(connections=each, **keys) for each in connections)


@pytest.mark.parametrize("search", [ESTABLISHMENT, THROUGHPUT], ids=["establishment", "throughput"])
def test_each_column_is_compared_with_the_first(search: Searching) -> None:
    """100,000 / 2, and 100,000 / 5."""
    result, _, _ = measure(columns_of(1000, 4000), search)
    first, second, lost, ratio = result.figures
    assert first.values[0] == pytest.approx(50_000, rel=0.001)
    assert second.values[0] == pytest.approx(20_000, rel=0.001)
    assert (lost.name, lost.unit) == (DEGRADATION, "%")
    assert lost.values[0] == pytest.approx(60, abs=0.1)
    assert (ratio.name, ratio.primary) == (PREVIOUS, False)
    assert ratio.values[0] == pytest.approx(0.4, rel=0.001)


def test_each_column_stands_beside_the_one_before() -> None:
    """MP Table 12: median / previous median."""
    result, _, _ = measure(columns_of(1000, 4000, 9000))
    ratios = [figure.values[0] for figure in result.figures if figure.name == PREVIOUS]
    assert ratios == pytest.approx([0.4, 0.5], rel=0.001)


def test_tables_stand_beside_each_column() -> None:
    columns = (
        Column(connections=1000, hash_size=1000),
        Column(connections=4000, hash_size=8000, entries=5000, timeout_s=77),
    )
    result, _, dut = measure(columns)
    assert [figure.at for figure in result.figures] == [
        "1,000 connections, table 1,000,000, hash 1,000 (1 each)",
        *["4,000 connections, table 5,000, hash 8,000 (0.5 each), timeout 77 s"] * 3,
    ]
    # Beside each column, and not the last one's beside all.
    assert result.conditions.connections
    assert result.conditions.connections.table_entries is None
    assert result.conditions.connections.timeout_s is None
    assert dut.resized == [(None, 1000), (5000, 8000)]
    assert 77 in dut.told_s
    assert result.figures[2].values[0] == pytest.approx(-33.3, abs=0.1)  # it is faster


def test_a_column_whose_connections_are_not_there_ends_no_measurement() -> None:
    """Of 4,000 the table takes 3,000: what was measured before that is not lost, and 2,000 are
    measured after it."""
    gateway = StatefulGateway(entries=3000, frames_fps=50_000)
    result, _, _ = measure(columns_of(1000, 4000, 2000), THROUGHPUT, gateway)
    rates = [figure.at.split(",")[0:2] for figure in result.figures if figure.name == "throughput"]
    assert rates == [["1", "000 connections"], ["2", "000 connections"]]
    said = str(about(Topic.NO_FIGURE, result.remarks))
    assert said.startswith("4,000 connections, table 1,000,000")
    assert "Phase 1 created 3,000 of 4,000 connections" in said
    # 2,000 stand behind a column without a figure: nothing stands for it.
    assert not [figure for figure in result.figures if figure.name == PREVIOUS]
    more, _, _ = measure(columns_of(1000, 4000, 2000, 2500), THROUGHPUT, Chained(entries=3000))
    (ratio,) = (figure for figure in more.figures if figure.name == PREVIOUS)
    assert ratio.at.startswith("2,500 connections")
    assert ratio.values[0] == pytest.approx((1000 + 2000) / (1000 + 2500), rel=0.001)
    with pytest.raises(MeasurementError, match=r"created 3,000 of 4,000"):
        measure(columns_of(4000, 1000), THROUGHPUT, gateway)


def test_a_column_without_a_figure_is_told_at_once() -> None:
    gateway, kept = StatefulGateway(entries=3000, frames_fps=50_000), Kept()
    engine = FakeEngine(gateway=gateway)
    plan = DegradationPlan(search=THROUGHPUT, columns=columns_of(1000, 4000))
    degradation(plan, engine.session(traffic_plan({}), observer=kept))
    (said,) = (remark for remark in kept.remarks if remark.code is Topic.NO_FIGURE)
    assert str(said).startswith("4,000 connections: no figure. Phase 1 created 3,000 of 4,000")


def test_columns_that_change_nothing_leave_the_device_alone() -> None:
    _, _, dut = measure(columns_of(1000, 2000))
    assert dut.resized == []


def test_each_column_makes_so_many_connections_and_searches_in_its_own_way() -> None:
    columns = (
        Column(connections=1000, repetitions=3),
        Column(connections=5000, error=SearchError(fraction=Fraction(1, 2))),
    )
    result, engine, _ = measure(columns)
    assert [len(figure.values) for figure in result.figures[:2]] == [3, 1]
    made = [spec.phases[0].streams[0].frames_of("foreground") for spec in engine.specs]
    assert {1000, 5000} <= set(made)
    assert made.count(5000) < 12 < made.count(1000)
    assert about(Topic.PORTS, result.remarks).facts["ports"] == ("1,000 x 1", "1,000 x 5")


def test_the_deviations_of_each_column_are_named_once() -> None:
    columns = (
        Column(connections=1000, repetitions=2),
        Column(connections=2000, error=SearchError(fraction=Fraction(1, 2))),
        Column(connections=3000, error=SearchError(fraction=Fraction(1, 2))),
    )
    said = texts(measure(columns)[0].deviations)
    assert said.count("1 repetition, not several (RFC 9693 section 6)") == 1
    coarse = "a search error of 50 %, not the highest rate (RFC 9693 section 4.5)"
    assert said.count(coarse) == 1


def test_phase_1_of_each_column_is_at_a_rate_found_for_it() -> None:
    _, engine, _ = measure(columns_of(1000, 4000), THROUGHPUT, connections={"rate_fps": None})
    rates = {
        spec.phases[0].streams[0].frames_of("foreground"): spec.phases[0].streams[0].segments[0]
        for spec in engine.specs
        if spec.phases[-1].name == "test"
    }
    assert rates[1000].rate_fps == pytest.approx(25_000, rel=0.06)
    assert rates[4000].rate_fps == pytest.approx(10_000, rel=0.06)


def test_no_degradation_is_given_of_the_testers_limit() -> None:
    result, _, _ = measure(columns_of(1000, 4000), limit_fps=30_000)
    assert [figure.lower_bound for figure in result.figures] == [(True,), (False,)]
    assert Topic.NO_COMPARISON in topics(result.remarks)


def test_a_device_that_passes_nothing_has_nothing_to_compare() -> None:
    search = replace(THROUGHPUT, max_rate_fps=1000)
    with pytest.raises(DutError, match="passes no trial with 1,000 connections"):
        measure(columns_of(1000), search, StatefulGateway(collided=1))


@pytest.mark.parametrize(
    ("columns", "option"),
    [((), "columns"), (columns_of(9, entries=8), "entries")],
)
def test_columns_that_make_no_sense_are_refused(columns: tuple[Column, ...], option: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{option}: .* \(expected "):
        DegradationPlan(search=ESTABLISHMENT, columns=columns)


def test_a_table_of_as_many_entries_as_connections_is_large_enough() -> None:
    result, _, dut = measure(columns_of(1000, entries=1000))
    assert dut.resized == [(1000, None)]
    assert result.figures[0].at.startswith("1,000 connections, table 1,000, hash 1,000")


def test_tables_that_all_columns_share_are_a_condition() -> None:
    shared, _, _ = measure(columns_of(1000, 2000))
    assert shared.conditions.connections
    assert shared.conditions.connections.table_entries == 10**6
    for setting in ({"entries": 5000}, {"hash_size": 500}, {"timeout_s": 60}):
        differing, _, _ = measure(columns_of(1000, 2000, **setting))
        assert differing.conditions.connections
        assert differing.conditions.connections.table_entries is None


def test_points_have_seeds_of_their_own_up_to_the_highest_one() -> None:
    _, engine, _ = measure(columns_of(1000, 2000), replace(ESTABLISHMENT, seed=MAX_SEED))
    assert len({spec.seed for spec in engine.specs if spec.seed}) == 2


def test_the_degradation_is_a_main_figure_and_a_bound_hides_it() -> None:
    result, _, _ = measure(columns_of(1000, 4000))
    assert [f.primary for f in result.figures if f.name == DEGRADATION] == [True]
    assert Topic.NO_COMPARISON not in topics(result.remarks)
    open_ended = replace(ESTABLISHMENT, max_rate_cps=10_000)
    bounds, _, _ = measure(columns_of(1000, 4000), open_ended)
    assert Topic.NO_COMPARISON in topics(bounds.remarks)


def test_columns_are_refused_before_anything_is_measured() -> None:
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    columns = tuple(
        Column(
            source_ports=PortRange(count=10), destination_ports=PortRange(count=each), entries=999
        )
        for each in (10, 100)
    )
    plan = DegradationPlan(search=ESTABLISHMENT, columns=columns)
    with pytest.raises(ConfigurationError, match=r"table of 999 .* 1000 connections"):
        degradation(plan, engine.session(traffic_plan({})))
    assert not engine.specs


def test_columns_of_ranges_make_all_their_combinations() -> None:
    columns = tuple(
        Column(source_ports=PortRange(count=40), destination_ports=PortRange(count=each))
        for each in (10, 100)
    )
    result, engine, _ = measure(columns)
    assert [figure.at.split(",")[0] for figure in result.figures[:1]] == ["400 connections"]
    assert result.figures[1].at.startswith("4,000 connections")
    made = {spec.phases[0].streams[0].frames_of("foreground") for spec in engine.specs}
    assert {400, 4000} <= made
    assert str(result.remarks[0]) == "Numbers of source x destination ports: 40 x 10, 40 x 100."


def of_ports(sources: int, destinations: int, **keys: Any) -> Column:
    return Column(
        source_ports=PortRange(count=sources),
        destination_ports=PortRange(count=destinations),
        **keys,
    )


def test_columns_with_as_many_connections_are_told_apart() -> None:
    """By their ranges if these differ, else by their places."""
    columns = (of_ports(1000, 4), of_ports(2000, 2), of_ports(2000, 2), of_ports(2000, 4))
    result, _, _ = measure(columns)
    table = "table 1,000,000, hash 1,000"
    names = [
        f"4,000 connections, 1,000 x 4 ports, {table} (4 each)",
        f"4,000 connections, 2,000 x 2 ports, {table} (4 each)",
        f"4,000 connections, 2,000 x 2 ports, {table} (4 each), column 3",
        f"8,000 connections, {table} (8 each)",
    ]
    rates = [figure for figure in result.figures if figure.unit == "cps"]
    assert [figure.at for figure in rates] == names
    assert all(figure.at_unit == "connections" and figure.at_value for figure in result.figures)
    assert [figure.at for figure in result.figures if figure.name == DEGRADATION] == names[1:]
    of_cell = ColumnFigures()
    of_cell.add(CellResult(column="a", measure="m", round=1, results=(result,)))
    pooled = [figure for figure in of_cell.figures.values() if figure.unit == "cps"]
    assert [figure.values for figure in pooled] == [figure.values for figure in rates]


def test_columns_that_differ_by_their_table_are_told_apart_by_it() -> None:
    columns = (Column(connections=1000, hash_size=1000), Column(connections=1000, hash_size=2000))
    result, _, _ = measure(columns)
    assert [figure.at for figure in result.figures[:2]] == [
        "1,000 connections, table 1,000,000, hash 1,000 (1 each)",
        "1,000 connections, table 1,000,000, hash 2,000 (0.5 each)",
    ]


@pytest.mark.parametrize("rate", [20_000, None], ids=["given", "found first"])
def test_a_timeout_that_was_asked_for_is_not_made_longer_for_a_trial(rate: int | None) -> None:
    columns = (Column(connections=1000, timeout_s=60), Column(connections=1000, timeout_s=2))
    with pytest.raises(
        ConfigurationError, match=r"^timeout_s: 2 s .* may last 3 s \(expected a longer"
    ):
        measure(columns, THROUGHPUT, connections={"rate_fps": rate})
    result, _, dut = measure(columns[:1], THROUGHPUT, connections={"rate_fps": rate})
    assert set(dut.told_s) == {60}
    assert result.figures


def test_phase_1s_rate_stands_beside_a_figure_where_it_was_found_for_it() -> None:
    found, _, _ = measure(columns_of(1000, 4000), THROUGHPUT, connections={"rate_fps": None})
    rates = [
        int(f.title.split("phase 1 at ")[1].split()[0].replace(",", "")) for f in found.figures
    ]
    assert rates == pytest.approx([25_000, 10_000, 10_000, 10_000], rel=0.06)
    given, _, _ = measure(columns_of(1000, 4000), THROUGHPUT)
    assert "phase 1" not in given.figures[0].title
    assert [f.at for f in found.figures] == [f.at for f in given.figures], "rounds are pooled by it"
