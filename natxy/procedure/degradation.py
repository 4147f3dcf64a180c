"""Degradation with connections: a figure over the number of connections (SD sections 2.4 and 3.3).

Each figure is shown with the sizes of the gateway's hash table and connection tracking table.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from natxy.dut import recipe
from natxy.dut.base import TableParameters
from natxy.dut.config import table_limits
from natxy.errors import ConfigurationError, DutError
from natxy.measure.memory import MemorySamples, Samples, memory_at_points
from natxy.measure.plan import check_members
from natxy.measure.search_remarks import lacking_remarks
from natxy.measure.table_size import Size, named_by_size, told_apart
from natxy.model.deviation import each_once
from natxy.model.measurement import Figure, Measurement, TrialCounts
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.procedure.series import (
    Searching,
    at_points,
    bounds_remark,
    compared,
    conditions_of,
    figure_of,
    measured,
    of_point,
)
from natxy.search.bisection import SearchError
from natxy.setting import Setting
from natxy.statistics import median
from natxy.trial.connection_conditions import of_several
from natxy.trial.connection_table import TIMEOUT, WithoutConnections, parameters_of
from natxy.trial.session import Session

DEGRADATION = "degradation"
ENTRIES = Setting("entries", "Entries of the gateway's table", default="unchanged")
COLUMNS = Setting("columns", option="counts")  # in an error
HASH_SIZE = Setting(
    "hash_size", "Hash buckets of the gateway's table", option="hash-sizes", default="unchanged"
)


@dataclass(frozen=True, kw_only=True)
class Column(Size):
    """One column of the series; None: the gateway's setting, or the plan's for all columns."""

    entries: Annotated[int | None, ENTRIES] = None
    hash_size: Annotated[int | None, HASH_SIZE] = None
    timeout_s: Annotated[float | None, TIMEOUT] = None
    repetitions: int | None = None
    error: SearchError | None = None

    @property
    def sets_table(self) -> bool:
        return any(each is not None for each in (self.entries, self.hash_size, self.timeout_s))


@dataclass(frozen=True, kw_only=True)
class DegradationPlan:
    """The options of a measurement, checked when the plan is created.

    `search` measures the figure of each column.
    """

    search: Searching
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_members(self, search=Searching)
        if not self.columns:
            raise ConfigurationError(
                COLUMNS, ": is empty (expected one number of connections or more)"
            )
        for column in self.columns:
            if column.connections is not None:
                _check_entries(column, column.connections)


def degradation(plan: DegradationPlan, session: Session) -> Measurement:
    """Measures the figure Xn in each column, and its degradation.

    The degradation is (X1 - Xn) / X1 x 100 %, where X1 is the figure of the first column. The
    result also has the ratio of each figure to that of the previous column, and the memory per
    connection in each column.
    """
    columns = [(column, _of(column, session)) for column in plan.columns]
    sizes = named_by_size([ready for _, ready in columns])
    names: list[str] = []
    found: list[Measurement] = []
    figures: list[Figure | None] = []
    without: list[Remark] = []
    memory: dict[str, Samples] = {}  # by the column's name
    for number, (column, ready) in enumerate(columns, start=1):
        count, table = ready.traffic.required_connections.count, _set(column, ready)
        at = told_apart(_at(column, count, table, size=sizes[number - 1]), names)
        names.append(at)
        samples = MemorySamples()
        search, watched = search_of(plan.search, column), ready.with_observer(samples)
        try:
            found.append(measured(search, number, watched))
        except WithoutConnections as reason:
            if not found:
                raise
            without.append(Remark.of(Topic.NO_FIGURE, at, why=reason.in_options))
            session.observer.remarked(without[-1])
            figures.append(None)
            continue
        figures.append(figure := figure_of(found[-1], at, count, "connections"))
        memory[figure.at] = samples.samples[: len(figure.values)]
    first = next(filter(None, figures))
    if not median(first.values):
        fewest = columns[0][1].traffic.required_connections.count
        raise DutError(
            f"{session.dut_name} passes no trial with {fewest:,} connections, so there is no "
            "figure to compare with."
        )
    of_memory, about_memory = memory_at_points(memory, started_anew=False)
    return Measurement(
        procedure="degradation",
        title=f"Degradation of {first.name} with connections",
        reference="RFC 9693",
        conditions=of_several(
            conditions_of(plan.search, session),
            tables_differ=any(column.sets_table for column in plan.columns),
        ),
        deviations=each_once(each.deviations for each in found),
        remarks=(
            Remark.of(Topic.PORTS, ports=tuple(str(r.traffic.ranges) for _, r in columns)),
            *bounds_remark(figures, "degradation"),
            *without,
            *lacking_remarks(plan.search.repetitions, filter(None, figures)),
            *about_memory,
        ),
        figures=(*compared(figures, _degraded), *at_points(of_memory, figures)),
        counts=TrialCounts.total(each.counts for each in found),
    )


def check_columns(plan: DegradationPlan, traffic: TrafficPlan) -> None:
    """Raises ConfigurationError if the gateway's table does not take a value of a column."""
    limits = table_limits(traffic.testbed.dut, traffic.source)
    for column in plan.columns:
        for setting, name, value in (
            (ENTRIES, recipe.ENTRIES, column.entries),
            (HASH_SIZE, recipe.HASH_SIZE, column.hash_size),
            (TIMEOUT, recipe.TIMEOUT, column.timeout_s),
        ):
            most = limits.get(name)
            if value is not None and most is not None and value > most:
                raise ConfigurationError(
                    setting, f": {value} is out of range (expected at most {most})"
                )


def _of(column: Column, session: Session) -> Session:
    """Returns the session of a column, whose trials must not have a longer timeout than its own."""
    ready = column.of(session)
    _check_entries(column, ready.traffic.required_connections.count)
    return replace(ready, connection_timeout_s=column.timeout_s)


def _check_entries(column: Column, connections: int) -> None:
    if column.entries is not None and column.entries < connections:
        raise ConfigurationError(
            ENTRIES,
            f": a table of {column.entries} does not hold the column's {connections} connections "
            f"(expected at least {connections})",
        )


def _set(column: Column, session: Session) -> TableParameters:
    if column.entries is not None or column.hash_size is not None:
        session.required_table.resize(entries=column.entries, hash_size=column.hash_size)
    if column.timeout_s is not None:
        session.required_table.set_timeout(column.timeout_s)
    return parameters_of(session.dut)


def search_of(search: Searching, column: Column) -> Searching:
    """Returns the search with the repetitions and the error of a column."""
    changes = {
        name: value
        for name, value in (("repetitions", column.repetitions), ("error", column.error))
        if value is not None
    }
    return replace(search, **changes)  # type: ignore[arg-type]


def _at(column: Column, connections: int, table: TableParameters, *, size: str) -> str:
    """Returns the name of a column, with the connections per hash bucket, which make columns
    comparable."""
    said = [size]
    if table.entries is not None:
        said.append(f"table {table.entries:,}")
    if table.hash_size is not None:
        share = connections / table.hash_size
        said.append(f"hash {table.hash_size:,} ({share:.3g} each)")
    if column.timeout_s is not None:
        said.append(f"timeout {column.timeout_s:g} s")
    return ", ".join(said)


def _degraded(figure: Figure, first: Figure) -> tuple[Figure, ...]:
    if figure is first:
        return ()
    x1 = median(first.values)
    percent = (x1 - median(figure.values)) / x1 * 100
    return (of_point(figure, name=DEGRADATION, unit="%", value=percent),)
