"""The lines of a campaign's journal beside its trials and results, and their reader."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, field_validator

from natxy.campaign.journal import as_journal, read_journal
from natxy.errors import ConfigurationError
from natxy.model.base import Model, refuse
from natxy.model.measurement import Measurement
from natxy.model.remark import Remarks
from natxy.model.trial_record import Collapse, TrialRecord
from natxy.model.verdict import Verdict


def _moment(text: str) -> str:
    try:
        if text:
            datetime.fromisoformat(text)
    except ValueError:
        refuse("is not a time (expected one such as 2026-11-29T12:00:00+00:00)")
    return text


Moment = Annotated[str, AfterValidator(_moment)]  # ISO 8601; empty: not known


class CellRecord(Model):
    """A cell begins, or goes on after an interruption."""

    record: Literal["cell"] = "cell"
    key: str
    number: int  # in the plan, from 1
    column: str
    measure: str
    round: int
    seed: int
    started: Moment
    testbed: int = 1  # its number, where there are several; 0: no worker has measured the cell
    provenance: dict[str, Any] = Field(default_factory=dict)

    @field_validator("provenance")
    @classmethod
    def _has_tables(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in ("host", "tester"):
            if not isinstance(value.get(name, {}), dict):
                refuse(f"{name} is not a table", member=name)
        return value

    @property
    def host(self) -> str:
        """The name of the machine that measured; empty if nothing could be set up."""
        name: str = self.provenance.get("host", {}).get("name", "")
        return name


class CellEnd(Model):
    """A cell has ended, with results, or with a sentence that says what failed.

    It has both if only the command after its column failed.
    """

    record: Literal["cell-end"] = "cell-end"
    key: str
    error: str = ""
    ended: Moment


BEFORE, AFTER = "before", "after"  # when the commands around the campaign run


class HookRecord(Model):
    """A command of the experiment was run."""

    record: Literal["hook"] = "hook"
    when: str  # "before_column"
    command: tuple[str, ...]
    status: int
    output: str  # its end
    seconds: float


class Header(Model):
    """What a campaign needs of the first line of its journal, which may say more."""

    model_config = ConfigDict(extra="ignore")

    natxy_version: str
    command: list[str] = Field(min_length=1)
    seed: int
    quick: bool
    options: dict[str, Any] = Field(default_factory=dict)
    columns: list[str] | None = None
    remarks: Remarks = ()


@dataclass(kw_only=True)
class CellState:
    """The records that the journal has of a cell."""

    key: str
    begun: CellRecord  # the last beginning; `started` is that of the first trial that counts
    past: list[dict[str, Any]] = field(default_factory=list)  # lines that it goes on with
    results: list[Measurement] = field(default_factory=list)
    # Numbers of the trials that count: from 1 in each search and in each measurement.
    numbers: list[int] = field(default_factory=list)
    invalid: int = 0  # of these trials
    uncounted: int = 0  # trials before these in the journal, of the times that the cell failed
    resumed: bool = False  # it was interrupted between these trials
    end: CellEnd | None = None

    def goes_on(self, begun: CellRecord) -> None:
        """Begins again; a cell that had ended keeps nothing."""
        if self.end is not None:
            self.uncounted += len(self.numbers)
            self.numbers.clear()
            self.invalid = 0
            self.results.clear()
            self.end = None
        self.resumed = bool(self.numbers)
        kept = {"started": self.begun.started} if self.resumed else {}
        self.begun = begun.model_copy(update=kept)

    def ends(self, end: CellEnd) -> None:
        self.end = end
        self.past.clear()  # no longer needed

    @property
    def trials(self) -> int:
        return len(self.numbers)

    @property
    def failed(self) -> bool:
        return self.end is not None and bool(self.end.error)


@dataclass(kw_only=True)
class CampaignState:
    """The contents of a campaign's journal: its header and its cells, by key."""

    header: dict[str, Any]
    path: Path = Path()  # of the journal
    cells: dict[str, CellState] = field(default_factory=dict)
    after: int = 0  # commands after the campaign that have succeeded since the last cell
    last: str = ""  # key of the cell that began last

    def past_of(self, key: str) -> Iterator[TrialRecord | Collapse]:
        """Yields the trials with which a cell that was interrupted goes on."""
        lines = self.cells[key].past if key in self.cells else []
        with as_journal(self.path):
            for line in lines:
                kind = Collapse if line["record"] == "collapse" else TrialRecord
                yield kind.model_validate_json(json.dumps(line))

    def ended(self, key: str) -> bool:
        cell = self.cells.get(key)
        return cell is not None and cell.end is not None


def read_campaign(path: Path) -> CampaignState:
    """Returns the state of the campaign whose journal this is."""
    records = read_journal(path)
    header = next(records, None)
    if header is None:
        raise ConfigurationError(
            f"{path}: is empty, since the run was killed before it had written the first line "
            "(expected a campaign that has begun; `natxy run` can begin it in the same folder)"
        )
    if "experiment" not in header:
        raise ConfigurationError(
            f"{path}: is not the journal of a campaign (expected one that `natxy run` wrote)"
        )
    state = CampaignState(header=header, path=path)
    with as_journal(path):
        Header.model_validate_json(json.dumps(header))
        _read_cells(records, state)
    return state


def _read_cells(records: Iterable[dict[str, Any]], state: CampaignState) -> None:
    cell: CellState | None = None
    for record in records:
        kind = record["record"]
        if kind == "cell":
            begun = CellRecord.model_validate(record)
            cell = state.cells.setdefault(begun.key, CellState(key=begun.key, begun=begun))
            cell.goes_on(begun)
            state.after, state.last = 0, begun.key
        elif cell is None:
            continue
        elif kind == "trial":
            cell.numbers.append(record["number"])
            cell.invalid += record["verdict"] == Verdict.INVALID.value
            _ = record["result"]["streams"]  # a stranger's trial is refused before one is run
            cell.past.append(record)
        elif kind == "collapse":
            cell.past.append(record)
        elif kind == "measurement":
            cell.results.append(Measurement.model_validate_json(json.dumps(record)))
        elif kind == "hook":
            if record["when"] == BEFORE:
                state.after = 0
            state.after += record["when"] == AFTER and record["status"] == 0
        elif kind == "cell-end":
            cell.ends(CellEnd.model_validate(record))
