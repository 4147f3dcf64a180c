"""Measurements of one procedure as a table: a row for each frame size, mix and figure, as the
reporting formats of RFC 2544 section 26 and RFC 8219 section 7 want it."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from natxy.model.measurement import Figure, Measurement
from natxy.report.connection_notes import connection_notes
from natxy.report.numbers import quantity, rate
from natxy.statistics import Summary, summary

ARROWS = {"forward": "→", "reverse": "←", None: ""}


def measurement_table(measurements: Sequence[Measurement]) -> Table:
    first = measurements[0]
    title = f"{first.title} of {first.conditions.dut} ({first.reference})"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
    figures = [figure for measurement in measurements for figure in measurement.figures]
    extremes = all(summary(figure.values).percentiles_are_extremes for figure in figures)
    ends = ("P1 = min", "P99 = max") if extremes else ("P1", "P99")
    for name in ("frame size", "foreground", "rate, fps", "figure"):
        right, breaks = name == "rate, fps", name == "figure"
        table.add_column(name, justify="right" if right else "left", no_wrap=not breaks)
    for name in ("median", *ends, "mean", "std. dev.", "n"):
        table.add_column(name, justify="right", no_wrap=True)  # a number is never cut off
    for measurement in measurements:
        for cells, primary in _rows(measurement):
            table.add_row(*cells, style="bold" if primary else "")
    return table


def _rows(measurement: Measurement) -> Iterator[tuple[list[str], bool]]:
    """What a row has in common with the one above it is not said again."""
    conditions = measurement.conditions
    place = [
        f"{conditions.frame_size_bytes} B",
        f"{conditions.foreground_percent:g} %",
        "" if conditions.rate_fps is None else rate(conditions.rate_fps),
    ]
    for figure in measurement.figures:
        name = " ".join(word for word in (ARROWS[figure.direction], figure.name, figure.at) if word)
        yield [*place, name, *_cells(figure, summary(figure.values))], figure.primary
        place = ["", "", ""]


def _cells(figure: Figure, of: Summary) -> list[str]:
    def cell(value: float) -> str:
        bound = "≥ " if figure.is_lower_bound(value) else ""
        return bound + quantity(value, figure.unit)

    plain = [quantity(of.mean, figure.unit), quantity(of.standard_deviation, figure.unit)]
    return [cell(of.median), cell(of.p1), cell(of.p99), *plain, str(of.n)]


def measurement_notes(measurements: Sequence[Measurement]) -> list[str]:
    """What must not be missing beside the figures, a sentence each."""
    said = [note for measurement in measurements for note in _notes(measurement)]
    return list(dict.fromkeys(said))


def _notes(measurement: Measurement) -> Iterator[str]:
    conditions, counts = measurement.conditions, measurement.counts
    yield (
        f"→ left (IPv{conditions.left_ip_version}) to right (IPv{conditions.right_ip_version}), "
        "← right to left; rates are per direction; frame sizes are those of IPv6, IPv4 frames are "
        "20 bytes smaller."
    )
    if measurement.departures:
        yield f"Does not conform to {measurement.reference}: {'; '.join(measurement.departures)}."
    else:
        yield f"As {measurement.reference} defines it."
    yield from measurement.remarks
    yield from connection_notes(conditions.connections, counts)
    if any(any(figure.lower_bound) for figure in measurement.figures):
        yield "≥: a lower bound, limited by the tester or by the highest value that was tried."
    if counts.invalid_trials:
        yield (
            f"{counts.invalid_trials:,} of {counts.trials:,} trials were invalid and were repeated "
            "or left out."
        )
    if counts.negative_delays:
        yield (
            f"{counts.negative_delays:,} delays were below 0 by the clocks and count as 0: "
            "the figures are not better than that."
        )
    if counts.misdelivered:
        yield f"{counts.misdelivered:,} frames were misdelivered."
    if counts.duplicated:
        yield f"{counts.duplicated:,} frames came twice."
