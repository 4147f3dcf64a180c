"""Draws lines of text: a distribution of durations, and the frame loss rate against the load.

RFC 2544 section 26.3 asks for a graph of the latter.
"""

import math
from collections.abc import Iterator, Sequence

from natxy.model.coded import duration
from natxy.model.distribution import Distribution
from natxy.model.measurement import Figure, Measurement
from natxy.report.numbers import ARROWS, marked

ROWS = 12
BAR_CHARACTERS = 40


def histogram_lines(distribution: Distribution) -> Iterator[str]:
    """Yields one line per row; rows have equal ratios if values span more than a decade, else equal
    widths."""
    if distribution.count == 0:
        return
    edges = _edges(distribution.min_ns, distribution.max_ns)
    counts = _counts(distribution, edges)
    tallest = max(counts)
    for edge_ns, count in zip(edges, counts, strict=True):
        # A rare value also gets a visible bar.
        length = max(1, round(count / tallest * BAR_CHARACTERS)) if count else 0
        yield f"{duration(edge_ns):>9} {'█' * length:<{BAR_CHARACTERS}} {count:,}"


def _edges(min_ns: float, max_ns: float) -> list[float]:
    """Returns the lower ends of the rows."""
    if max_ns <= min_ns:
        return [min_ns]
    if max_ns > 10 * max(min_ns, 1.0):
        low = max(min_ns, 1.0)
        ratio = max_ns / low
        return [low * math.pow(ratio, row / ROWS) for row in range(ROWS)]
    return [min_ns + (max_ns - min_ns) * row / ROWS for row in range(ROWS)]


def _counts(distribution: Distribution, edges: list[float]) -> list[int]:
    """Returns the count of each row; a bucket counts in the row in which it begins."""
    counts = [0] * len(edges)
    for lower_ns, _, count in distribution.buckets:
        row = sum(1 for edge_ns in edges if edge_ns <= lower_ns) - 1
        counts[max(0, row)] += count  # the first bucket may begin below the minimum
    return counts


def loss_chart(measurement: Measurement) -> Iterator[str]:
    """Yields a bar per rate, for each direction; a full bar is a loss of 100 %."""
    if measurement.procedure != "frame-loss":
        return
    figures = [figure for figure in measurement.figures if figure.primary]
    conditions = measurement.conditions
    size_bytes, percent = conditions.frame_size_bytes, conditions.foreground_percent
    networks = "" if conditions.networks == "1" else f", {conditions.networks} networks"
    traffic = f"{size_bytes} B, {percent:g} % foreground{networks}"
    for direction in dict.fromkeys(figure.direction for figure in figures):
        yield f"{ARROWS[direction]} {figures[0].name}, {traffic}"
        yield from _bars([figure for figure in figures if figure.direction == direction])
        yield ""


def _bars(figures: Sequence[Figure]) -> Iterator[str]:
    places = max(len(figure.at) for figure in figures)
    for figure in figures:
        if not figure.values:
            yield f"{figure.at:>{places}} {figure.missing}"
            continue
        percent = figure.benchmark
        # The smallest loss gets a visible bar, and only a loss of 100 % gets a full bar.
        length = max(1, int(percent / 100 * BAR_CHARACTERS)) if percent else 0
        bar = "█" * length
        yield f"{figure.at:>{places}} {bar:<{BAR_CHARACTERS}} {marked(figure, percent)}"
