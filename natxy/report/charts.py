"""The plots of a campaign, as Vega-Lite specifications with their data.

https://vega.github.io/vega-lite/docs/: a specification says what is drawn; the library that draws
it, in a browser or as a file, is vl-convert's (`pip install natxy[report]`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from natxy.model.measurement import Figure, Unit
from natxy.report.campaign_table import CampaignTable, CellResult, together

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
Rows = list[dict[str, Any]]
# Colours that people with a colour vision deficiency can tell apart (Okabe and Ito).
VERDICTS = {"PASS": "#009E73", "FAIL": "#D55E00", "INVALID": "#E69F00"}
AXES: dict[Unit, tuple[str, float]] = {
    "fps": ("frames a second", 1.0),
    "cps": ("connections a second", 1.0),
    "ns": ("µs", 1000.0),
    "%": ("%", 1.0),
    "frames": ("frames", 1.0),
    "connections": ("connections", 1.0),
    "s": ("seconds", 1.0),
    "times": ("times", 1.0),
    "octets": ("octets", 1.0),
}


@dataclass(frozen=True, kw_only=True)
class Chart:
    key: str  # of its data in files: "throughput"
    title: str
    spec: dict[str, Any]
    rows: Rows  # what is drawn, one mapping a point


def _chart(key: str, title: str, rows: Rows, **parts: Any) -> Chart:
    spec = {"$schema": SCHEMA, "width": "container", "height": 280, **parts}
    return Chart(key=key, title=title, spec=spec, rows=rows)


def figure_charts(columns: Sequence[str], cells: Iterable[CellResult]) -> list[Chart]:
    """Returns a chart for each measurement: its main figures, with medians and extremes."""
    found: dict[str, dict[tuple[str, ...], Figure]] = {}
    for cell in cells:
        of = found.setdefault(cell.measure, {})
        for place, result in enumerate(cell.results):
            for figure in result.figures:
                if not figure.primary or not figure.values:
                    continue
                key = (cell.column, figure.name, figure.at, figure.direction or "", str(place))
                of[key] = together(of[key], figure) if key in of else figure
    return [_figures(measure, columns, of) for measure, of in found.items() if of]


def _figures(measure: str, columns: Sequence[str], figures: dict[tuple[str, ...], Figure]) -> Chart:
    rows: Rows = []
    for (column, name, at, direction, _), figure in figures.items():
        label, divisor = AXES[figure.unit]
        values = sorted(value / divisor for value in figure.values)
        middle = len(values) // 2
        median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
        rows.append(
            {
                "column": column,
                "figure": " ".join(word for word in (name, direction) if word),
                "at": at,
                "unit": label,
                "median": median,
                "minimum": values[0],
                "maximum": values[-1],
                "n": len(values),
            }
        )
    in_series = any(row["at"] for row in rows)
    units = list(dict.fromkeys(row["unit"] for row in rows))
    place = (
        {"field": "at", "type": "nominal", "sort": None, "title": None}
        if in_series
        else {"field": "column", "type": "nominal", "sort": list(columns), "title": None}
    )
    colour = "column" if in_series else "figure"
    offset = {"field": colour, "type": "nominal"}
    axis = {"type": "quantitative", "title": units[0] if len(units) == 1 else None}
    tip = [{"field": name} for name in ("column", "figure", "at", "n")] + [
        {"field": name, "type": "quantitative", "format": ",.4~r"}
        for name in ("median", "minimum", "maximum")
    ]
    return _chart(
        measure,
        measure,
        rows,
        encoding={
            "x": place,
            "xOffset": offset,
            "color": {**offset, "title": None, "legend": {"orient": "top", "columns": 2}},
            "tooltip": tip,
        },
        layer=[
            {
                "mark": {"type": "bar", "opacity": 0.75},
                "encoding": {"y": {**axis, "field": "median"}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": {**axis, "field": "minimum"},
                    "y2": {"field": "maximum"},
                    "color": {"value": "#888"},
                },
            },
        ],
    )


def computed_chart(table: CampaignTable) -> list[Chart]:
    """Returns a chart of the rows that are computed from others, if there are any."""
    rows: Rows = [
        {"column": column, "row": row.name, "value": value.number}
        for row in table.rows
        if not row.group and row.unit
        for column, value in zip(table.columns, row.values, strict=True)
        if value.number is not None
    ]
    if not rows:
        return []
    return [
        _chart(
            "computed",
            "Computed from the medians",
            rows,
            mark={"type": "line", "point": True, "tooltip": True},
            encoding={
                "x": {
                    "field": "column",
                    "type": "nominal",
                    "sort": list(table.columns),
                    "title": None,
                },
                "y": {"field": "value", "type": "quantitative", "title": None},
                "color": {
                    "field": "row",
                    "type": "nominal",
                    "title": None,
                    "legend": {"orient": "top"},
                },
            },
        )
    ]


def trace_chart(trials: Rows) -> Chart:
    """Returns the rate and the verdict of each trial."""
    return _chart(
        "trials",
        "Searches: the rate and the verdict of each trial",
        trials,
        params=[
            {"name": "cell", "value": trials[0]["cell"] if trials else "", "bind": _choice(trials)},
            {"name": "zoom", "select": "interval", "bind": "scales"},
        ],
        transform=[{"filter": "datum.cell == cell"}],
        mark={"type": "point", "filled": True, "size": 60},
        encoding={
            "x": {"field": "number", "type": "quantitative", "title": "trial"},
            "y": {"field": "rate_fps", "type": "quantitative", "title": "rate, fps"},
            "color": {
                "field": "verdict",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(VERDICTS), "range": list(VERDICTS.values())},
                "legend": {"orient": "top"},
            },
            "shape": {"field": "verdict", "type": "nominal", "legend": None},
            "tooltip": [
                {"field": name}
                for name in ("cell", "repetition", "rate_fps", "verdict", "lost_percent", "reason")
            ],
        },
    )


def _choice(trials: Rows) -> dict[str, Any]:
    cells = list(dict.fromkeys(row["cell"] for row in trials))
    return {"input": "select", "options": cells, "name": "Show "}


def pauses_chart(trials: Rows) -> Chart:
    """Returns how long the tester paused and the gateway was away in each trial."""
    rows = [
        {"at_s": row["at_s"], "cell": row["cell"], "who": who, "ms": row[field]}
        for row in trials
        for who, field in (("tester paused", "paused_ms"), ("gateway away", "away_ms"))
        if row[field]
    ]
    return _chart(
        "pauses",
        "Noise: pauses of the tester and absences of the gateway in each trial",
        rows,
        params=[{"name": "zoom", "select": "interval", "bind": "scales"}],
        mark={"type": "point", "filled": True, "opacity": 0.6, "tooltip": True},
        encoding={
            "x": {
                "field": "at_s",
                "type": "quantitative",
                "title": "seconds since the first trial",
            },
            "y": {"field": "ms", "type": "quantitative", "title": "ms"},
            "color": {
                "field": "who",
                "type": "nominal",
                "title": None,
                "legend": {"orient": "top"},
            },
        },
    )


def delay_charts(curves: Rows) -> list[Chart]:
    """Returns a chart of the delays' distribution; rows have `curve`, `delay_us`, `share`."""
    if not curves:
        return []
    return [
        _chart(
            "delays",
            "Delays: share of the frames with at most this delay",
            curves,
            params=[{"name": "zoom", "select": "interval", "bind": "scales"}],
            mark={"type": "line", "interpolate": "step-after", "tooltip": True},
            encoding={
                "x": {
                    "field": "delay_us",
                    "type": "quantitative",
                    "title": "delay, µs",
                    "scale": {"type": "log"},
                },
                "y": {"field": "share", "type": "quantitative", "title": "share"},
                "color": {
                    "field": "curve",
                    "type": "nominal",
                    "title": None,
                    "legend": {"orient": "top", "columns": 1},
                },
            },
        )
    ]
