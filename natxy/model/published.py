"""A table or figure of results that a document published, as data (experiments/published).

Numbers are those of the document, even where it is wrong: `misprints` names the wrong cells.
The meaning of each key is in docs/reference/published.md (tools/published_keys.toml).

Source and settings of the measurement are in the words of Natxy's testbeds and results.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Model, refuse
from natxy.model.published_values import BY_COLUMN, Row, Text, Variable
from natxy.model.source import read_whole
from natxy.model.testbed import Directions
from natxy.model.traffic_spec import MAX_CONNECTIONS

Positive = Annotated[int, Between(1, 2**32)]
Share = Annotated[float, Between(0, 1)]
Seconds = Annotated[float, Between(0, 86400)]


class Origin(Model):
    """The document from which the figures come.

    SD is the scalability draft, MP the stateful NAT64 methodology paper, SP the siitperf design
    paper.
    """

    document: Literal["SD", "MP", "SP"]
    title: Text
    author: Text
    published: Text
    doi: str = ""
    url: str = ""
    kind: Literal["table", "figure"]
    number: Positive
    section: Text
    caption: Text


class Measured(Model):
    """The commands and figures that were measured."""

    summary: Text
    commands: Annotated[tuple[Text, ...], Field(min_length=1)]


class Device(Model):
    """A device under test."""

    name: Text
    function: Text
    version: str = ""
    operating_system: Text
    machine: Text
    cores: Positive | None = None  # None: not stated, or `columns` has them
    settings: str = ""


class TesterUsed(Model):
    """The tester of the document."""

    program: Text
    operating_system: Text
    dpdk: Text
    machine: Text


class TrafficUsed(Model):
    """The tester's traffic. A key that differs from column to column is absent."""

    left_ip_version: IpVersion | None = None
    right_ip_version: IpVersion | None = None
    direction: Directions | None = None
    rates: Literal["each direction", "sum of directions"]  # what a figure in fps counts
    frame_sizes_bytes: tuple[Positive, ...] = ()
    networks: Positive | None = None
    source_ports: Positive | None = None
    destination_ports: Positive | None = None
    rate_fps: Positive | None = None


class ConnectionsUsed(Model):
    """Connections of a stateful gateway. A key that differs from column to column is absent."""

    count: Annotated[int, Between(1, MAX_CONNECTIONS)] | None = None
    source_ports: Positive | None = None
    destination_ports: Positive | None = None
    first_source_port: Positive | None = None
    order: str = ""
    incomplete: Literal["", "repeat"] = ""
    table_entries: Positive | None = None
    hash_size: Positive | None = None
    timeout_s: Seconds | None = None
    alpha: Share | None = None
    beta: Share | None = None
    gamma: Share | None = None


class TrialsUsed(Model):
    """Trials, repetitions and the search. A key that differs from column to column is absent."""

    repetitions: Positive | None = None
    duration_s: Seconds | None = None
    drain_s: Seconds | None = None
    frame_timeout_s: Seconds | None = None
    tagged_frames: Positive | None = None
    tags_after_s: Seconds | None = None
    search_error: str = ""
    loss_accepted: str = ""


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
