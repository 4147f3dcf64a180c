"""Writes the report of a campaign or a measurement: tables, plots, data."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import compress
from pathlib import Path
from typing import Any

from natxy.campaign.data import CampaignData
from natxy.campaign.delay_files import delay_course, write_delays
from natxy.campaign.head import head_of
from natxy.campaign.machines import machine_notes
from natxy.campaign.trial_points import TrialPoint
from natxy.model.measurement import Figure
from natxy.report.beside import beside
from natxy.report.campaign_html import QUICK, campaign_html, libraries
from natxy.report.campaign_notes import campaign_notes, counted_table, testbed_notes
from natxy.report.campaign_table import campaign_table, further_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.cell_figures import CellResult, as_shown, found_figures
from natxy.report.charts import (
    Chart,
    course_charts,
    distribution_charts,
    named_apart,
    time_chart,
    trace_chart,
)
from natxy.report.figure_charts import computed_charts, figure_charts
from natxy.report.junit import junit
from natxy.report.report_files import keep_only, write_data
from natxy.report.table_rows import CampaignTable, Notes
from natxy.whole_file import write_whole

# What the trials of a command have as their rate.
FRAMES, CONNECTIONS = "frames a second per direction", "connections a second"
OF_CONNECTIONS = ("establishment", "tear-down", "capacity")
OF_EITHER = ("scale-up", "degradation", "churn")  # by their options
TEXTS = {"txt": text, "md": markdown, "csv": table_csv, "tex": latex}


def tables_of(data: CampaignData) -> dict[str, CampaignTable]:
    """Returns the table, a published one beside what was measured, the figures beside the main
    ones, and what the trials counted, by the names of their files; only those that say something.
    """
    table = table_of(data)
    published = beside_of(data, table)
    further = further_table(data.plan.experiment, data.cells)
    counted = counted_table(table.columns, data.cells)
    tables = {"table": table}
    if published is not None:
        tables["published"] = published
    if further.rows:
        tables["further"] = replace(further, warning=_warning(data))
    if counted.rows:
        title = f"{table.title}: what the trials counted"
        tables["counted"] = replace(counted, title=title, warning=_warning(data))
    return tables


def write_report(
    data: CampaignData, into: Path, *, html: bool, records: Path | None = None
) -> None:
    """Writes the files of a report; `html`: also the page, and the plots as pictures.

    `records` is a file that --records wrote; its delays are plotted over time.
    """
    tables = tables_of(data)
    table = tables["table"]
    texts = {
        f"{name}.{ending}": made(shown)
        for name, shown in tables.items()
        for ending, made in TEXTS.items()
    }
    charts = charts_of(data, table, records)
    texts["junit.xml"] = _junit(data)
    for name, written in texts.items():
        write_whole(into / name, written)
    files = [into / name for name in texts]
    files += write_data(charts, into / "data", scaled_down=data.plan.quick)
    files += write_delays(data.delays, into / "data", table.title, table.warning)
    if html:  # needs the extra "report"
        libraries()
        from natxy.report.drawings import write_pictures

        files += write_pictures(charts, into / "data", table.title, table.warning)
        beside = [path.relative_to(into).as_posix() for path in files]
        files.append(into / "report.html")
        write_whole(files[-1], _page(data, tables, charts, written=sorted(beside)))
    keep_only(files, into)


def _junit(data: CampaignData) -> str:
    begun = {(cell.measure, cell.column, cell.round) for cell in data.cells}
    planned = ((cell.measure.name, cell.column.label, cell.round) for cell in data.plan.cells)
    experiment = data.plan.experiment
    return junit(
        experiment.title,
        as_shown(experiment, data.cells),
        sorted(set(planned) - begun),
        quick=data.plan.quick,
    )


def page_of(data: CampaignData) -> str:
    """Returns the HTML report."""
    tables = tables_of(data)
    return _page(data, tables, charts_of(data, tables["table"]))


def _page(
    data: CampaignData,
    tables: Mapping[str, CampaignTable],
    charts: Sequence[Chart],
    written: Sequence[str] = (),
) -> str:
    return campaign_html(
        tables,
        charts,
        head=head_of(data),
        files=data.files,
        machines=data.machines,
        written=written,
    )


def table_of(data: CampaignData) -> CampaignTable:
    table = campaign_table(data.plan.experiment, data.plan.conditions, data.cells)
    notes = {
        **campaign_notes(table.columns, data.cells),
        "": (*table.notes[""], *testbed_notes(data.cells)),
    }
    return replace(table, warning=_warning(data), notes=_filled(notes))


def _filled(notes: Notes) -> Notes:
    """Returns the notes of the headings that have some, those of none first."""
    return {heading: notes[heading] for heading in sorted(notes, key=bool) if notes[heading]}


def _warning(data: CampaignData) -> str:
    return QUICK if data.plan.quick else ""


def beside_of(data: CampaignData, table: CampaignTable) -> CampaignTable | None:
    """Returns the published table beside what was measured; None if none was published."""
    if data.published is None:
        return None
    found = found_figures(data.plan.experiment, data.cells)
    shown = beside(data.experiment, table.columns, data.published, found)
    notes = {"": (*shown.notes[""], *machine_notes(data.machines))}
    return replace(shown, warning=_warning(data), notes=notes)


def charts_of(data: CampaignData, table: CampaignTable, records: Path | None = None) -> list[Chart]:
    """Returns the plots of figures, delays and trials, and of what `records` holds."""
    searched = _searched(data)
    found = _found(searched)
    trials = [
        {**asdict(point), **tried, "cell": cell, "result": found.get(cell)}
        for point, tried, cell in zip(
            data.trials, _tried(data), _cells(data, searched), strict=True
        )
    ]
    curves = [
        {
            "panel": _joined(curve.column, curve.series),
            "curve": _joined(curve.measure, curve.direction),
            "series": curve.series,
            "direction": curve.direction,
            "delay_us": x,
            "share": y,
        }
        for curve in data.delays
        for x, y in curve.points
    ]
    tagged = any(each.command == "latency" for each in data.plan.experiment.measure)
    figures = [
        *figure_charts(table.columns, as_shown(data.plan.experiment, data.cells)),
        *computed_charts(table),
    ]
    of_trials = [
        *distribution_charts(curves, tagged=tagged),
        trace_chart(trials),
        time_chart(trials),
        *course_charts(delay_course(records) if records else []),
    ]
    named = named_apart([*of_trials, *figures])  # labels are free, the names of these are not
    return [*named[len(of_trials) :], *named[: len(of_trials)]]


def rate_quantity(command: str, units: Collection[str] = ()) -> str:
    """Returns of what the rate of a command's trials is, if need be by the units of its figures."""
    if command in OF_CONNECTIONS:
        return CONNECTIONS
    if command not in OF_EITHER or {"fps", "cps"} & set(units) == {"fps"}:
        return FRAMES
    return CONNECTIONS if "cps" in units else "frames or connections a second"


def _tried(data: CampaignData) -> Iterator[dict[str, Any]]:
    """Yields for each trial what it tried, of which quantity that is, and that of its rate. A
    capacity is searched after the rate of its first connections, which do not change meanwhile."""
    commands = {each.name: each.command for each in data.plan.experiment.measure}
    units: dict[str, set[str]] = {}
    for cell in data.cells:
        found = {figure.unit for each in cell.results for figure in each.figures if figure.primary}
        units.setdefault(cell.measure, set()).update(found)
    made: dict[tuple[str, ...], set[int | None]] = {}  # in each search for a capacity
    for point in data.trials:
        command = commands[point.measure]
        rate_of = rate_quantity(command, units.get(point.measure, ()))
        known = {"tried": point.rate_fps, "quantity": rate_of, "rate_of": rate_of}
        if command == "capacity":
            search = (point.column, point.measure, point.series, f"{point.round}")
            of = made.setdefault((*search, f"{point.repetition}"), set())
            of.add(point.made)
            known |= {"tried": point.made, "quantity": "connections"} if len(of) > 1 else {}
        yield known


def _cells(data: CampaignData, searched: dict[str, list[Figure]]) -> Iterator[str]:
    """Yields the name of each trial's cell, with the point of a series that has a search for each
    of its points."""
    points = {name: [figure.at for figure in figures] for name, figures in searched.items()}
    names = [_cell(data, each, each.series) for each in data.trials]
    begins = [each.number == 1 for each in data.trials]
    parts = Counter(compress(names, begins))
    seen: Counter[str] = Counter()
    for name, is_first in zip(names, begins, strict=True):
        seen[name] += is_first
        of = points.get(name, [])
        yield _joined(name, of[seen[name] - 1] if len(of) == parts[name] > 1 else "")


def _cell(data: CampaignData, of: TrialPoint | CellResult, series: str) -> str:
    number = f"round {of.round}" if data.plan.experiment.rounds > 1 else ""
    return _joined(of.measure, of.column, series, number)


def _searched(data: CampaignData) -> dict[str, list[Figure]]:
    """Returns what the searches of each cell and series found, a figure for each point."""
    searched = ("fps", "cps", "connections")
    found = {}
    for cell, shown in zip(data.cells, as_shown(data.plan.experiment, data.cells), strict=True):
        for series, result in zip(shown.series, cell.results, strict=True):
            main = [each for each in result.figures if each.primary]
            figures = [each for each in main if each.name == main[0].name]
            units = {each.unit for each in figures}
            if result.conditions.search is not None or units == {"connections"}:
                found[_cell(data, cell, series)] = figures if units <= set(searched) else []
    return found


def _found(searched: dict[str, list[Figure]]) -> dict[str, float]:
    """Returns what each search found, by its cell and point, as its trials tried it."""
    return {
        _joined(name, figure.at): figure.benchmark
        for name, figures in searched.items()
        for figure in reversed(figures)
        if figure.values
    }


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
