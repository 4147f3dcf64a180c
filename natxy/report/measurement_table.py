"""Shows the measurements of one procedure as a table, with a row per frame size, mix and figure.

This follows the reporting formats of RFC 2544 section 26 and RFC 8219 section 7. Several gateways
can be shown side by side.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap

from rich import box
from rich.cells import cell_len
from rich.table import Table

from natxy.model.deviation import Deviation
from natxy.model.measurement import Conditions, Figure, Measurement, TrialCounts
from natxy.model.standing_deviations import STANDING
from natxy.report.measurement_notes import (
    checksum_notes,
    connection_notes,
    device_notes,
    disturbance_notes,
    icmp_notes,
    media_notes,
    noise_notes,
    verification_notes,
)
from natxy.report.numbers import ARROWS, SIGNS, duration, marked, quantity, rate
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
DIRECTIONS = {"both": "both ways", "forward": "left to right", "reverse": "right to left"}
FRAME_SIZES = "Frame sizes are those of IPv6; IPv4 frames are 20 bytes smaller."
RATE, MEDIA = "rate, fps", "media,\nfps"  # shown only if there is a value
NAME = "figure"  # the only column whose cells may be wrapped
NETWORKS = "net-\nworks"  # shown only if a measurement has several networks
PLACE = ("frame\nsize", "fore-\nground", NETWORKS, MEDIA, RATE, NAME)
DISPERSION = "disper-\nsion"
HEAD = 13  # characters of a gateway's name in a line above its column
SPREAD = ("mean", "std. dev.", DISPERSION)


def measurement_tables(measurements: Sequence[Measurement], width: int) -> list[Table]:
    """Returns one table, or two if one would be wider than `width`; numbers are never cut off."""
    columns = _columns(measurements)
    if _width(columns) <= width:
        return [_table(measurements, columns, width)]
    above = [column for column in columns if column.name not in SPREAD]
    below = [column for column in columns if column.name in (*PLACE, *SPREAD, "n")]
    return [_table(measurements, above, width), _table(measurements, below, width)]


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
    extremes = all(summary(figure.values).percentiles_are_extremes for figure in figures)
    several = any(m.conditions.networks != "1" for m in measurements)
    rows = [
        row
        for measurement in measurements
        for row in _rows(measurement, extremes=extremes, networks=several)
    ]
    names = [*PLACE, *_names(extremes=extremes)]
    columns = [
        _Column(name=name, cells=tuple(row[place] for row in rows))
        for place, name in enumerate(names)
    ]
    optional = (RATE, MEDIA, NETWORKS)
    return [column for column in columns if column.name not in optional or any(column.cells)]


def _names(*, extremes: bool) -> tuple[str, ...]:
    """Returns the names of the columns; with fewer than 100 repetitions P1 is the minimum and P99
    the maximum, so one column shows both."""
    if extremes:
        return ("median", "minimum\n(= P1)", "maximum\n(= P99)", *SPREAD, "n")
    return ("median", "minimum", "maximum", "P1", "P99", *SPREAD, "n")


def _rows(measurement: Measurement, *, extremes: bool, networks: bool) -> Iterator[list[str]]:
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
        yield [*place, name, *_cells(figure, summary(figure.values), extremes=extremes)]
        place = [""] * len(place)


def _cells(figure: Figure, of: Summary, *, extremes: bool) -> list[str]:
    ends = [of.minimum, of.maximum] if extremes else [of.minimum, of.maximum, of.p1, of.p99]
    dispersion = of.dispersion_percent
    return [
        *[marked(figure, value) for value in (of.median, *ends)],
        SIGNS[figure.mean_bound] + quantity(of.mean, figure.unit),
        quantity(of.standard_deviation, figure.unit),
        "" if dispersion is None else quantity(dispersion, "%"),
        str(of.n),
    ]


def side_by_side(title: str, measurements: Sequence[Measurement]) -> Table:
    """Returns a table of the first figure with a column per gateway; four fit 80 characters."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
    table.min_width = len(title) + 1
    table.padding = (0, 1, 0, 0)
    table.add_column("", no_wrap=True)
    for measurement in measurements:
        table.add_column("\n".join(wrap(measurement.conditions.dut, HEAD)), justify="right")
    for name, *cells in zip(*_device_columns(measurements), strict=True):
        table.add_row(name, *cells, style="bold" if name == "median" else "")
    return table


def _device_columns(measurements: Sequence[Measurement]) -> Iterator[list[str]]:
    """Yields the names of the rows, then the cells of each gateway."""
    summaries = [summary(measurement.figures[0].values) for measurement in measurements]
    extremes = all(of.percentiles_are_extremes for of in summaries)
    statistics = _names(extremes=extremes)
    above = ("IP versions", "direction", "frame size")
    below = ("repetitions (n)", "misdelivered", "duplicated", "invalid trials", "worst lateness")
    shown = [place for place, name in enumerate(statistics) if name not in (*SPREAD, "n")]
    yield [*above, *[statistics[place].replace("\n", " ") for place in shown], *below]
    for measurement, of in zip(measurements, summaries, strict=True):
        conditions, counts = measurement.conditions, measurement.counts
        cells = _cells(measurement.figures[0], of, extremes=extremes)
        yield [
            f"{conditions.left_ip_version} and {conditions.right_ip_version}",
            DIRECTIONS[conditions.direction],
            f"{conditions.frame_size_bytes} B",
            *[cells[place] for place in shown],
            str(of.n),
            f"{counts.misdelivered:,}",
            f"{counts.duplicated:,}",
            _invalid(counts),
            duration(counts.worst_lateness_ns),
        ]


def _invalid(counts: TrialCounts) -> str:
    """Returns the count of invalid trials with their share of all trials."""
    return (
        f"{counts.invalid_trials:,} ({counts.invalid_percent:.0f} %)"
        if counts.invalid_trials
        else "0"
    )


def side_by_side_notes(measurements: Sequence[Measurement]) -> list[str]:
    """Returns the notes of that table; a note names its gateway unless all gateways have it."""
    shared_deviations = set.intersection(*[set(each.deviations) for each in measurements])
    said = {
        measurement.conditions.dut: [
            *_explanations(measurement, measurement.counts, shared_deviations),
            *disturbance_notes(measurement.counts.disturbance),
            *device_notes((measurement.conditions.left_media, measurement.conditions.right_media)),
            FRAME_SIZES,
        ]
        for measurement in measurements
    }
    shared = set.intersection(*[set(notes) for notes in said.values()])
    named = (
        note if note in shared else f"{dut}: {note}"
        for dut, notes in said.items()
        for note in notes
    )
    return list(dict.fromkeys(named))


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


def _conformity(measurement: Measurement, shared: Collection[Deviation]) -> Iterator[str]:
    """Yields the deviations that the measurements beside it share, then the others."""
    if not measurement.reference:
        yield "No RFC defines this measurement."
    elif measurement.deviations:
        first = [each for each in measurement.deviations if each in shared or not shared]
        yield f"Does not conform to {measurement.reference}: {'; '.join(map(str, first))}."
        if others := [each for each in measurement.deviations if each not in first]:
            yield f"More deviations: {'; '.join(map(str, others))}."
    else:
        yield f"Conforms to {measurement.reference}, except for: {'; '.join(map(str, STANDING))}."


def _explanations(
    measurement: Measurement, counts: TrialCounts, shared_deviations: Collection[Deviation] = ()
) -> Iterator[str]:
    """Yields the notes that no table replaces."""
    yield from measurement.conditions.formats
    yield from _conformity(measurement, shared_deviations)
    yield from measurement.remarks
    yield from connection_notes(measurement.conditions.connections, counts)
    yield from icmp_notes(counts.icmp_errors)
    explained = any(remark.startswith("≥") for remark in measurement.remarks)
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
