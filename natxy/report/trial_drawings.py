"""Draws trials: what a search tried, what disturbed it, and the delays of the frames."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from natxy.report.charts import WIDE, Chart
from natxy.report.drawing_parts import (
    DATA,
    PANEL_PX,
    ROOM,
    Look,
    choice,
    colour,
    dashes,
    panels,
    shown,
    sized,
    steps,
    values_of,
    zoom,
)

# Colours that people with a colour vision deficiency can tell apart (Okabe and Ito), and shapes.
VERDICTS = {
    "PASS": ("#009E73", "circle"),
    "FAIL": ("#D55E00", "cross"),
    "INVALID": ("#E69F00", "triangle-up"),
}
NINES = [1, 2, 10, 100, 1000, 10_000, 100_000]  # 1 / (1 - share); 2 is the median
SHARES = "datum.value <= 1 ? '0' : format(100 - 100 / datum.value, '.10~g')"
RESULT = "#888"
STRIP_PX, ROOM_OF_LABELS_PX, ROOM_OF_WORDS_PX = 80, 60, 14
INVALID = "datum.verdict === 'INVALID'"


def percentiles(chart: Chart, look: Look) -> Any:
    """Draws the delays up to which a share of the frames came, the more nines the farther right, in
    a panel for each gateway."""
    labels = steps([row["delay_us"] for row in chart.rows])
    curve = (
        alt.Chart(DATA)
        .transform_filter("isValid(datum.frames_per_later)")
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X(
                "frames_per_later:Q",
                title="share of the frames, %",
                scale=alt.Scale(type="log", domain=[NINES[0], NINES[-1]], clamp=True, nice=False),
                # All of them, the last one as well, which Vega would leave out.
                axis=alt.Axis(values=NINES, labelExpr=SHARES, labelOverlap=False, labelFlush=False),
            ),
            y=alt.Y(
                "delay_us:Q",
                title="delay, µs",
                scale=alt.Scale(type="log", domain=[labels[0], labels[-1]], nice=False),
                axis=alt.Axis(values=labels, format=",~r"),
            ),
            color=colour("curve", chart, look),
            **dashes(chart),
            tooltip=["curve:N", "share:Q", "delay_us:Q"],
        )
    )
    if len(values_of("panel", chart)) == 1:
        return sized(curve, look, PANEL_PX)
    return panels(curve, "panel", chart, look)


def trace(chart: Chart, look: Look) -> Any:
    """Draws what each trial of a search tried, and its verdict."""
    found = values_of("verdict", chart)
    verdicts = [verdict for verdict in VERDICTS if verdict in found]
    colours, shapes = zip(*(VERDICTS[verdict] for verdict in verdicts), strict=True)
    legend = look.legend(verdicts)
    base = alt.Chart(DATA)
    tips = ("search", "repetition", "tried", "verdict", "lost_percent", "reason")
    scale = alt.Scale(type="log", **ROOM)
    whole = alt.Scale(**ROOM, zero=False)
    x = alt.X("nth:Q", title="trial", axis=alt.Axis(tickMinStep=1), scale=whole)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x,
        y=alt.Y("tried:Q", title=None, scale=scale),
        color=alt.Color(
            "verdict:N", legend=legend, scale=alt.Scale(domain=verdicts, range=colours)
        ),
        shape=alt.Shape("verdict:N", legend=legend, scale=alt.Scale(domain=verdicts, range=shapes)),
        tooltip=[f"{name}:N" for name in tips],
    )
    # A search that found nothing has a line that nobody sees: Vega warns of an axis without values.
    result = (
        base.transform_filter("datum.nth === 1")
        .transform_calculate(line="isValid(datum.result) ? datum.result : datum.tried")
        .mark_rule(strokeDash=[4, 4])
        .encode(
            y=alt.Y("line:Q"),
            color=alt.value(RESULT),
            opacity=alt.condition("isValid(datum.result)", alt.value(1), alt.value(0)),
        )
    )
    # Above the plot, where no point is; no title of the axis, since it may differ from search to
    # search.
    quantity = (
        base.transform_filter("datum.nth === 1")
        .mark_text(align="left", baseline="bottom", dy=-4, color=look.ink, clip=False)
        .encode(x=alt.value(0), y=alt.value(0), text="quantity:N")
    )
    return _of_each(alt.layer(points, quantity, result), chart, look, zooms=True)


def _of_each(drawn: Any, chart: Chart, look: Look, *, zooms: bool = False) -> Any:
    """Returns the drawing of the value that a reader chooses; in a picture, of the first ones."""
    field = chart.words["choice"]
    names = values_of(field, chart)
    if look.is_alone and len(names) == 1:
        return sized(drawn, look)
    if look.is_alone:
        first = drawn.transform_filter(alt.FieldOneOfPredicate(field=field, oneOf=shown(names)))
        drawn = panels(first, field, chart, look, room_px=ROOM_OF_WORDS_PX)
        return drawn.resolve_scale(x="independent", y="independent")
    chosen = choice(field, chart.rows)
    only = drawn.transform_filter(f"datum.{field} == {chosen.name}")
    return sized(only.add_params(chosen, *([zoom()] if zooms else [])), look)


def over_time(chart: Chart, look: Look) -> Any:
    """Draws what differs from trial to trial, a panel for each quantity, over one axis of time."""
    quantities = values_of("quantity", chart)
    last_s = max(row["at_s"] for row in chart.rows)
    drawn = [
        _quantity(each, chart, look, until_s=last_s, is_last=each == quantities[-1])
        for each in quantities
    ]
    return alt.vconcat(*drawn, spacing=6, data=DATA).resolve_scale(color="shared")


def _quantity(quantity: str, chart: Chart, look: Look, *, until_s: float, is_last: bool) -> Any:
    """Returns the strip of a quantity, with its name above it, where a narrow page has room."""
    of = [row for row in chart.rows if row["quantity"] == quantity]
    values = [row["value"] for row in of]
    is_wide = min(values) > 0 and max(values) / min(values) >= WIDE
    x = alt.X(
        "at_s:Q",
        title="seconds since the first trial" if is_last else None,
        scale=alt.Scale(domain=[0, until_s], **ROOM),
        axis=alt.Axis(labels=is_last, ticks=is_last),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(type="log", nice=False) if is_wide else alt.Scale(),
        axis=alt.Axis(
            format=",~r",
            minExtent=ROOM_OF_LABELS_PX,
            **({"values": _powers(values)} if is_wide else {"tickCount": 4}),
        ),
    )
    base = alt.Chart().transform_filter(alt.datum.quantity == quantity)
    base = base.encode(
        x=x,
        y=y,
        color=colour("what", chart, look),
        tooltip=[f"{name}:N" for name in ("cell", "verdict", "what", "at_s", "value")],
    )
    # A layer for each that there is: one without data has an axis without an end.
    layers = [
        base.transform_filter(INVALID if is_invalid else f"!({INVALID})").mark_point(
            filled=not is_invalid, size=25, strokeWidth=1.2, opacity=1
        )
        for is_invalid in sorted({row["verdict"] == "INVALID" for row in of})
    ]
    name = alt.TitleParams(quantity, anchor="start", fontSize=look.font_px, offset=4)
    return alt.layer(*layers, title=name).properties(width=look.panel_px, height=STRIP_PX)


def _powers(values: Sequence[float]) -> list[float]:
    """Returns the powers of ten around values: so low a plot has no room for lines between."""
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(lowest, highest + 1)]


def course(chart: Chart, look: Look) -> Any:
    """Draws the delays over the time of a trial: the median of each slot of time as a line, all its
    delays as an area."""
    names = ("direction", "at_s", "median_us", "minimum_us", "maximum_us")
    base = alt.Chart(DATA).encode(
        x=alt.X("at_s:Q", title="seconds since the start of the trial"),
        color=colour("direction", chart, look),
        tooltip=[f"{name}:N" for name in names],
    )
    area = base.mark_area(opacity=0.25).encode(
        y=alt.Y("minimum_us:Q", title="delay, µs", scale=alt.Scale(zero=False)),
        y2=alt.Y2("maximum_us:Q"),
    )
    line = base.mark_line(strokeWidth=1.5).encode(y=alt.Y("median_us:Q", title="delay, µs"))
    return _of_each(alt.layer(area, line), chart, look)
