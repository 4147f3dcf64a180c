"""Draws figures: dots with the range of their repetitions, lines over a quantity, or a heat map.

A heat map has a field for each pair of two quantities, with its value in it.

Each plot is also a picture of its own, for papers and slides: SVG and PDF.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt

from natxy.report.charts import Chart, Kind, Rows, dots_at_each_place
from natxy.report.drawing_parts import (
    COLOUR,
    DATA,
    LINE_PX,
    LINES,
    LONGEST_LABEL_PX,
    PAGE,
    ROOM,
    ROW_PX,
    VALUE_PX,
    Look,
    colour,
    dashes,
    number_format,
    panels,
    shown,
    sized,
    values_of,
)
from natxy.report.trial_drawings import course, over_time, percentiles, trace
from natxy.visible import one_line
from natxy.whole_file import whole_file, write_whole

# A figure, and values that it is at least or at most, along an axis from left to right, or upwards.
ACROSS = {"exact": "circle", "lower": "triangle-right", "upper": "triangle-left"}
UP = {"exact": "circle", "lower": "triangle-up", "upper": "triangle-down"}
EXACT, ONLY_EXACT = "exact", "datum.bound === 'exact' ? datum.benchmark : null"
MEASURED, MISSING = "datum.missing === ''", "datum.missing !== ''"
SURE, UNSURE = "!datum.uncertain", "datum.uncertain"
RANGE = "datum.minimum < datum.maximum"
MEDIA = "#888"
BESIDE = "(datum.nth - (datum.among + 1) / 2) * 8"  # pixels
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
# The column of a paper with two: 3.5 inches of 96 px, in which 10 px are 7.5 pt.
COLUMN = Look(is_alone=True, width_px=336, font_px=10)
TITLE_LETTER_PX = 6.0  # the mean width of a title's letter, with room for other fonts


def dots(chart: Chart, look: Look) -> Any:
    """Draws a dot for each value, with the range of its repetitions, over one axis of values."""
    place, of = chart.words["place"], chart.words["of"]
    places, number = values_of(place, chart), dots_at_each_place(chart)
    is_one = number == 1
    base = alt.Chart(DATA).encode(
        y=alt.Y(
            f"{place}:N",
            sort=chart.words["order"],
            title=None,
            axis=alt.Axis(labelExpr=LINES, grid=True),
        ),
        color=alt.value(COLOUR) if is_one else colour(of, chart, look),
        **({} if is_one else {"yOffset": alt.YOffset(f"{of}:N", sort=None)}),
    )
    field = "benchmark" if "benchmark" in chart.rows[0] else "value"  # of what is computed
    largest = max((row["maximum"] if "maximum" in row else row["value"]) or 0 for row in chart.rows)
    axis = alt.Axis(format=number_format(largest, chart.rows[0]["unit"]))
    x = alt.X(f"{field}:Q", title=chart.words["axis"], axis=axis)
    points = _points(base, chart.rows, ACROSS)
    layers = [*_ranges(base, chart.rows), *(each.encode(x=x) for each in points)]
    if _any(chart.rows, "missing"):
        words = base.transform_filter(MISSING).mark_text(align="left", dx=4)
        ink = alt.value(look.ink)
        layers.append(words.encode(x=alt.datum(0), text="missing:N", color=ink))
    most_lines = max(len(str(name).split(", ")) for name in places)
    height = max(ROW_PX, LINE_PX * most_lines + 4, 0 if is_one else VALUE_PX * number)
    return sized(alt.layer(*layers), look, height * len(places))


def _points(base: Any, rows: Rows, kinds_of_bound: Mapping[str, str]) -> list[Any]:
    """Returns a layer for each kind of values; those that are uncertain are hollow."""
    measured = base.transform_filter(MEASURED) if "missing" in rows[0] else base
    shapes = alt.Scale(domain=list(kinds_of_bound), range=list(kinds_of_bound.values()))
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
    """Draws a line over a quantity, such as the offered rate; it ends where nothing is known, and
    no bound is a point of it."""
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
    hue = "line_of_both" if "line_of_both" in chart.rows[0] else "line"
    base = alt.Chart(DATA).encode(x=x, color=colour(hue, chart, look), detail="line:N")
    layers = [each.encode(y=y) for each in _points(base, chart.rows, UP)]
    if any(row["bound"] == EXACT for row in chart.rows):
        drawn = base.transform_calculate(exact=ONLY_EXACT).mark_line()
        drawn = drawn.encode(y=alt.Y("exact:Q", title=words["axis"], scale=alt.Scale(**shown)))
        layers.insert(0, drawn.encode(**dashes(chart)))
    if any(row["minimum"] != row["maximum"] for row in chart.rows):
        rule = base.transform_filter(RANGE).mark_rule()
        layers.append(rule.encode(y=alt.Y("minimum:Q"), y2=alt.Y2("maximum:Q")))
    if _any(chart.rows, "missing"):
        layers.append(_unknown(base, words["x"], hue))
    if _any(chart.rows, "media_fps"):
        media = base.mark_line(strokeDash=[1, 3])
        layers.append(media.encode(y=alt.Y("media_fps:Q"), color=alt.value(MEDIA)))
    return sized(alt.layer(*layers), look)


def _unknown(base: Any, x: str, hue: str) -> Any:
    """Returns the layer of question marks, those of several colours side by side."""
    order = [alt.SortField(hue)]
    return (
        base.transform_filter(MISSING)
        .transform_window([{"op": "dense_rank", "as": "nth"}], groupby=[x], sort=order)
        .transform_joinaggregate(among="max(nth)", groupby=[x])
        .mark_text(text="?", baseline="bottom", fontWeight="bold", dx=alt.expr(BESIDE))
        .encode(y=alt.datum(0), tooltip=["line:N", f"{x}:Q", "missing:N"])
    )


def _tips(rows: Rows) -> list[alt.Tooltip]:
    words = ("column", "figure", "direction", "row", "at", "unit", "n", "bound", "statistic")
    numbers = ("benchmark", "value", "minimum", "maximum")
    return [
        *(alt.Tooltip(f"{name}:N") for name in words if name in rows[0]),
        *(alt.Tooltip(f"{name}:Q", format=",.4~r") for name in numbers if name in rows[0]),
    ]


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


def picture(chart: Chart, *said: str, look: Look = COLUMN) -> dict[str, Any]:
    """Returns a plot with its data, its legend and, in place of what the page writes around it, a
    title with what is said of it."""
    clean = _printable(chart)
    drawn = specification(clean, look)
    letters = int(look.width_px / TITLE_LETTER_PX)
    said = (*map(one_line, said), one_line(chart.title), *_left_out(chart))
    title, *below = [line for each in said for line in textwrap.wrap(each, letters)] or [""]
    return drawn | {
        "data": {"values": clean.rows},
        "title": {
            "text": title,
            "subtitle": below,
            "anchor": "start",
            "fontSize": look.font_px + 1,
            "subtitleFontSize": look.font_px,
        },
        "background": "white",  # to be read on a dark page as well
        "config": drawn["config"] | {"aria": False},  # who cannot see it reads its data
    }


def _left_out(chart: Chart) -> list[str]:
    """Says how many of the values that a reader of the page chooses from the picture has."""
    names = values_of(chart.words["choice"], chart) if "choice" in chart.words else []
    left = len(names) - len(shown(names))
    return [f"The first {len(names) - left} of {len(names)}"] if left else []


def _printable(chart: Chart) -> Chart:
    """Returns a chart whose labels have no sign that XML cannot hold."""
    rows = [{name: _text(value) for name, value in row.items()} for row in chart.rows]
    words = {
        name: list(map(_text, value)) if isinstance(value, list) else _text(value)
        for name, value in chart.words.items()
    }
    return replace(chart, rows=rows, words=words)


def _text(value: Any) -> Any:
    return one_line(value) if isinstance(value, str) and not value.isprintable() else value


def write_pictures(charts: Sequence[Chart], folder: Path, *said: str) -> list[Path]:
    """Writes each plot that the page shows, and returns the files."""
    import vl_convert

    written = []
    for chart in (each for each in charts if each.is_drawn):
        files = [folder / f"{chart.key}.{ending}" for ending in ("svg", "pdf")]
        svg = vl_convert.vegalite_to_svg(picture(chart, *said))
        write_whole(files[0], svg + "\n")
        with whole_file(files[1]) as temporary:
            temporary.write_bytes(vl_convert.svg_to_pdf(svg))
        written += files
    return written
