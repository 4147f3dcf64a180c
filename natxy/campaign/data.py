"""What a report needs of a campaign, read from its folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from natxy.campaign.delay_curves import DelayCurve, DelayHistograms
from natxy.campaign.folder import EXPERIMENT, TESTBED, CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import CampaignPlan, plan_again, plan_of
from natxy.campaign.records import read_campaign
from natxy.model.experiment import Experiment, MeasureSection
from natxy.model.measurement import Measurement
from natxy.model.published import Published
from natxy.model.telemetry import Telemetry
from natxy.report.campaign_table import CellResult


@dataclass(frozen=True, kw_only=True)
class TrialPoint:
    """A trial as plots need it."""

    column: str
    measure: str
    round: int
    repetition: int
    number: int  # in its cell, from 1
    at_s: float  # since the first trial of the campaign
    rate_fps: int
    verdict: str
    lost_percent: float
    paused_ms: float  # the tester's senders
    away_ms: float  # the gateway
    # From the telemetry of the gateway; None: not known.
    busy_percent: float | None = None  # of its busiest CPU
    memory_bytes: int | None = None
    connections: int | None = None
    dropped: int | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CampaignData:
    experiment: Experiment  # with all columns, also those that --quick leaves out
    plan: CampaignPlan
    files: Mapping[str, str]  # what was asked for, by the names of the files
    published: Published | None
    cells: tuple[CellResult, ...]
    trials: tuple[TrialPoint, ...]
    delays: tuple[DelayCurve, ...]
    provenance: dict[str, Any]  # of the last cell that was set up

    @property
    def conditions(self) -> dict[str, dict[str, Any]]:
        """The testbed of each column, and its number of cores, by its label."""
        return self.plan.conditions


@dataclass(kw_only=True)
class _Reading:
    """What was read so far; `cell` is the last one that began."""

    cell: dict[str, Any] = field(default_factory=dict)
    trials: dict[str, list[TrialPoint]] = field(default_factory=dict)  # by the cell's key
    delays: DelayHistograms = field(default_factory=DelayHistograms)
    provenance: dict[str, Any] = field(default_factory=dict)
    begin: datetime | None = None


def read_data(folder: CampaignFolder) -> CampaignData:
    """Reads the folder of a campaign, or of one measurement."""
    if folder.journal.exists() and not (folder.path / EXPERIMENT).exists():
        return _of_measurement(folder)
    asked = folder.asked()
    state = read_campaign(folder.journal)
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    reading = _Reading()
    for record in read_journal(folder.journal):
        _read(record, reading)
    known = [state.cells[cell.key] for cell in plan.cells if cell.key in state.cells]
    return CampaignData(
        experiment=asked.experiment,
        plan=plan,
        files={EXPERIMENT: asked.source.text, TESTBED: asked.testbed_source.text},
        published=asked.published,
        cells=tuple(
            CellResult(
                column=cell.begun.column,
                measure=cell.begun.measure,
                round=cell.begun.round,
                results=tuple(cell.results),
                error=cell.end.error if cell.end else "it was interrupted",
                started=cell.begun.started,
                ended=cell.end.ended if cell.end else "",
            )
            for cell in known
        ),
        trials=tuple(point for points in reading.trials.values() for point in points),
        delays=tuple(
            reading.delays.curves(plan, {key: cell.results for key, cell in state.cells.items()})
        ),
        provenance=reading.provenance,
    )


def _of_measurement(folder: CampaignFolder) -> CampaignData:
    """Reads the folder of a measuring command: a campaign of one column and one cell."""
    header: dict[str, Any] = {}
    results: list[Measurement] = []
    cell = {"key": "", "column": "", "measure": "", "round": 1, "provenance": {}}
    reading = _Reading(cell=cell)
    for record in read_journal(folder.journal):
        header = header or record
        if record["record"] == "measurement":
            results.append(Measurement.model_validate_json(json.dumps(record)))
        elif record["record"] == "trial":
            _read(record, reading)
    command = results[0].procedure if results else "trial"
    title = f"{results[0].title} of {results[0].conditions.dut}" if results else str(folder.path)
    experiment = Experiment(title=title, testbed="", measure=(MeasureSection(command=command),))
    trials = [
        replace(point, measure=command) for points in reading.trials.values() for point in points
    ]
    plan = plan_of(experiment, header.get("testbed", {}), header.get("seed") or 0)
    key = plan.cells[0].key
    reading.delays.found = {
        (key, direction, at): of for (_, direction, at), of in reading.delays.found.items()
    }
    return CampaignData(
        experiment=experiment,
        plan=plan,
        files={},
        published=None,
        cells=(
            CellResult(
                column="",
                measure=command,
                round=1,
                results=tuple(results),
                error="" if results else "it was interrupted",
                started=header.get("started", ""),
            ),
        ),
        trials=tuple(trials),
        delays=tuple(reading.delays.curves(plan, {key: results})),
        provenance={name: value for name, value in header.items() if name != "record"},
    )


def _read(record: dict[str, Any], reading: _Reading) -> None:
    if record["record"] == "cell":
        reading.cell = record
        reading.provenance = record["provenance"] or reading.provenance
    elif record["record"] == "trial" and reading.cell:
        points = reading.trials.setdefault(reading.cell["key"], [])
        # A trial whose end was lost is run again, with its number.
        del points[record["number"] - 1 :]
        points.append(_point(record, reading))
        if record["verdict"] != "INVALID":
            reading.delays.add(reading.cell["key"], record)


def _point(record: dict[str, Any], reading: _Reading) -> TrialPoint:
    started = datetime.fromisoformat(record["started"])
    reading.begin = reading.begin or started
    kinds = [
        kind
        for stream in record["result"]["streams"]
        for kind in stream["kinds"].values()
        if kind is not None
    ]
    sent = sum(kind["sent"] for kind in kinds)
    pauses = [stream["pauses"]["total_ns"] for stream in record["result"]["streams"]]
    reasons = (*record["invalid_reasons"], record["fail_reason"], record["lost_connections"])
    return TrialPoint(
        column=reading.cell["column"],
        measure=reading.cell["measure"],
        round=reading.cell["round"],
        repetition=record["repetition"],
        number=record["number"],
        at_s=round((started - reading.begin).total_seconds(), 3),
        rate_fps=record["rate_fps"],
        verdict=record["verdict"],
        lost_percent=100 * sum(kind["lost"] for kind in kinds) / sent if sent else 0.0,
        paused_ms=round(max(pauses, default=0.0) / 1e6, 4),
        away_ms=round(record["away_ns"] / 1e6, 4),
        **_telemetry(record),
        reason=next((reason for reason in reasons if reason), ""),
    )


def _telemetry(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the members of a TrialPoint; none in a journal of an older version."""
    if not record.get("telemetry"):
        return {}
    known = Telemetry.model_validate_json(json.dumps(record["telemetry"]))
    busiest = known.busiest
    return {
        "busy_percent": busiest and round(known.percent(busiest.busy_s), 2),
        "memory_bytes": known.memory_bytes,
        "connections": known.connections,
        "dropped": known.dropped,
    }
