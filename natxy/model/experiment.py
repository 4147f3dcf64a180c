"""An experiment: what a campaign measures, in columns, as a file says it (docs/decisions/0025).

The file is TOML. It names a testbed, the measurements (commands of Natxy with their options), and
the columns of the table, each with what it changes in the testbed.
"""

import unicodedata
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from natxy.model.base import Between, Model, refuse
from natxy.model.experiment_sections import (
    MAX_COLUMNS,
    MAX_ROUNDS,
    ColumnSection,
    HeaderSection,
    HooksSection,
    MeasureSection,
    Options,
    PublishedSection,
    QuickSection,
    RowSection,
    VarySection,
)
from natxy.model.source import Source, read_whole
from natxy.model.testbed import Testbed


class Experiment(Model):
    """The contents of an experiment's file: the measurements of a campaign."""

    title: str
    """The title of the table."""
    testbed: str
    """Path of a testbed file, relative to this file."""
    seed: Annotated[int, Between(0, 2**63 - 1)] | None = None
    """The seed of the campaign. Default: it is drawn, and stored."""
    rounds: Annotated[int, Between(1, MAX_ROUNDS)] = 1
    """The number of times that everything is measured."""
    order: Literal["shuffled", "written"] = "shuffled"
    """Order of the cells of a round: "shuffled" draws it for each round, "written" takes that of
    the file."""
    expensive: tuple[str, ...] = ()
    """Keys of the testbed, or "cores", that are expensive to change: cells with equal values are
    measured together. "column": all cells of a column are measured together."""
    changes: dict[str, Any] = Field(default_factory=dict)
    """Sections and keys that replace the testbed's, in all columns."""
    options: Options = Field(default_factory=dict)
    """Options of every measurement."""
    gateway_options: tuple[str, ...] = ()
    """Names of options that only suit the gateway of the testbed: `--dut` leaves them out."""
    hooks: HooksSection = HooksSection()
    """Commands that run around the campaign and around each column; no shell reads them."""
    quick: QuickSection = QuickSection()
    """The changes of `--quick`, which scales the campaign down to a small machine."""
    vary: tuple[VarySection, ...] = ()
    """Series: a column for each value of a key, or for each combination of several series."""
    column: tuple[ColumnSection, ...] = ()
    """The columns, written one by one."""
    measure: Annotated[tuple[MeasureSection, ...], Field(min_length=1)]
    """The measurements of each column."""
    header: tuple[HeaderSection, ...] = ()
    """Rows above the figures, with values of the testbed."""
    row: tuple[RowSection, ...] = ()
    """Rows below the figures, which are computed from them."""
    published: PublishedSection | None = None
    """A published table or figure that the report shows beside the campaign's."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.vary and self.column:
            refuse("is not possible beside [[column]] (expected one of them)", member="vary")
        for member, count in (("vary", prod(len(each.values) for each in self.vary)),
                              ("column", len(self.column))):  # fmt: skip
            if count > MAX_COLUMNS:
                refuse(f"makes {count:,} columns (expected at most {MAX_COLUMNS:,})", member=member)
        self._check_labels()
        self._check_columns()
        self._check_measurements()
        return self

    def _check_labels(self) -> None:
        """Refuses labels that a person cannot tell apart: results would be under the wrong one."""
        for what, labels in (
            ("vary" if self.vary else "column", [each.label for each in self.columns]),
            ("measure", [each.name for each in self.measure]),
        ):
            twice = _equal_ones(labels)
            if twice is not None:
                hint = ", with {} for the value" if what == "vary" else ""
                refuse(
                    f'has the label "{twice}" twice (expected different labels{hint})', member=what
                )

    def _check_columns(self) -> None:
        """Refuses labels of columns, and sections of the testbed, that do not exist."""
        known = {column.label for column in self.columns}
        for each in self.measure:
            _check_known(each.columns or (), known, "measure")
            if absent := [name for name in each.without if name not in Testbed.model_fields]:
                refuse(
                    f"leaves out [{absent[0]}] (expected sections of a testbed: "
                    f"{', '.join(Testbed.model_fields)})",
                    member="measure.without",
                )
        _check_known(self.quick.columns or (), known, "quick")

    def _check_measurements(self) -> None:
        """Refuses names of measurements that do not exist."""
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

    @property
    def columns(self) -> tuple[ColumnSection, ...]:
        """The columns: as written, or one for each combination of the series' values."""
        if self.column:
            return self.column
        columns = [ColumnSection(label="", testbed={})]
        for series in self.vary:
            columns = [
                series.varied(column, value) for column in columns for value in series.values
            ]
        return tuple(columns)


def _equal_ones(labels: Iterable[str]) -> str | None:
    """Returns the first label that looks like one before it; None: all differ."""
    known: set[str] = set()
    for label in labels:
        seen = " ".join(unicodedata.normalize("NFC", label).split())
        if seen in known:
            return label
        known.add(seen)
    return None


def _check_known(labels: Iterable[str], known: set[str], member: str) -> None:
    if unknown := [label for label in labels if label not in known]:
        refuse(f'names the column "{unknown[0]}" (expected labels of columns)', member=member)


def read_experiment(path: Path) -> tuple[Experiment, Source]:
    return read_whole(Experiment, path, "an experiment")
