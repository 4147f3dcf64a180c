"""Draws the plots of the documentation, as SVG files, from the measurements of its examples.

A plot is a chart of `natxy report`. In a file it has what the HTML report writes around a chart: a
title and a legend. Its background is white, so that it can be read on a dark page as well.
"""

from pathlib import Path
from typing import Any

import vl_convert

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.report import charts_of, table_of
from natxy.report.charts import Chart

# The chart's key in the report, by the file under docs/reference/plots.
PLOTS = {
    "degradation.svg": "degradation-connections-a-second",
    "establishment.svg": "trials",
    "frame-loss.svg": "frame-loss",
    "mlrsearch.svg": "trials",
    "overload.svg": "overload-frames-a-second",
    "pdv.svg": "delays",
}
WIDTH, HEIGHT = 640, 300
# Columns are far apart, because a reader's font may be wider than the one that is laid out here.
LEGEND = {"orient": "bottom", "title": None, "labelLimit": 0, "columns": 3, "columnPadding": 40}
# Of an axis, whose longest title is as long as the axis is high.
FONTS = {"titleFontSize": 10, "titlePadding": 14}


def draw(results: Path, plot: Path) -> None:
    """Draws a plot of a measurement's results; KeyError if it is unknown or has no such chart."""
    data = read_data(CampaignFolder(path=results))
    table = table_of(data)
    charts = {chart.key: chart for chart in charts_of(data, table)}
    drawn = vl_convert.vegalite_to_svg(specification(charts[PLOTS[plot.name]], table.title))
    plot.parent.mkdir(exist_ok=True)
    plot.write_text(drawn + "\n", encoding="utf-8")


def specification(chart: Chart, of: str) -> dict[str, Any]:
    """Returns the chart as a drawing of its own, below the title of its measurement."""
    encoding = dict(chart.spec["encoding"])
    if len({row[encoding["color"]["field"]] for row in chart.rows}) > 1:
        for channel in encoding.keys() & {"color", "shape"}:
            encoding[channel] = encoding[channel] | {"legend": LEGEND}
    if encoding["x"]["type"] == "nominal":
        encoding["x"] = encoding["x"] | {"axis": encoding["x"]["axis"] | {"labelAngle": 0}}
    axis = chart.spec["config"]["axis"] | FONTS
    # The command's name alone says no more than the title of its measurement.
    subtitle = "" if chart.title == chart.key else chart.title[0].upper() + chart.title[1:]
    return chart.spec | {
        "data": {"values": chart.rows},
        "encoding": encoding,
        "title": {"text": of, "subtitle": subtitle, "anchor": "start"},
        "width": WIDTH,
        "height": HEIGHT,
        "autosize": "pad",
        "padding": 10,
        "background": "white",
        "config": {"axis": axis, "aria": False},  # the page has a text for who can't see it
    }
