"""Draws the plots of a report: Vega-Lite specifications, made with altair.

In the page no drawing has a legend: the page writes it as HTML, which wraps on a narrow screen and
cuts no long name. None has its data there either, which the page holds once.
"""

from collections.abc import Callable, Mapping
from typing import Any

from natxy.report.charts import Chart, Kind
from natxy.report.drawing_parts import LONGEST_LABEL_PX, PAGE, Look
from natxy.report.figure_drawings import dots, lines
from natxy.report.heat_drawing import heat
from natxy.report.trial_drawings import course, over_time, percentiles, trace

DRAW: Mapping[Kind, Callable[[Chart, Look], Any]] = {
    "dots": dots,
    "lines": lines,
    "percentiles": percentiles,
    "trace": trace,
    "time": over_time,
    "course": course,
    "heat": heat,
}


def specification(chart: Chart, look: Look = PAGE) -> dict[str, Any]:
    """Returns a drawing as Vega-Lite has it (https://vega.github.io/vega-lite/docs/)."""
    drawn = DRAW[chart.kind](chart, look)
    drawn = drawn.configure_axis(
        labelLimit=LONGEST_LABEL_PX,
        labelFontSize=look.font_px,
        titleFontSize=look.font_px,
    )
    drawn = drawn.configure_axisX(labelSeparation=6).configure_legend(labelFontSize=look.font_px)
    specified: dict[str, Any] = drawn.to_dict(validate=False)
    return specified
