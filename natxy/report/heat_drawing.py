"""Draws a heat map: a field for each pair of two quantities, with its value in it."""

from typing import Any

import altair as alt

from natxy.report.charts import Chart
from natxy.report.drawing_parts import DATA, Look, panels, sized, values_of

# Both so light that black letters can be read on them, and none that glares on a dark page.
COLOURS = ["#c9dff0", "#6fabd9"]
INK = "#1b1f24"
CELL_PX = 34
LETTER_PX = 6.5  # of a title, which is as long as its axis
GAP = 0.02  # of a field
SHOWN = (
    "datum.missing !== '' ? '?' : "
    "{exact: '', lower: '≥ ', upper: '≤ '}[datum.bound] + "
    "format(datum.benchmark, indexof(['µs', '%'], datum.unit) < 0 ? '.3~s' : ',.3~r')"
)


def heat(chart: Chart, look: Look) -> Any:
    x, y = (
        _axis(kind, chart.words[name], title)
        for kind, name, title in zip((alt.X, alt.Y), ("x", "y"), chart.words["titles"], strict=True)
    )
    base = alt.Chart(DATA).encode(x=x, y=y)
    scale = alt.Scale(range=COLOURS)
    cells = base.mark_rect().encode(
        color=alt.Color("benchmark:Q", scale=scale, legend=None),
        tooltip=[f"{name}:N" for name in ("panel", "column", "at", "benchmark", "bound")],
    )
    said = base.mark_text(color=INK, fontSize=look.font_px).encode(text="shown:N")
    drawn = alt.layer(cells, said.transform_calculate(shown=SHOWN))
    title = "" if chart.words["y"] == "column" else chart.words["titles"][1]
    height = max(CELL_PX * len(values_of(chart.words["y"], chart)), int(LETTER_PX * len(title)))
    if len(values_of("panel", chart)) == 1:
        return sized(drawn, look, height)
    return panels(drawn, "panel", chart, look, height=height)


def _axis(kind: Any, field: str, title: str) -> Any:
    scale = alt.Scale(paddingInner=GAP)
    if field == "column":
        axis = alt.Axis(labelAngle=0)
        return kind("column:N", title=None, sort=None, scale=scale, axis=axis)
    axis = alt.Axis(labelAngle=0, format=",~r")
    return kind(f"{field}:O", title=title, scale=scale, axis=axis)
