"""The main figures of one gateway, and the throughputs of several, as tables."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from natxy.model.measurement import Figure, Measurement
from natxy.report.cell_figures import rate_words
from natxy.report.numbers import ARROWS, benchmark, marked

NAMED_UNITS = ("fps", "cps")  # the values themselves show the other units


def gateway_table(gateway: str, results: Sequence[Measurement]) -> Table:
    """Returns a table with a row for each main figure; it fits 80 characters."""
    table = Table(title=gateway, title_justify="left", title_style="bold", box=box.SIMPLE)
    table.padding = (0, 1, 0, 0)
    table.min_width = len(gateway) + 1
    table.add_column("")
    for statistic in ("median,\nor mean", "minimum", "maximum", "n", "in-\nvalid"):
        table.add_column(statistic, justify="right", no_wrap=True)
    for result in results:
        for figure in result.figures:
            if figure.primary and (figure.values or figure.missing):
                invalid = f"{result.counts.invalid_percent:.0f} %"  # of all trials
                table.add_row(_name(result, figure), *_cells(figure), invalid)
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


def _name(result: Measurement, figure: Figure) -> str:
    words = (ARROWS[figure.direction], figure.title)
    rates = rate_words(result.conditions, figure, summed=False)
    unit = " ".join(filter(None, (figure.unit, rates))) if figure.unit in NAMED_UNITS else ""
    mean = "mean" if figure.statistic == "mean" else ""
    return ", ".join(filter(None, (" ".join(word for word in words if word), unit, mean)))


def _cells(figure: Figure) -> list[str]:
    extremes = [marked(figure, end(figure.values)) if figure.values else "" for end in (min, max)]
    return [benchmark(figure), *extremes, str(len(figure.values))]
