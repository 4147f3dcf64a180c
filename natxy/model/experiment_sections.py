"""The sections of an experiment's file. Editors show the text below a key as its explanation.

A column changes a testbed: sections and keys of its own replace others.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from natxy.model.base import Between, Model, refuse

Value = str | int | float | bool
Options = dict[str, Value | tuple[Value, ...]]  # of a command, by name, without the dashes
Command = Annotated[
    tuple[str, ...], Field(min_length=1)
]  # program and arguments; no shell reads it
MAX_ROUNDS = 10_000
MAX_COLUMNS = 1_000
MAX_KEY = 200  # characters of a path in the testbed
MAX_CELLS = 100_000  # of a campaign: months, and what its plan and its journal hold
CORES = "cores"  # a key that is not one of a testbed: the cores that the gateway uses
COLUMN = "column"  # of what is expensive: the column itself, such as the commands before it
MAX_CORES = 4096


def merged(testbed: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Returns the testbed's tables with those of `changes` on top; a [dut] of another kind
    replaces the whole section, whose keys depend on the kind."""
    result = dict(testbed)
    for key, value in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not _other_kind(old, value):
            result[key] = merged(old, value)
        else:
            result[key] = value
    return result


def _other_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" in new and new["kind"] != old.get("kind")


def nested(path: str, value: Any) -> dict[str, Any]:
    """Returns the change of one key, by its path: "traffic.n"."""
    for key in reversed(path.split(".")):
        value = {key: value}
    tables: dict[str, Any] = value
    return tables


def value_at(testbed: Mapping[str, Any], path: str) -> Any:
    """Returns the value of a key, by its path; None if the tables do not have it."""
    found: Any = testbed
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


class MeasureSection(Model):
    """One measurement of each column: a command of Natxy with its options."""

    command: str
    """A measuring command, such as "throughput"."""
    label: str = ""
    """Its name in tables. Default: the command."""
    options: Options = Field(default_factory=dict)
    """Options of the command, with underscores and without the leading dashes."""
    columns: tuple[str, ...] | None = None
    """Labels of the columns that have this measurement. Default: all."""
    without: tuple[str, ...] = ()
    """Sections of the column's testbed that are left out."""
    testbed: dict[str, Any] = Field(default_factory=dict)
    """Sections and keys that replace the testbed's, such as another gateway's [dut]."""
    both_directions: bool = False
    """Shows rates as the sum of the active directions, as the papers print them, not per
    direction."""
    quick: Options = Field(default_factory=dict)
    """Options that `--quick` replaces in this measurement."""

    @property
    def name(self) -> str:
        return self.label or self.command


class ColumnSection(Model):
    """One column of the table: what differs from the experiment's testbed."""

    label: str
    """The column's head."""
    testbed: dict[str, Any] = Field(default_factory=dict)
    """Sections and keys that replace the testbed's."""
    options: Options = Field(default_factory=dict)
    """Options of every measurement of this column."""
    cores: Annotated[int, Between(1, MAX_CORES)] | None = None
    """The number of cores that the gateway uses. Default: unchanged."""
    before: tuple[Command, ...] = ()
    """Commands that run before the column's gateway is set up."""
    quick: dict[str, Any] = Field(default_factory=dict)
    """Sections and keys of the testbed that `--quick` replaces in this column."""


class VarySection(Model):
    """A series: one column for each value of a testbed key; several series are combined."""

    key: Annotated[str, Field(max_length=MAX_KEY)]
    """Path of the key in the testbed, such as "connections.count"; or "cores"."""
    values: Annotated[tuple[Value, ...], Field(min_length=1)]
    """The values, one for each column."""
    label: str = "{}"
    """The column's head; {} stands for the value."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for value in self.values if self.key == CORES else ():
            if type(value) is not int or not 1 <= value <= MAX_CORES:
                refuse(
                    f"{value} is not a number of cores (expected 1 to {MAX_CORES})", member="values"
                )
        return self

    def varied(self, column: ColumnSection, value: Value) -> ColumnSection:
        """Returns the column with one of the values."""
        label = ", ".join(filter(None, (column.label, self.label.replace("{}", _text(value)))))
        if self.key == CORES:
            return column.model_copy(update={"label": label, "cores": value})
        testbed = merged(column.testbed, nested(self.key, value))
        return column.model_copy(update={"label": label, "testbed": testbed})


def _text(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


class HooksSection(Model):
    """Commands that run before the campaign, around each column, and after the campaign."""

    before: tuple[Command, ...] = ()
    """Commands that run before the campaign, and before it goes on."""
    before_column: tuple[Command, ...] = ()
    """Commands that run before the first cell, and before a cell of another column than the last
    one. With several testbeds: before each cell."""
    after_column: tuple[Command, ...] = ()
    """Commands that run after the last cell, and before a cell of another column begins. With
    several testbeds: after each cell."""
    after: tuple[Command, ...] = ()
    """Commands that run after the last cell of the campaign."""
    timeout_s: Annotated[float, Between(0.1, 86400)] = 600.0
    """The longest time of each command, in seconds."""


class HeaderSection(Model):
    """A row above the figures: a testbed key's value in each column."""

    key: str
    """Path of the key in the testbed, such as "connections.count"; or "cores"."""
    label: str = ""
    """The row's name. Default: the key."""

    @property
    def name(self) -> str:
        return self.label or self.key


RowKind = Literal[
    "relative scale-up",  # (value / first value) / (x / first x)
    "ratio to the previous",  # value / previous column's value
    "ratio",  # value / value of the measurement `to`
    "dispersion",  # (P99 - P1) / median
    "per",  # value / x
    "connections per hash bucket",  # connections / hash buckets of the gateway's table
    "connections per entry",  # connections / entries of the gateway's table
    "ending ratio",  # new connections among the last 1 % of phase 1, in a repeating order
    "figure",  # value, such as the memory per connection
]

NEEDS: Mapping[RowKind, str] = {  # the key that a kind cannot do without
    "relative scale-up": "x",
    "per": "x",
    "ratio": "to",
    "figure": "figure",
}


class RowSection(Model):
    """A row that is computed from the medians of a measurement.

    The two kinds of connections say how full the gateway's table is. Without a `figure`, they take
    the connections that the measurement counted or was asked for.
    """

    kind: RowKind
    """The rule of the row. "relative scale-up" is (value / first value) / (x / first x), "ratio to
    the previous" is value / value of the column before, "ratio" is value / value of the measurement
    `to`, "dispersion" is (P99 - P1) / median, and "per" is value / x. "connections per hash bucket"
    and "connections per entry" are connections / size of the gateway's table, and "ending ratio" is
    the share of new connections among the last 1 % of phase 1's frames. "figure" is the value of
    the figure `figure`, such as "memory per connection", in its unit."""
    of: str
    """The name of a measurement: its label, or its command."""
    figure: str = ""
    """The name of a figure. Default: the measurement's first main figure."""
    to: str = ""
    """The measurement to compare a ratio with."""
    x: str = ""
    """Path in the testbed of what the columns vary, or "cores"."""
    label: str = ""
    """The row's name. Default: made of the others."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        needs = NEEDS.get(self.kind, "")
        if needs and not getattr(self, needs):
            refuse(f'is missing: kind = "{self.kind}" needs it (expected a name)', member=needs)
        return self

    @property
    def name(self) -> str:
        against = f" to {self.to}" if self.to else f" {self.x}" if self.kind == "per" else ""
        what = self.figure if self.kind == "figure" else self.kind
        return self.label or f"{self.of} {what}{against}"


class PairSection(Model):
    """A row of the published table, and the figure of the campaign that belongs beside it."""

    row: str
    """The name of a row of the published table, such as "throughput_median"."""
    of: str
    """The name of a measurement: its label, or its command."""
    figure: str = ""
    """The name of a figure. Default: the measurement's first main figure."""
    direction: Literal["", "forward", "reverse"] = ""
    """The direction of the figure. Default: the first one."""
    columns: tuple[Annotated[int, Between(0, 1000)], ...] = ()
    """The published column of each column of the experiment, counted from 1; 0: there is none.
    Default: 1, 2, 3, ..."""


class PublishedSection(Model):
    """A published table or figure that the report shows beside the campaign's."""

    file: str
    """Path of the published table, relative to this file."""
    differs: tuple[str, ...] = ()
    """The differences that are on purpose, apart from machines and versions."""
    gateway_differs: tuple[str, ...] = ()
    """The same, of the testbed's gateway; not shown if `--dut` replaces this gateway."""
    pair: tuple[PairSection, ...] = ()
    """Published rows, each with the measured figure beside it."""


class QuickSection(Model):
    """The changes of `--quick`, with which the experiment fits a small machine."""

    rounds: Annotated[int, Between(1, MAX_ROUNDS)] = 1
    """The number of times that everything is measured."""
    columns: tuple[str, ...] | None = None
    """Labels of the columns that stay. Default: all."""
    changes: dict[str, Any] = Field(default_factory=dict)
    """Sections and keys that replace the testbed's, after those of the column."""
    options: Options = Field(default_factory=dict)
    """Options of every measurement, after all others."""
