"""`natxy report`: writes the tables, plots and data of a campaign."""

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import natxy
from natxy.campaign.data import CampaignData, read_data
from natxy.campaign.folder import EXPERIMENT, TESTBED, CampaignFolder
from natxy.cli.campaigns import tell
from natxy.cli.resume import FolderArgument
from natxy.report.campaign_html import Told, campaign_html
from natxy.report.campaign_table import CampaignTable, campaign_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.charts import (
    Chart,
    computed_chart,
    delay_charts,
    figure_charts,
    pauses_chart,
    trace_chart,
)
from natxy.report.whole_file import write_whole

TEXTS = {"txt": text, "md": markdown, "csv": table_csv, "tex": latex}


def report(
    folder: FolderArgument,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the files [default: report in DIR].", metavar="DIR"),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html/--no-html", help="Write the HTML report too.")
    ] = True,
) -> None:
    """Write a campaign's tables (text, Markdown, CSV, LaTeX), plots and data."""
    data = read_data(CampaignFolder(path=folder))
    table = table_of(data)
    into = output or folder / "report"
    for ending, made in TEXTS.items():
        write_whole(into / f"table.{ending}", made(table))
    charts = charts_of(data, table)
    for chart in charts:
        write_whole(into / "data" / f"{chart.key}.csv", _rows_csv(chart.rows))
    if html:
        write_whole(into / "report.html", campaign_html(table, charts, told(data)))
    tell(text(table))
    tell(f"Report: {into}")


def table_of(data: CampaignData) -> CampaignTable:
    return campaign_table(data.plan.experiment, data.testbeds, data.cells)


def charts_of(data: CampaignData, table: CampaignTable) -> list[Chart]:
    trials = [
        {**asdict(point), "cell": _cell(point.measure, point.column, point.round)}
        for point in data.trials
    ]
    curves = [
        {"curve": f"{curve.measure}, {curve.column}, {curve.direction}", "delay_us": x, "share": y}
        for curve in data.delays
        for x, y in curve.points
    ]
    return [
        *figure_charts(table.columns, data.cells),
        *computed_chart(table),
        *delay_charts(curves),
        trace_chart(trials),
        pauses_chart(trials),
    ]


def _cell(measure: str, column: str, number: int) -> str:
    return ", ".join(part for part in (measure, column, f"round {number}") if part)


def told(data: CampaignData) -> Told:
    results = [result for cell in data.cells for result in cell.results]
    notes = [
        f"{result.procedure}: {note}"
        for result in results
        for note in (
            *(f"deviates from {result.reference}: {each}" for each in result.deviations),
            *result.remarks,
        )
    ]
    invalid = sum(point.verdict == "INVALID" for point in data.trials)
    return Told(
        summary=f"{len(data.cells)} of {len(data.plan.cells)} cells, {len(data.trials):,} trials, "
        f"{invalid:,} of them invalid and not counted. Seed {data.plan.seed}.",
        notes=tuple(dict.fromkeys(notes)),
        files={EXPERIMENT: data.asked.source.text, TESTBED: data.asked.testbed_source.text},
        provenance=data.provenance,
        quick=data.plan.quick,
        made_by=f"Natxy {natxy.__version__}",
    )


def _rows_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
