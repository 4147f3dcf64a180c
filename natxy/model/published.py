"""A table or figure of results that a document published, as data (experiments/published).

Numbers are those of the document, even where it is wrong: `misprints` names the wrong cells.
The meaning of each key is in docs/reference/published.md (tools/published_keys.toml).
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from natxy.model.base import Model, refuse
from natxy.model.published_settings import (
    ConnectionsUsed,
    Device,
    Measured,
    Origin,
    Positive,
    TesterUsed,
    TrafficUsed,
    TrialsUsed,
)
from natxy.model.published_values import BY_COLUMN, Row, Text, Variable
from natxy.model.source import read_whole


class Misprint(Model):
    """Cells of one row, or of one variable of the columns, that the document prints wrongly."""

    columns: Annotated[tuple[Positive, ...], Field(min_length=1)]  # counted from 1
    correct: tuple[float, ...] = ()  # values of these cells; empty: unknown
    reason: Text


class Published(Model):
    """One table or figure."""

    source: Origin
    measured: Measured
    devices: dict[str, Device] = Field(default={})  # none: the tester was measured
    tester: TesterUsed
    traffic: TrafficUsed
    connections: ConnectionsUsed | None = None  # None: a stateless gateway
    trials: TrialsUsed = TrialsUsed()
    not_stated: tuple[Text, ...] = ()
    drawn: bool = False  # the document only draws the figure and prints no numbers
    columns: dict[str, Variable] = Field(default={})
    rows: dict[str, Row] = Field(default={})
    misprints: dict[str, Misprint] = Field(default={})  # by row or variable
    notes: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for member, cells in (("columns", self.columns), ("rows", self.rows)):
            if self.drawn and cells:
                refuse(f"true is for a figure without {member} (expected false)", member="drawn")
            if not self.drawn and not cells:
                refuse("is missing (expected a table, or drawn = true)", member=member)
        for key in self.columns:
            self._check_count(f"columns.{key}.values", len(self.columns[key].values))
        for key, row in self.rows.items():
            self._check_count(f"rows.{key}.values", len(row.values))
            self._check_row(key, row)
        for key, misprint in self.misprints.items():
            self._check_misprint(key, misprint)
        return self

    def _check_count(self, member: str, count: int) -> None:
        if count != self.column_count:
            refuse(
                f"has {count} elements (expected {self.column_count}, one for each column)",
                member=member,
            )

    def _check_row(self, key: str, row: Row) -> None:
        where = f"rows.{key}"
        if key in self.columns:
            refuse("is a variable of the columns, too (expected another name)", member=where)
        for member, said in (("unit", row.unit), ("figure", row.figure)):
            if said == BY_COLUMN and member not in self.columns:
                refuse(
                    f'"{BY_COLUMN}" needs columns.{member}, which is missing (expected it)',
                    member=f"{where}.{member}",
                )
        if row.device and row.device not in self.devices:
            refuse(
                f'unknown device "{row.device}" (expected one of {", ".join(self.devices)})',
                member=f"{where}.device",
            )
        for name in row.derived.of if row.derived else ():
            if name == key or not self._has(name):
                refuse(
                    f'"{name}" is neither another row nor a variable of the columns (expected one)',
                    member=f"{where}.derived.of",
                )

    def _check_misprint(self, key: str, misprint: Misprint) -> None:
        where = f"misprints.{key}"
        if not self._has(key):
            refuse(
                "is neither a row nor a variable of the columns (expected its name)", member=where
            )
        if max(misprint.columns) > self.column_count:
            refuse(
                f"{max(misprint.columns)} is out of range (expected 1 to {self.column_count})",
                member=f"{where}.columns",
            )
        if misprint.correct and len(misprint.correct) != len(misprint.columns):
            refuse(
                f"has {len(misprint.correct)} elements (expected {len(misprint.columns)}, one for "
                "each wrong cell)",
                member=f"{where}.correct",
            )

    def _has(self, key: str) -> bool:
        return key in self.rows or key in self.columns

    @property
    def column_count(self) -> int:
        return len(next(iter(self.columns.values())).values) if self.columns else 0

    def numbers(self, key: str) -> tuple[float | None, ...]:
        """Returns the numbers of a row or variable, in its unit, with misprints put right.

        None: the document has no number there, or a wrong one whose right value is unknown.
        """
        values = self.rows[key].values if key in self.rows else self.columns[key].values
        found = [None if isinstance(each, str) else each for each in values]
        if wrong := self.misprints.get(key):
            right = wrong.correct or (None,) * len(wrong.columns)
            for column, value in zip(wrong.columns, right, strict=True):
                found[column - 1] = value
        return tuple(found)


def read_published(path: Path) -> Published:
    """Returns a published table or figure; ConfigurationError if the file is not one."""
    return read_whole(Published, path, "a published table or figure")[0]
