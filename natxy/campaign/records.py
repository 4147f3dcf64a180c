"""The lines of a campaign's journal beside its trials and results, and their reader."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from natxy.campaign.journal import read_journal
from natxy.campaign.tape import AnswerRecord
from natxy.campaign.whole_result import whole
from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.measurement import Measurement


class CellRecord(Model):
    """A cell begins, or goes on after an interruption."""

    record: Literal["cell"] = "cell"
    key: str
    number: int  # in the plan, from 1
    column: str
    measure: str
    round: int
    seed: int
    started: str  # ISO 8601
    answers: int = 0  # of those above, how many still count; 0 at the first beginning
    provenance: dict[str, Any] = Field(default_factory=dict)


class CellEnd(Model):
    """A cell has ended, with results or with the sentence that says why it has none."""

    record: Literal["cell-end"] = "cell-end"
    key: str
    error: str = ""
    ended: str


class HookRecord(Model):
    """A command of the experiment was run."""

    record: Literal["hook"] = "hook"
    when: str  # "before_column"
    command: tuple[str, ...]
    status: int
    output: str  # its end
    seconds: float


@dataclass(kw_only=True)
class CellState:
    """What the journal knows of a cell."""

    key: str
    begun: CellRecord
    answers: list[AnswerRecord] = field(default_factory=list)
    results: list[Measurement] = field(default_factory=list)
    trials: int = 0
    end: CellEnd | None = None

    @property
    def failed(self) -> bool:
        return self.end is not None and bool(self.end.error)


@dataclass(kw_only=True)
class CampaignState:
    """What the journal knows of a campaign: its header and its cells, by key."""

    header: dict[str, Any]
    cells: dict[str, CellState] = field(default_factory=dict)

    def ended(self, key: str) -> bool:
        cell = self.cells.get(key)
        return cell is not None and cell.end is not None


def read_campaign(path: Path) -> CampaignState:
    """Returns the state of the campaign whose journal this is."""
    records = read_journal(path)
    header = next(records, None)
    if header is None or "experiment" not in header:
        raise ConfigurationError(
            f"{path}: is not the journal of a campaign (expected one that `natxy run` wrote)"
        )
    state = CampaignState(header=header)
    _read_cells(records, state)
    return state


def _read_cells(records: Iterable[dict[str, Any]], state: CampaignState) -> None:
    cell: CellState | None = None
    waiting: int | None = None  # the place of an answer whose result the next trial has
    for record in records:
        kind = record["record"]
        if kind == "cell":
            begun = CellRecord.model_validate(record)
            cell = state.cells.setdefault(begun.key, CellState(key=begun.key, begun=begun))
            del cell.answers[begun.answers :]
            cell.end = None
        elif cell is None:
            continue
        elif kind == "answer":
            answer = AnswerRecord.model_validate(record)
            if answer.of_trial:
                waiting = len(cell.answers)
            cell.answers.append(answer)
        elif kind == "trial":
            cell.trials += 1
            if waiting is not None:
                of_trial = cell.answers[waiting]
                result = whole(of_trial.answer, record)
                cell.answers[waiting] = of_trial.model_copy(update={"answer": result})
                waiting = None
        elif kind == "measurement":
            cell.results.append(Measurement.model_validate_json(json.dumps(record)))
        elif kind == "cell-end":
            cell.end = CellEnd.model_validate(record)
            cell.answers.clear()  # no longer needed
