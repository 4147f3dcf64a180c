"""Draws the frame loss rate against the load as text (RFC 2544 section 26.3 asks for a graph)."""

from collections.abc import Iterator, Sequence

from natxy.model.measurement import Figure, Measurement
from natxy.report.measurement_table import ARROWS
from natxy.report.numbers import quantity
from natxy.statistics import median

PROCEDURE = "frame-loss"
BAR_CHARACTERS = 40


def loss_chart(measurement: Measurement) -> Iterator[str]:
    """Yields a bar per rate, for each direction; a full bar is a loss of 100 %."""
    if measurement.procedure != PROCEDURE:
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
        percent = median(figure.values)
        # The smallest loss gets a visible bar, and only a loss of 100 % gets a full bar.
        length = max(1, int(percent / 100 * BAR_CHARACTERS)) if percent else 0
        bar = "█" * length
        yield f"{figure.at:>{places}} {bar:<{BAR_CHARACTERS}} {quantity(percent, figure.unit)}"
