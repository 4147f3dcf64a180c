"""The data of a campaign that a report needs, read from its folder."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from natxy.campaign.delay_curves import (
    MEASURES_DELAYS,
    DelayCurve,
    Histograms,
    add_delays,
    curves_of,
    measurements_of,
    own_trials,
)
from natxy.campaign.folder import DUT, EXPERIMENT, TESTBED, CampaignFolder, testbed_file
from natxy.campaign.journal import as_journal, read_journal
from natxy.campaign.machines import MACHINE, machines_of
from natxy.campaign.plan import CampaignPlan, Cell, plan_again, plan_of
from natxy.campaign.records import CellState, read_campaign
from natxy.campaign.trial_points import INVALID, TrialPoint, trial_members
from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import MeasureSection
from natxy.model.measurement import Measurement
from natxy.model.published import Published
from natxy.report.cell_figures import CellResult, as_shown


@dataclass(frozen=True, kw_only=True)
class CampaignData:
    folder: Path
    experiment: Experiment  # with all columns, also those that --quick leaves out
    plan: CampaignPlan
    files: Mapping[str, str]  # what was asked for, by the names of the files
    published: Published | None
    cells: tuple[CellResult, ...]
    trials: tuple[TrialPoint, ...]
    delays: tuple[DelayCurve, ...]
    machines: dict[str, Any]  # what measured, by a title
    command: str
    started: str = ""  # ISO 8601, UTC
    ended: str = ""


Trial = tuple[str, int]  # the key of its cell, and its place among the cell's trials in the journal


@dataclass(kw_only=True)
class _Reading:
    """What is read of a journal, and was read so far; `cell` is the last one that began."""

    # Of the trials that count: the words of the result that each belongs to.
    series: dict[Trial, str] = field(default_factory=dict)
    # Those of a measurement of delays itself, not of its searches.
    of_delays: set[Trial] = field(default_factory=set)
    cell: dict[str, Any] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)  # trials, by the cell's key
    trials: dict[str, list[TrialPoint]] = field(default_factory=dict)  # by the cell's key
    delays: Histograms = field(default_factory=dict)
    begin: datetime | None = None  # of the first trial that was read

    def counts(self, numbers: Sequence[int], of: Cell, shown: CellResult, first: int = 0) -> None:
        """Counts the trials of a cell with these numbers, the first of which has this place."""
        results = measurements_of(numbers, len(shown.series))
        for place in range(len(numbers)):
            series = shown.series[results[place]] if place in results else ""
            self.series[of.key, first + place] = series
        if of.measure.command in MEASURES_DELAYS:
            own = own_trials(numbers, len(shown.series))
            self.of_delays |= {(of.key, first + place) for place in own}


def read_data(path: Path) -> CampaignData:
    """Reads the folder of a campaign, or of one measurement."""
    folder = CampaignFolder(path=path)
    if folder.journal.exists() and not (folder.path / EXPERIMENT).exists():
        return _of_measurement(folder)
    asked = folder.asked()
    state = read_campaign(folder.journal)
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    begun = [cell for cell in _in_order(plan) if cell.key in state.cells]
    known = [state.cells[cell.key] for cell in begun]
    cells = tuple(map(result_of, known))
    reading = _Reading()
    for cell, of, shown in zip(known, begun, as_shown(plan.experiment, cells), strict=True):
        reading.counts(cell.numbers, of, shown, cell.uncounted)
    _read_all(folder, reading)
    return CampaignData(
        folder=path,
        experiment=asked.experiment,
        plan=plan,
        files={
            EXPERIMENT: asked.source.text,
            TESTBED: asked.testbed_source.text,
            **{
                testbed_file(number): source.text
                for number, source in enumerate(asked.further, start=2)
            },
            **({DUT: asked.dut_source.text} if asked.dut_source else {}),
        },
        published=asked.published,
        cells=cells,
        trials=_since_the_first(reading.trials.values()),
        delays=tuple(curves_of(reading.delays, plan)),
        machines=machines_of(cell.begun for cell in known),
        command=" ".join(state.header.get("command", [])),
        started=_moment(state.header.get("started")),
        ended=max((cell.ended for cell in cells), default=""),
    )


def _in_order(plan: CampaignPlan) -> list[Cell]:
    """Returns the cells as a table has them, not in the order that was drawn."""
    measures = {each.name: place for place, each in enumerate(plan.experiment.measure)}
    columns = {each.label: place for place, each in enumerate(plan.experiment.columns)}

    def place(cell: Cell) -> tuple[int, int, int]:
        return measures[cell.measure.name], columns[cell.column.label], cell.round

    return sorted(plan.cells, key=place)


def _moment(written: object) -> str:
    """Returns a time of a header that is one, with its zone; else nothing."""
    try:
        at = datetime.fromisoformat(str(written))
    except ValueError:
        return ""
    return at.isoformat() if at.tzinfo else ""


def result_of(cell: CellState) -> CellResult:
    """Returns what the journal has of a cell, as tables show it."""
    return CellResult(
        column=cell.begun.column,
        measure=cell.begun.measure,
        round=cell.begun.round,
        testbed=cell.begun.testbed,
        host=cell.begun.host,
        results=tuple(cell.results),
        error=cell.end.error if cell.end else "it was interrupted",
        started=cell.begun.started,
        ended=cell.end.ended if cell.end else "",
    )


def _words(header: Mapping[str, Any]) -> list[str]:
    return " ".join(header.get("command", [])).split()


def _verb(header: Mapping[str, Any]) -> str:
    """Returns the command of a journal without a result."""
    words = _words(header)
    return words[1] if len(words) > 1 and words[0] == "natxy" else "trial"


def _of_measurement(folder: CampaignFolder) -> CampaignData:
    """Reads the folder of a measuring command: a campaign of one column and one cell."""
    header: dict[str, Any] = {}
    results: list[Measurement] = []
    numbers: list[int] = []
    ended = ""
    with as_journal(folder.journal):
        for record in read_journal(folder.journal):
            header = header or record
            if record["record"] == "measurement":
                results.append(Measurement.model_validate_json(json.dumps(record)))
            elif record["record"] == "trial":
                numbers.append(record["number"])
                ended = _end_of(record)
    command = results[0].procedure if results else _verb(header)
    title = f"{results[0].title} of {results[0].conditions.dut}" if results else str(folder.path)
    experiment = Experiment(title=title, testbed="", measure=(MeasureSection(command=command),))
    plan = plan_of(experiment, header.get("testbed", {}), header.get("seed") or 0)
    (only,) = plan.cells
    cell = CellResult(
        column="",
        measure=command,
        round=1,
        results=tuple(results),
        error="" if results else "it ended without a result",
        started=_moment(header.get("started")),
        ended=ended,
    )
    (shown,) = as_shown(experiment, [cell])
    reading = _Reading(cell={"key": only.key, "column": "", "measure": command, "round": 1})
    reading.counts(numbers, only, shown)
    _read_all(folder, reading)
    return CampaignData(
        folder=folder.path,
        experiment=experiment,
        plan=plan,
        files=_testbed_of(header),
        published=None,
        cells=(cell,),
        trials=_since_the_first(reading.trials.values()),
        delays=tuple(curves_of(reading.delays, plan)),
        machines={
            MACHINE: {
                name: value for name, value in header.items() if name not in ("record", "testbed")
            }
        },
        command=" ".join(header.get("command", [])),
        started=_moment(header.get("started")),
        ended=ended,
    )


def _end_of(trial: dict[str, Any]) -> str:
    length = timedelta(seconds=trial["result"]["duration_ns"] / 1e9)
    return (datetime.fromisoformat(trial["started"]) + length).isoformat()


def _testbed_of(header: Mapping[str, Any]) -> dict[str, str]:
    """Returns the testbed as it was read, by the name that the command has for its file."""
    if "testbed" not in header:
        return {}
    name = next((word for word in _words(header) if word.endswith(".toml")), "testbed")
    return {f"{name}, with its defaults, as JSON": json.dumps(header["testbed"], indent=2)}


def _since_the_first(of_cells: Iterable[list[TrialPoint]]) -> tuple[TrialPoint, ...]:
    """Returns the trials with times since the first one, which need not be the journal's first.

    With several testbeds, a cell that began earlier can end later, and be written later.
    """
    points = [point for points in of_cells for point in points]
    first_s = min((point.at_s for point in points), default=0.0)
    return tuple(replace(point, at_s=round(point.at_s - first_s, 3)) for point in points)


def _read_all(folder: CampaignFolder, reading: _Reading) -> None:
    with as_journal(folder.journal):
        for record in read_journal(folder.journal):
            _read(record, reading)


def _read(record: dict[str, Any], reading: _Reading) -> None:
    if record["record"] == "cell":
        reading.cell = record
    elif record["record"] == "trial" and reading.cell:
        key = reading.cell["key"]
        trial = (key, reading.seen[key])
        reading.seen[key] += 1
        if trial not in reading.series:
            return  # the cell failed then, or the trial came after the file was read first
        series = reading.series[trial]
        reading.trials.setdefault(key, []).append(_point(record, reading, series))
        if trial in reading.of_delays and record["verdict"] != INVALID:
            add_delays(reading.delays, key, record, series)


def _point(record: dict[str, Any], reading: _Reading, series: str) -> TrialPoint:
    started = datetime.fromisoformat(record["started"])
    reading.begin = reading.begin or started
    return TrialPoint(
        column=reading.cell["column"],
        measure=reading.cell["measure"],
        series=series,
        round=reading.cell["round"],
        at_s=round((started - reading.begin).total_seconds(), 3),
        **trial_members(record),
    )
