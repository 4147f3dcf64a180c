"""Draws the plots of the documentation, as SVG files, from the measurements of its examples.

A plot is one of the pictures of `natxy report`, as wide as a page of the documentation.
"""

import re
from pathlib import Path

import vl_convert

from natxy.campaign.data import read_data
from natxy.campaign.report import charts_of, table_of
from natxy.report.drawing_parts import Look
from natxy.report.drawings import picture

# The chart's key in the report, by the file under docs/reference/plots.
PLOTS = {
    "degradation.svg": "degradation-connections-a-second",
    "establishment.svg": "trials",
    "frame-loss.svg": "frame-loss",
    "mlrsearch.svg": "trials",
    "overload.svg": "overload-frames-a-second",
    "pdv.svg": "delays",
}
ARIA = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
# A reader's font may be wider than the one that is laid out here, so the text is small.
LOOK = Look(is_alone=True, width_px=720, font_px=10)


def draw(results: Path, plot: Path) -> None:
    """Draws a plot of a measurement's results; KeyError if it is unknown or has no such chart."""
    data = read_data(results)
    table = table_of(data)
    charts = {chart.key: chart for chart in charts_of(data, table)}
    shown = picture(charts[PLOTS[plot.name]], table.title, look=LOOK)
    plot.parent.mkdir(exist_ok=True)
    drawn = ARIA.sub("", vl_convert.vegalite_to_svg(shown))  # nobody reads it in a picture
    plot.write_text(f"{drawn}\n", encoding="utf-8")
