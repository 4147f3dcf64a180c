"""Draws figures: dots with the range of their repetitions, or lines over a quantity."""

from typing import Any

import altair as alt

from natxy.report.charts import Chart, Rows
from natxy.report.drawing_parts import (
    DATA,
    LINES,
    ROOM,
    ROW_PX,
    VALUE_PX,
    Look,
    colour,
    number_format,
    sized,
    values_of,
)

# A figure, and values that it is at least or at most.
SHAPES = {"exact": "circle", "lower": "triangle-right", "upper": "triangle-left"}
MEASURED, MISSING = "datum.missing === ''", "datum.missing !== ''"
SURE, UNSURE = "!datum.uncertain", "datum.uncertain"
RANGE = "datum.minimum < datum.maximum"
MEDIA = "#888"
DASHES = alt.Scale(domain=["forward", "reverse"], range=[[1, 0], [6, 3]])


def dots(chart: Chart, look: Look) -> Any:
    """Draws a dot for each value, with the range of its repetitions, over one axis of values."""
    place, of = chart.words["place"], chart.words["of"]
    places, values = values_of(place, chart), values_of(of, chart)
    is_one = place == of or len(values) == 1  # at each place
    base = alt.Chart(DATA).encode(
        y=alt.Y(
            f"{place}:N",
            sort=chart.words["order"],
            title=None,
            axis=alt.Axis(labelExpr=LINES, grid=True),
        ),
        color=alt.Color(f"{of}:N", legend=None, sort=None) if is_one else colour(of, chart, look),
        **({} if is_one else {"yOffset": alt.YOffset(f"{of}:N", sort=None)}),
    )
    field = "benchmark" if "benchmark" in chart.rows[0] else "value"  # of what is computed
    largest = max((row["maximum"] if "maximum" in row else row["value"]) or 0 for row in chart.rows)
    axis = alt.Axis(format=number_format(largest, chart.rows[0]["unit"]))
    x = alt.X(f"{field}:Q", title=chart.words["axis"], axis=axis)
    layers = [*_ranges(base, chart.rows), *(each.encode(x=x) for each in _points(base, chart.rows))]
    if _any(chart.rows, "missing"):
        words = base.transform_filter(MISSING).mark_text(align="left", dx=4)
        ink = alt.value(look.ink)
        layers.append(words.encode(x=alt.datum(0), text="missing:N", color=ink))
    height = ROW_PX if is_one else max(ROW_PX, VALUE_PX * len(values))
    return sized(alt.layer(*layers), look, height * len(places))


def _points(base: Any, rows: Rows) -> list[Any]:
    """Returns a layer for each kind of values; those that are uncertain are hollow."""
    measured = base.transform_filter(MEASURED) if "missing" in rows[0] else base
    shapes = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
    drawn = measured.encode(
        shape=alt.Shape("bound:N", legend=None, scale=shapes), tooltip=_tips(rows)
    )
    kinds = {bool(row.get("uncertain")) for row in rows}
    if len(kinds) == 1:  # a layer without data has an axis without an end
        return [drawn.mark_point(filled=kinds == {False}, size=70, opacity=1)]
    return [
        drawn.transform_filter(SURE).mark_point(filled=True, size=70, opacity=1),
        drawn.transform_filter(UNSURE).mark_point(filled=False, size=70, opacity=1),
    ]


def _ranges(base: Any, rows: Rows) -> list[Any]:
    """Returns the layer of the ranges; none for no data, whose axis would be a warning."""
    if not any(row.get("minimum") != row.get("maximum") for row in rows):
        return []
    rule = base.transform_filter(RANGE).mark_rule(strokeWidth=2)
    return [rule.encode(x=alt.X("minimum:Q"), x2=alt.X2("maximum:Q"))]


def _any(rows: Rows, field: str) -> bool:
    return any(row.get(field) for row in rows)


def lines(chart: Chart, look: Look) -> Any:
    """Draws a line over a quantity, such as the offered rate; it ends where nothing is known."""
    words = chart.words
    largest = max(row[words["x"]] for row in chart.rows)
    x = alt.X(
        f"{words['x']}:Q",
        title=words["x_title"],
        scale=alt.Scale(**ROOM, **({"type": "log"} if words["x_is_wide"] else {})),
        axis=alt.Axis(format=number_format(largest)),
    )
    shown: dict[str, Any] = {"domain": [0, 100]} if words["is_share"] else ROOM
    y = alt.Y("benchmark:Q", title=words["axis"], scale=alt.Scale(**shown))
    is_dashed = "line_of_both" in chart.rows[0]
    hue = colour("line_of_both" if is_dashed else "line", chart, look)
    base = alt.Chart(DATA).encode(x=x, color=hue, detail="line:N")
    drawn = base.mark_line().encode(y=y)
    if is_dashed:
        drawn = drawn.encode(strokeDash=alt.StrokeDash("direction:N", legend=None, scale=DASHES))
    layers = [drawn, *(each.encode(y=y) for each in _points(base, chart.rows))]
    if any(row["minimum"] != row["maximum"] for row in chart.rows):
        rule = base.transform_filter(RANGE).mark_rule()
        layers.append(rule.encode(y=alt.Y("minimum:Q"), y2=alt.Y2("maximum:Q")))
    if _any(chart.rows, "missing"):
        mark = base.transform_filter(MISSING).mark_text(
            text="?", baseline="bottom", fontWeight="bold"
        )
        tips = ["line:N", f"{words['x']}:Q", "missing:N"]
        layers.append(mark.encode(y=alt.datum(0), tooltip=tips))
    if _any(chart.rows, "media_fps"):
        media = base.mark_line(strokeDash=[1, 3])
        layers.append(media.encode(y=alt.Y("media_fps:Q"), color=alt.value(MEDIA)))
    return sized(alt.layer(*layers), look)


def _tips(rows: Rows) -> list[alt.Tooltip]:
    words = ("column", "figure", "direction", "row", "at", "unit", "n", "bound", "statistic")
    numbers = ("benchmark", "value", "minimum", "maximum")
    return [
        *(alt.Tooltip(f"{name}:N") for name in words if name in rows[0]),
        *(alt.Tooltip(f"{name}:Q", format=",.4~r") for name in numbers if name in rows[0]),
    ]
