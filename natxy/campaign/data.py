"""What a report needs of a campaign, read from its folder."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from natxy.campaign.folder import EXPERIMENT, TESTBED, CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import CampaignPlan, plan_again, plan_of
from natxy.campaign.records import read_campaign
from natxy.model.experiment import Experiment, MeasureSection
from natxy.model.measurement import Measurement
from natxy.model.published import Published
from natxy.model.telemetry import Telemetry
from natxy.report.campaign_table import CellResult

CDF_POINTS = 120  # of a curve; the tail has half of them


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
class DelayCurve:
    """The distribution of delays in a cell, of one direction, over all its valid trials."""

    column: str
    measure: str
    direction: str
    points: tuple[tuple[float, float], ...]  # delay in microseconds, share of the frames


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
    histograms: dict[tuple[str, str], dict[float, int]] = field(default_factory=dict)
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
        delays=tuple(_curves(plan, reading)),
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
    reading.histograms = {(plan.cells[0].key, at): of for (_, at), of in reading.histograms.items()}
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
        delays=tuple(_curves(plan, reading)),
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
            _add_delays(record, reading)


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


def _add_delays(record: dict[str, Any], reading: _Reading) -> None:
    for stream in record["result"]["streams"]:
        histogram = reading.histograms.setdefault((reading.cell["key"], stream["direction"]), {})
        for kind in stream["kinds"].values():
            for _, upper_ns, count in kind["delay"]["buckets"] if kind else ():
                histogram[upper_ns] = histogram.get(upper_ns, 0) + count


def _curves(plan: CampaignPlan, reading: _Reading) -> Iterator[DelayCurve]:
    """Yields a curve for each cell of a measurement of delays, its rounds together."""
    together: dict[tuple[str, str, str], dict[float, int]] = {}
    for cell in plan.cells:
        if cell.measure.command not in ("latency", "pdv", "ipdv"):
            continue
        for direction in ("forward", "reverse"):
            key = (cell.column.label, cell.measure.name, direction)
            into = together.setdefault(key, {})
            for upper_ns, count in reading.histograms.get((cell.key, direction), {}).items():
                into[upper_ns] = into.get(upper_ns, 0) + count
    for (column, measure, direction), histogram in together.items():
        if histogram:
            yield DelayCurve(
                column=column, measure=measure, direction=direction, points=tuple(_cdf(histogram))
            )


def _cdf(histogram: dict[float, int]) -> Iterator[tuple[float, float]]:
    """Yields some points of the cumulative distribution, closer to one another in the tail."""
    total = sum(histogram.values())
    half = CDF_POINTS // 2
    shares = [place / half for place in range(half)]
    shares += [1 - 10 ** (-6 * place / half) for place in range(half)]
    wanted = sorted({*shares, 1.0})
    below = 0
    for upper_ns, count in sorted(histogram.items()):
        below += count
        share = below / total
        if share >= wanted[0]:
            yield upper_ns / 1000, share
            wanted = [each for each in wanted if each > share]
        if not wanted:
            return
