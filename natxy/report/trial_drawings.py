"""Draws trials: what a search tried, what disturbed it, and the delays of the frames."""

from typing import Any

import altair as alt

from natxy.report.charts import Chart
from natxy.report.drawing_parts import (
    DATA,
    PANEL_PX,
    ROOM,
    Look,
    choice,
    colour,
    panels,
    sized,
    values_of,
    zoom,
)

# Colours that people with a colour vision deficiency can tell apart (Okabe and Ito), and shapes.
VERDICTS = {
    "PASS": ("#009E73", "circle"),
    "FAIL": ("#D55E00", "cross"),
    "INVALID": ("#E69F00", "triangle-up"),
}
NINES = [1, 10, 100, 1000, 10_000, 100_000]  # 1 / (1 - share)
SHARES = "datum.value <= 1 ? '0 %' : format(100 - 100 / datum.value, '.10~g') + ' %'"
RESULT = "#888"


def percentiles(chart: Chart, look: Look) -> Any:
    """Draws the delays up to which a share of the frames came, the more nines the farther right, in
    a panel for each gateway."""
    curve = (
        alt.Chart(DATA)
        .transform_filter("isValid(datum.frames_per_later)")
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X(
                "frames_per_later:Q",
                title="share of the frames",
                scale=alt.Scale(type="log", domain=[NINES[0], NINES[-1]], clamp=True, nice=False),
                axis=alt.Axis(values=NINES, labelExpr=SHARES),
            ),
            y=alt.Y("delay_us:Q", title="delay, µs", scale=alt.Scale(type="log", nice=False)),
            color=colour("curve", chart, look),
            tooltip=["curve:N", "share:Q", "delay_us:Q"],
        )
    )
    if len(values_of("panel", chart)) == 1:
        return sized(curve, look, PANEL_PX)
    return panels(curve, "panel", chart, look)


def trace(chart: Chart, look: Look) -> Any:
    """Draws what each trial of a search tried, and its verdict."""
    colours, shapes = (list(each) for each in zip(*VERDICTS.values(), strict=True))
    verdicts = list(VERDICTS)
    legend = look.legend(values_of("verdict", chart))
    base = alt.Chart(DATA)
    tips = ("cell", "repetition", "tried", "verdict", "lost_percent", "reason")
    scale = alt.Scale(type="log", **ROOM)
    x = alt.X("number:Q", title="trial", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(**ROOM))
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x,
        y=alt.Y("tried:Q", title="rate per direction, or connections", scale=scale),
        color=alt.Color(
            "verdict:N", legend=legend, scale=alt.Scale(domain=verdicts, range=colours)
        ),
        shape=alt.Shape("verdict:N", legend=legend, scale=alt.Scale(domain=verdicts, range=shapes)),
        tooltip=[f"{name}:N" for name in tips],
    )
    found = (
        base.transform_filter("isValid(datum.result)")
        .mark_rule(strokeDash=[4, 4])
        .encode(y=alt.Y("mean(result):Q"), color=alt.value(RESULT))
    )
    return _of_each("cell", alt.layer(points, found), chart, look, zooms=True)


def _of_each(field: str, drawn: Any, chart: Chart, look: Look, *, zooms: bool = False) -> Any:
    """Returns the drawing of the value of a field that a reader chooses; of all in a picture."""
    if look.is_alone and len(values_of(field, chart)) == 1:
        return sized(drawn, look)
    if look.is_alone:
        shown = panels(drawn, field, chart, look)
        return shown.resolve_scale(x="independent", y="independent")
    chosen = choice(field, chart.rows)
    shown = drawn.transform_filter(f"datum.{field} == {chosen.name}")
    return sized(shown.add_params(chosen, *([zoom()] if zooms else [])), look)


def pauses(chart: Chart, look: Look) -> Any:
    """Draws how long the tester paused and the gateway was away in each trial."""
    drawn = (
        alt.Chart(DATA)
        .mark_point(filled=True, opacity=0.6)
        .encode(
            x=alt.X("at_s:Q", title="seconds since the first trial", scale=alt.Scale(**ROOM)),
            y=alt.Y("ms:Q", title="ms", scale=alt.Scale(**ROOM)),
            color=colour("who", chart, look),
            tooltip=["cell:N", "who:N", "at_s:Q", "ms:Q"],
        )
    )
    return sized(drawn if look.is_alone else drawn.add_params(zoom()), look)


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
    return _of_each("trial", alt.layer(area, line), chart, look)
