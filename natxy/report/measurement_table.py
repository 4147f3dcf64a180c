"""Shows the measurements of one procedure as a table, with a row per frame size, mix and figure.

This follows the reporting formats of RFC 2544 section 26 and RFC 8219 section 7.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rich import box
from rich.cells import cell_len
from rich.table import Table

from natxy.model.deviation import STANDING
from natxy.model.duration import duration
from natxy.model.measurement import Conditions, Figure, Measurement, Statistic, TrialCounts
from natxy.model.remark import BOUNDS
from natxy.report.measurement_notes import (
    checksum_notes,
    connection_notes,
    icmp_notes,
    media_notes,
    noise_notes,
    verification_notes,
)
from natxy.report.numbers import ARROWS, SIGNS, marked, quantity, rate
from natxy.statistics import Summary, summary

WAYS = {
    "both": "→ left ({left}) to right ({right}) and ← right to left at once",
    "forward": "→ left ({left}) to right ({right}) only",
    "reverse": "← right ({right}) to left ({left}) only",
}
VALIDATED = {
    "forward": "→ left ({left}) to right ({right}), then ← right to left in validation",
    "reverse": "← right ({right}) to left ({left}), then → left to right in validation",
}
FRAME_SIZES = "Frame sizes are those of IPv6; IPv4 frames are 20 bytes smaller."
RATE, MEDIA = "rate, fps", "media,\nfps"  # shown only if there is a value
NAME = "figure"  # the only column whose cells may be wrapped
NETWORKS = "net-\nworks"  # shown only if a measurement has several networks
PLACE = ("frame\nsize", "fore-\nground", NETWORKS, MEDIA, RATE, NAME)
DISPERSION = "disper-\nsion"
# Beside the benchmark, which is the median or the mean: the other of them, and these.
SPREAD = ("std. dev.", DISPERSION)
OTHER: Mapping[Statistic, Statistic] = {"median": "mean", "mean": "median"}


def measurement_tables(measurements: Sequence[Measurement], width: int) -> list[Table]:
    """Returns one table, or two if one would be wider than `width`; numbers are never cut off."""
    columns = _columns(measurements)
    if _width(columns) <= width:
        return [_table(measurements, columns, width)]
    spread = (OTHER[_statistic(measurements)], *SPREAD)
    above = [column for column in columns if column.name not in spread]
    below = [column for column in columns if column.name in (*PLACE, *spread, "n")]
    return [_table(measurements, above, width), _table(measurements, below, width)]


def _statistic(measurements: Sequence[Measurement]) -> Statistic:
    """Returns the benchmark of the measurements, which is that of their first figures."""
    return next((f.statistic for each in measurements for f in each.figures), "median")


@dataclass(frozen=True, kw_only=True)
class _Column:
    name: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        """The least width in which no cell is cut off."""
        texts = chain.from_iterable(text.split("\n") for text in (self.name, *self.cells))
        if self.name == NAME:
            texts = chain.from_iterable(text.split() for text in texts)
        return max(cell_len(text) for text in texts)


def _width(columns: Sequence[_Column]) -> int:
    """Returns the width of a table with these columns, spaces between them included."""
    return sum(column.width + 2 for column in columns) + 1


def _table(measurements: Sequence[Measurement], columns: Sequence[_Column], width: int) -> Table:
    first = measurements[0]
    source = f" ({first.reference})" if first.reference else ""
    title = f"{first.title} of {first.conditions.dut}{source}"
    table = Table(title=title, box=box.SIMPLE, title_style="bold", title_justify="left")
    table.padding = (0, 1, 0, 0)
    table.width = _width(columns) if _width(columns) > width else None
    for column in columns:
        left = column.name in (*PLACE[:2], NAME)
        table.add_column(
            column.name,
            justify="left" if left else "right",
            no_wrap=column.name != NAME,
            min_width=column.width,
        )
    primary = [figure.primary for measurement in measurements for figure in measurement.figures]
    for number, is_primary in enumerate(primary):
        cells = [column.cells[number] for column in columns]
        table.add_row(*cells, style="bold" if is_primary else "")
    return table


def _columns(measurements: Sequence[Measurement]) -> list[_Column]:
    figures = [figure for measurement in measurements for figure in measurement.figures]
    with_values = [figure for figure in figures if figure.values]
    extremes = all(summary(each.values).percentiles_are_extremes for each in with_values)
    several = any(m.conditions.networks != "1" for m in measurements)
    statistic = _statistic(measurements)
    rows = [
        row
        for measurement in measurements
        for row in _rows(measurement, statistic, extremes=extremes, networks=several)
    ]
    names = [*PLACE, *_names(statistic, extremes=extremes)]
    columns = [
        _Column(name=name, cells=tuple(row[place] for row in rows))
        for place, name in enumerate(names)
    ]
    optional = (RATE, MEDIA, NETWORKS)
    return [column for column in columns if column.name not in optional or any(column.cells)]


def _names(statistic: Statistic, *, extremes: bool) -> tuple[str, ...]:
    """Returns the names of the columns, the benchmark first; with fewer than 100 repetitions P1 is
    the minimum and P99 the maximum, so one column shows both."""
    ends = ("minimum\n(= P1)", "maximum\n(= P99)")
    shown = ends if extremes else ("minimum", "maximum", "P1", "P99")
    return (statistic, *shown, OTHER[statistic], *SPREAD, "n")


def _rows(
    measurement: Measurement, statistic: Statistic, *, extremes: bool, networks: bool
) -> Iterator[list[str]]:
    """Yields the rows of a measurement; only the first one shows its conditions."""
    conditions = measurement.conditions
    place = [
        f"{conditions.frame_size_bytes} B",
        f"{conditions.foreground_percent:g} %",
        conditions.networks if networks else "",
        *[
            "" if rate_fps is None else rate(rate_fps)
            for rate_fps in (conditions.theoretical_fps, conditions.rate_fps)
        ],
    ]
    for figure in measurement.figures:
        name = " ".join(word for word in (ARROWS[figure.direction], figure.title) if word)
        yield [*place, name, *_figure_cells(figure, statistic, extremes=extremes)]
        place = [""] * len(place)


def _figure_cells(figure: Figure, statistic: Statistic, *, extremes: bool) -> list[str]:
    if figure.values:
        return _cells(figure, summary(figure.values), statistic, extremes=extremes)
    others = len(_names(statistic, extremes=extremes)) - 2
    return [figure.missing, *[""] * others, "0"]


def _cells(figure: Figure, of: Summary, statistic: Statistic, *, extremes: bool) -> list[str]:
    ends = [of.minimum, of.maximum] if extremes else [of.minimum, of.maximum, of.p1, of.p99]
    dispersion = of.dispersion_percent
    averages = {
        "median": marked(figure, of.median),
        "mean": SIGNS[figure.mean_bound] + quantity(of.mean, figure.unit),
    }
    return [
        averages[statistic],
        *[marked(figure, value) for value in ends],
        averages[OTHER[statistic]],
        quantity(of.standard_deviation, figure.unit),
        "" if dispersion is None else quantity(dispersion, "%"),
        str(of.n),
    ]


def measurement_notes(measurements: Sequence[Measurement]) -> list[str]:
    """Returns the notes under the table; trials of all measurements are counted together."""
    counts = TrialCounts.total(measurement.counts for measurement in measurements)
    said = [note for measurement in measurements for note in _notes(measurement, counts)]
    return list(dict.fromkeys(said))


def _is_validated(conditions: Conditions) -> bool:
    return conditions.connections is not None and conditions.connections.validated


def _notes(measurement: Measurement, counts: TrialCounts) -> Iterator[str]:
    conditions = measurement.conditions
    left, right = f"IPv{conditions.left_ip_version}", f"IPv{conditions.right_ip_version}"
    way = (VALIDATED if _is_validated(conditions) else WAYS)[conditions.direction]
    yield f"{way.format(left=left, right=right)}. Rates are per direction. {FRAME_SIZES}"
    yield from media_notes(conditions)
    yield from _explanations(measurement, counts)
    if counts.worst_lateness_ns:
        yield (
            "In valid trials, frames were sent at most "
            f"{duration(counts.worst_lateness_ns)} after they were due."
        )
    yield from noise_notes(counts)
    if counts.misdelivered:
        yield f"{counts.misdelivered:,} frames were misdelivered."
    if counts.duplicated:
        yield f"{counts.duplicated:,} frames were duplicated."
    if counts.reordered:
        yield f"{counts.reordered:,} frames were reordered."
    if counts.gaps:
        yield (
            f"Over all trials, {counts.lost:,} frames were lost, in {counts.gaps:,} gaps of the "
            "numbering."
        )


def _conformity(measurement: Measurement) -> Iterator[str]:
    if not measurement.reference:
        yield "No RFC defines this measurement."
    elif measurement.deviations:
        deviations = "; ".join(map(str, measurement.deviations))
        yield f"Does not conform to {measurement.reference}: {deviations}."
    else:
        yield f"Conforms to {measurement.reference}, except for: {'; '.join(map(str, STANDING))}."


def _explanations(measurement: Measurement, counts: TrialCounts) -> Iterator[str]:
    """Yields the notes that no table replaces."""
    yield from measurement.conditions.formats
    yield from _conformity(measurement)
    yield from map(str, measurement.remarks)
    yield from connection_notes(measurement.conditions.connections, counts)
    yield from icmp_notes(counts.icmp_errors)
    explained = any(remark.code in BOUNDS for remark in measurement.remarks)
    if not explained and any(any(figure.lower_bound) for figure in measurement.figures):
        yield (
            "≥ marks a lower bound: trials above this value stayed invalid, or it is the highest "
            "value that was tried."
        )
    yield from verification_notes(counts)
    if counts.negative_delays and any(figure.unit == "ns" for figure in measurement.figures):
        yield (
            f"{counts.negative_delays:,} delays were negative, because the clocks are not exact. "
            "They count as 0."
        )
    yield from checksum_notes(counts)
