"""The main figures of one gateway, and the throughputs of several, as tables."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from natxy.model.measurement import Figure, Measurement
from natxy.report.numbers import ARROWS, marked
from natxy.statistics import median

NAMED_UNITS = ("fps", "cps")  # the values themselves show the other units


def gateway_table(gateway: str, results: Sequence[Measurement]) -> Table:
    """Returns a table with a row for each main figure; it fits 80 characters."""
    table = Table(title=gateway, title_justify="left", title_style="bold", box=box.SIMPLE)
    table.padding = (0, 1, 0, 0)
    table.min_width = len(gateway) + 1
    table.add_column("")
    for statistic in ("median", "minimum", "maximum", "n", "in-\nvalid"):
        table.add_column(statistic, justify="right", no_wrap=True)
    for result in results:
        for figure in result.figures:
            if figure.primary and figure.values:
                invalid = f"{result.counts.invalid_percent:.0f} %"  # of all trials
                table.add_row(_name(figure), *_cells(figure), invalid)
    return table


def throughput_table(title: str, results: Sequence[Measurement]) -> Table:
    """Returns a table with a row for each gateway; it fits 80 characters."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.padding = (0, 1, 0, 0)
    table.show_edge = False
    table.min_width = len(title) + 1
    table.add_column("", no_wrap=True)
    for name in ("median", "minimum", "maximum", "misde-\nlivered", "in-\nvalid"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        counts = result.counts
        ends = (f"{counts.misdelivered:,}", f"{counts.invalid_percent:.0f} %")
        *values, _ = _cells(result.figures[0])
        table.add_row(result.conditions.dut, *values, *ends)
    return table


def conformance_notes(results: Sequence[Measurement]) -> Iterator[str]:
    """Yields a sentence that names the measurements which do not conform to their RFCs."""
    named = [result.procedure for result in results if result.deviations]
    if named:
        yield (
            f"Not as the RFCs ask for, mostly because trials are short: {', '.join(named)}. "
            "results.json has each deviation."
        )


def _name(figure: Figure) -> str:
    words = (ARROWS[figure.direction], figure.title)
    unit = f", {figure.unit}" if figure.unit in NAMED_UNITS else ""
    return " ".join(word for word in words if word) + unit


def _cells(figure: Figure) -> list[str]:
    values = (median(figure.values), min(figure.values), max(figure.values))
    return [*(marked(figure, value) for value in values), str(len(figure.values))]
