"""An experiment: what a campaign measures, in columns, as a file says it (docs/decisions/0025).

The file is TOML. It names a testbed, the measurements (commands of Natxy with their options), and
the columns of the table, each with what it changes in the testbed.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from natxy.errors import ConfigurationError
from natxy.model.base import Between, Model, refuse
from natxy.model.source import Source

Value = str | int | float | bool
Options = dict[str, Value | tuple[Value, ...]]  # of a command, by name, without the dashes
Command = Annotated[
    tuple[str, ...], Field(min_length=1)
]  # program and arguments; no shell reads it
MAX_ROUNDS = 10_000


class MeasureSection(Model):
    """One measurement of each column: a command of Natxy with its options."""

    command: str  # "throughput"
    label: str = ""  # in tables; empty: the command
    options: Options = Field(default_factory=dict)
    columns: tuple[str, ...] | None = None  # labels of the columns that have it; None: all
    without: tuple[str, ...] = ()  # sections of the column's testbed that are left out
    # Sections and keys that then replace the testbed's, such as another device's [dut].
    testbed: dict[str, Any] = Field(default_factory=dict)
    # Rates are shown as the sum of both directions, as the papers print them, not per direction.
    both_directions: bool = False

    @property
    def name(self) -> str:
        return self.label or self.command


class ColumnSection(Model):
    """One column of the table: what differs from the experiment's testbed."""

    label: str
    # Sections and keys that replace the testbed's.
    testbed: dict[str, Any] = Field(default_factory=dict)
    options: Options = Field(default_factory=dict)  # of every measurement
    cores: Annotated[int, Between(1, 4096)] | None = None  # of the device; None: unchanged
    before: tuple[Command, ...] = ()  # commands that run before the column's DUT is set up
    quick: dict[str, Any] = Field(default_factory=dict)  # of the testbed, with `--quick`


class VarySection(Model):
    """A series: one column for each value of a testbed key; several series are combined."""

    key: str  # path in the testbed: "connections.count"
    values: Annotated[tuple[Value, ...], Field(min_length=1)]
    label: str = "{}"  # of a column; {} stands for the value


class HooksSection(Model):
    """Commands that run before the campaign, around each column, and after the campaign."""

    before: tuple[Command, ...] = ()
    before_column: tuple[Command, ...] = ()
    after_column: tuple[Command, ...] = ()
    after: tuple[Command, ...] = ()
    timeout_s: Annotated[float, Between(0.1, 86400)] = 600.0  # of each command


class HeaderSection(Model):
    """A row above the figures: a testbed key's value in each column."""

    key: str  # path in the testbed, such as "connections.count"; or "cores"
    label: str = ""  # empty: the key

    @property
    def name(self) -> str:
        return self.label or self.key


RowKind = Literal[
    "relative scale-up",  # (value / first value) / (x / first x)
    "ratio to the previous",  # value / previous column's value
    "ratio",  # value / value of the measurement `to`
    "dispersion",  # (P99 - P1) / median
    "per",  # value / x
    "connections per hash bucket",  # connections / hash buckets of the device's table
    "connections per entry",  # connections / entries of the device's table
]


class RowSection(Model):
    """A row that is computed from the medians of a measurement.

    The two kinds of connections say how full the device's table is. Without a `figure`, they take
    the connections that the measurement counted or was asked for.
    """

    kind: RowKind
    of: str  # name of a measurement
    figure: str = ""  # empty: its first main figure
    to: str = ""  # of a ratio: the measurement to compare with
    x: str = ""  # path in the testbed of what the columns vary, or "cores"
    label: str = ""  # empty: made of the others

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        needs = {"relative scale-up": "x", "per": "x", "ratio": "to"}.get(self.kind, "")
        if needs and not getattr(self, needs):
            refuse(f'is missing: kind = "{self.kind}" needs it (expected a name)', member=needs)
        return self

    @property
    def name(self) -> str:
        against = f" to {self.to}" if self.to else f" {self.x}" if self.kind == "per" else ""
        return self.label or f"{self.of} {self.kind}{against}"


class PairSection(Model):
    """A row of the published table, and the figure of the campaign that belongs beside it."""

    row: str  # name of a row of the published table: "throughput_median"
    of: str  # name of a measurement
    figure: str = ""  # empty: its first main figure
    direction: Literal["", "forward", "reverse"] = ""  # of the figure; empty: its first one
    # For each column of the experiment the published column, counted from 1; 0: there is none.
    columns: tuple[Annotated[int, Between(0, 1000)], ...] = ()  # empty: 1, 2, 3, ...


class PublishedSection(Model):
    """A published table or figure that the report shows beside the campaign's."""

    file: str  # path, relative to this file
    differs: tuple[str, ...] = ()  # what differs on purpose, apart from machines and versions
    pair: tuple[PairSection, ...] = ()


class QuickSection(Model):
    """What `--quick` changes, so that the experiment fits a small machine."""

    rounds: Annotated[int, Between(1, MAX_ROUNDS)] = 1
    columns: tuple[str, ...] | None = None  # labels of the columns that stay; None: all
    changes: dict[str, Any] = Field(default_factory=dict)  # of the testbed, after the column's
    options: Options = Field(default_factory=dict)  # of every measurement, after all others


class Experiment(Model):
    """What a campaign measures."""

    title: str
    testbed: str  # path of a testbed file, relative to this file
    seed: Annotated[int, Between(0, 2**63 - 1)] | None = None  # None: drawn, and stored
    rounds: Annotated[int, Between(1, MAX_ROUNDS)] = 1  # how often everything is measured
    order: Literal["shuffled", "written"] = "shuffled"  # of the cells of a round
    # Testbed keys, or "cores", that are expensive to change: cells with equal values are measured
    # together.
    expensive: tuple[str, ...] = ()
    # Sections and keys that replace the testbed's, in all columns.
    changes: dict[str, Any] = Field(default_factory=dict)
    options: Options = Field(default_factory=dict)  # of every measurement
    hooks: HooksSection = HooksSection()
    quick: QuickSection = QuickSection()
    vary: tuple[VarySection, ...] = ()
    column: tuple[ColumnSection, ...] = ()
    measure: Annotated[tuple[MeasureSection, ...], Field(min_length=1)]
    header: tuple[HeaderSection, ...] = ()  # rows above the figures
    row: tuple[RowSection, ...] = ()  # rows below them
    published: PublishedSection | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.vary and self.column:
            refuse("is not possible beside [[column]] (expected one of them)", member="vary")
        for what, labels in (
            ("column", [each.label for each in self.column]),
            ("measure", [each.name for each in self.measure]),
        ):
            if twice := next((label for label in labels if labels.count(label) > 1), None):
                refuse(f'has the label "{twice}" twice (expected different labels)', member=what)
        known = {column.label for column in self.columns}
        for each in self.measure:
            unknown = [label for label in each.columns or () if label not in known]
            if unknown:
                refuse(
                    f'names the column "{unknown[0]}" (expected labels of columns)',
                    member="measure",
                )
        names = {each.name for each in self.measure}
        pairs = self.published.pair if self.published else ()
        if unknown_pair := next((pair for pair in pairs if pair.of not in names), None):
            refuse(
                f'names the measurement "{unknown_pair.of}" (expected one of {", ".join(names)})',
                member="published.pair",
            )
        if next((pair for pair in pairs if len(pair.columns) not in (0, len(self.columns))), None):
            refuse(
                f"has columns of another number (expected {len(self.columns)})",
                member="published.pair",
            )
        for row in self.row:
            for name in (row.of, row.to):
                if name and name not in names:
                    refuse(
                        f'names the measurement "{name}" (expected one of {", ".join(names)})',
                        member="row",
                    )
        return self

    @property
    def columns(self) -> tuple[ColumnSection, ...]:
        """The columns: as written, or one for each combination of the series' values."""
        if self.column:
            return self.column
        columns = [ColumnSection(label="", testbed={})]
        for series in self.vary:
            columns = [
                ColumnSection(
                    label=_joined(column.label, series.label.replace("{}", _text(value))),
                    testbed=merged(column.testbed, _nested(series.key, value)),
                )
                for column in columns
                for value in series.values
            ]
        return tuple(columns)


def read_experiment(path: Path) -> tuple[Experiment, Source]:
    """Returns the experiment and its text, so that errors found later can name the line."""
    source = Source.read(path)
    if not source.text.strip():
        raise ConfigurationError(f"{path}: is empty (expected an experiment)")
    return source.validated(Experiment, source.toml()), source


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


def _nested(path: str, value: Any) -> dict[str, Any]:
    for key in reversed(path.split(".")):
        value = {key: value}
    nested: dict[str, Any] = value
    return nested


def _text(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
