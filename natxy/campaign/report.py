"""Writes the report of a campaign or a measurement: tables, plots, data."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

import natxy
from natxy.campaign.data import CampaignData, read_data
from natxy.campaign.delay_course import delay_course
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.machines import machine_notes
from natxy.report.beside import beside
from natxy.report.campaign_html import QUICK, Told, campaign_html
from natxy.report.campaign_notes import campaign_notes, testbed_notes
from natxy.report.campaign_table import CampaignTable, campaign_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.cell_figures import as_shown, found_figures
from natxy.report.chart_files import write_data
from natxy.report.charts import Chart, named_apart
from natxy.report.csit import documents
from natxy.report.figure_charts import computed_charts, figure_charts
from natxy.report.trial_charts import course_charts, distribution_charts, pauses_chart, trace_chart
from natxy.whole_file import write_whole

TEXTS = {"txt": text, "md": markdown, "csv": table_csv, "tex": latex}


@dataclass(frozen=True, kw_only=True)
class Report:
    """The data of a campaign or a measurement, and its tables."""

    data: CampaignData
    table: CampaignTable
    published: CampaignTable | None  # a published table beside what was measured

    @classmethod
    def of(cls, folder: Path) -> Self:
        data = read_data(CampaignFolder(path=folder))
        table = table_of(data)
        return cls(data=data, table=table, published=beside_of(data, table))


def write_report(report: Report, into: Path, *, html: bool, records: Path | None = None) -> None:
    """Writes the files of a report.

    `records` is a file that --records wrote; its delays are plotted over time.
    """
    data, table, published = report.data, report.table, report.published
    for ending, made in TEXTS.items():
        write_whole(into / f"table.{ending}", made(table))
        if published is not None:
            write_whole(into / f"published.{ending}", made(published))
    charts = charts_of(data, table, records)
    write_data(charts, into / "data", scaled_down=data.plan.quick)
    for name, document in documents(table.title, data.cells, quick=data.plan.quick):
        write_whole(into / "csit" / name, document)
    if html:
        page = campaign_html(table, published, charts, told(data))
        write_whole(into / "report.html", page)


def page_of(data: CampaignData) -> str:
    """Returns the HTML report."""
    table = table_of(data)
    return campaign_html(table, beside_of(data, table), charts_of(data, table), told(data))


def table_of(data: CampaignData) -> CampaignTable:
    table = campaign_table(data.plan.experiment, data.plan.conditions, data.cells)
    notes = (
        *table.notes,
        *campaign_notes(data.plan.experiment, table.columns, data.cells),
        *testbed_notes(data.cells),
    )
    return replace(table, warning=_warning(data), notes=notes)


def _warning(data: CampaignData) -> str:
    return QUICK if data.plan.quick else ""


def beside_of(data: CampaignData, table: CampaignTable) -> CampaignTable | None:
    """Returns the published table beside what was measured; None if none was published."""
    if data.published is None:
        return None
    found = found_figures(data.plan.experiment, data.cells)
    shown = beside(data.experiment, table.columns, data.published, found)
    notes = (*shown.notes, *machine_notes(data.machines))
    return replace(shown, warning=_warning(data), notes=notes)


def charts_of(data: CampaignData, table: CampaignTable, records: Path | None = None) -> list[Chart]:
    """Returns the plots of figures, delays and trials, and of what `records` holds."""
    trials = [
        {
            **asdict(point),
            "cell": _joined(point.measure, point.column, point.series, f"round {point.round}"),
        }
        for point in data.trials
    ]
    curves = [
        {
            "curve": _joined(curve.measure, curve.column, curve.series, curve.direction),
            "series": curve.series,
            "delay_us": x,
            "share": y,
        }
        for curve in data.delays
        for x, y in curve.points
    ]
    figures = [
        *figure_charts(table.columns, as_shown(data.plan.experiment, data.cells)),
        *computed_charts(table),
    ]
    of_trials = [
        *distribution_charts(curves),
        trace_chart(trials),
        pauses_chart(trials),
        *course_charts(delay_course(records) if records else []),
    ]
    named = named_apart([*of_trials, *figures])  # labels are free, the names of these are not
    return [*named[len(of_trials) :], *named[: len(of_trials)]]


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def told(data: CampaignData) -> Told:
    invalid = sum(point.verdict == "INVALID" for point in data.trials)
    return Told(
        summary=f"{len(data.cells)} of {len(data.plan.cells)} cells, {len(data.trials):,} trials, "
        f"{invalid:,} of them invalid and not counted. Seed {data.plan.seed}.",
        files=data.files,
        machines=data.machines,
        quick=data.plan.quick,
        made_by=f"Natxy {natxy.__version__}",
    )
