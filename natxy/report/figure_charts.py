"""Plots of figures: bars of benchmarks with error bars, and bars of what is computed from them."""

from collections.abc import Iterable, Sequence
from typing import Any

from natxy.model.measurement import Figure, Unit
from natxy.report.campaign_table import CampaignTable
from natxy.report.cell_figures import CellResult, rate_words, together
from natxy.report.charts import Chart, Rows, chart, colour, file_name, number
from natxy.statistics import median

AXES: dict[str, tuple[str, float]] = {  # by unit
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
ERROR_BAR = "#888"  # is seen on the colours of bars, on white and on black
# The bars of bounds are paler than those of exact figures.
OPACITY = {"condition": {"test": "datum.bound !== 'exact'", "value": 0.3}, "value": 0.75}
# Column, figure's name, words of its series, its point, direction, directions of a rate.
Key = tuple[str, str, str, str, str, str]


def figure_charts(columns: Sequence[str], cells: Iterable[CellResult]) -> list[Chart]:
    """Returns a chart for each measurement and unit: the main figures, with median and extremes."""
    found: dict[tuple[str, Unit], dict[Key, Figure]] = {}
    for cell in cells:
        for series, result in cell.told:
            for figure in result.figures:
                if not figure.primary or not (figure.values or figure.missing):
                    continue
                of = found.setdefault((cell.measure, figure.unit), {})
                rates = rate_words(result.conditions, figure, summed=cell.summed)
                key = (cell.column, figure.name, series, figure.at, figure.direction or "", rates)
                of[key] = together(of[key], figure) if key in of else figure
    measures = [measure for measure, _ in found]
    return [
        _figures(measure, unit, columns, figures, alone=measures.count(measure) == 1)
        for (measure, unit), figures in found.items()
    ]


def _figures(
    measure: str, unit: Unit, columns: Sequence[str], figures: dict[Key, Figure], *, alone: bool
) -> Chart:
    label, divisor = AXES[unit]
    names = list(dict.fromkeys(key[1] for key in figures))
    rows: Rows = []
    for (column, name, series, at, direction, rates), figure in figures.items():
        rows.append(
            {
                "column": column,
                "figure": " ".join(word for word in (name, direction) if word),
                "series": series,
                "at": ", ".join(word for word in (series, at) if word),
                "at_value": figure.at_value,
                "at_unit": figure.at_unit,
                "rate_fps": figure.rate_fps,
                "unit": label,
                "rates": rates,
                **_statistics(figure, divisor),
                "uncertain": figure.uncertain,
            }
        )
    in_series = _in_series(columns, rows)
    parts = ("column", "figure") if in_series else ("figure",)
    told = [part for part in parts if len({row[part] for row in rows}) > 1]
    for row in rows:
        row["bar"] = ", ".join(row[part] for part in told) or row["figure"]
    axis = ", ".join((label, *filter(None, dict.fromkeys(row["rates"] for row in rows))))
    return chart(
        file_name(measure if alone else f"{measure} {label.replace('%', 'percent')}"),
        _title(measure if alone else f"{measure}: {', '.join(names)}", rows),
        rows,
        encoding=_places(columns, in_series=in_series),
        layer=[*_bars(axis, rows), *_error_bars(axis, rows)],
    )


def _statistics(figure: Figure, divisor: float) -> dict[str, Any]:
    """Returns the values of a bar; without any, `missing` says why, so that it is not taken for
    one of 0."""
    values = [value / divisor for value in figure.values]
    return {
        "statistic": figure.statistic,
        "benchmark": figure.benchmark / divisor if values else None,
        "median": median(values) if values else None,
        "minimum": min(values, default=None),
        "maximum": max(values, default=None),
        "n": len(values),
        "bound": figure.benchmark_bound if values else "",
        "missing": "" if values else figure.missing,
    }


def _title(words: str, rows: Rows) -> str:
    bounds = sorted({row["bound"] for row in rows} - {"exact", ""})
    return f"{words} (pale: {' or '.join(bounds)} bound)" if bounds else words


def _in_series(columns: Sequence[str], rows: Rows) -> bool:
    """Tells whether bars stand at the points of a series, not at the columns.

    They stand at the columns if each has one point, such as another number of connections.
    """
    points = {(row["column"], row["at"]) for row in rows}
    several = len(points) > len({column for column, _ in points})
    return several or (len(columns) == 1 and not columns[0])


def _places(columns: Sequence[str], *, in_series: bool) -> dict[str, Any]:
    sort = None if in_series else list(columns)
    field = "at" if in_series else "column"
    return {
        "x": _place(field, sort),
        "xOffset": {"field": "bar", "type": "nominal", "sort": None},
        "color": colour("bar", sort=None),
        "tooltip": [
            *({"field": name} for name in ("column", "figure", "at", "n", "bound", "statistic")),
            *(number(name, name, format=",.4~r") for name in ("benchmark", "minimum", "maximum")),
        ],
    }


def _place(field: str, sort: list[str] | None) -> dict[str, Any]:
    """Returns the axis with a group of bars for each value; labels have a line for each part."""
    axis = {"labelExpr": "split(datum.label, ', ')"}
    return {"field": field, "type": "nominal", "sort": sort, "title": None, "axis": axis}


def _bars(label: str, rows: Rows) -> list[dict[str, Any]]:
    """Returns the layer of the bars, and of the words in place of those without a value."""
    y = number("benchmark", label, stack=None)
    bars = {"mark": {"type": "bar"}, "encoding": {"y": y, "opacity": OPACITY}}
    if not any(row["missing"] for row in rows):
        return [bars]
    measured = [{"filter": "datum.missing === ''"}]
    words = {
        "transform": [{"filter": "datum.missing !== ''"}],
        "mark": {"type": "text", "angle": 270, "align": "left", "baseline": "middle", "dx": 4},
        "encoding": {"y": {"datum": 0}, "text": {"field": "missing"}},
    }
    return [{"transform": measured, **bars}, words]


def _error_bars(label: str, rows: Rows) -> list[dict[str, Any]]:
    """Returns the layers of the error bars, which only bars of more than one value have."""
    if all(row["minimum"] == row["maximum"] for row in rows):  # none has a range
        return []  # an axis for no data would be a warning in the browser
    several = [{"filter": "datum.minimum < datum.maximum"}]
    grey = {"color": {"value": ERROR_BAR}}
    end = {"type": "tick", "orient": "horizontal", "size": 8, "thickness": 2}
    low, high = number("minimum", label), number("maximum", label)
    return [
        {
            "transform": several,
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"y": low, "y2": {"field": "maximum"}, **grey},
        },
        {"transform": several, "mark": end, "encoding": {"y": low, **grey}},
        {"transform": several, "mark": end, "encoding": {"y": high, **grey}},
    ]


def computed_charts(table: CampaignTable) -> list[Chart]:
    """Returns a chart for each kind of the computed rows, and for each unit of a kind."""
    found: dict[tuple[str, str], Rows] = {}
    for row in table.rows:
        label, divisor = AXES.get(row.unit, ("", 1.0))
        for column, value in zip(table.columns, row.values, strict=True):
            if row.kind and value.number is not None:
                shown = value.number / divisor
                words = {"column": column, "row": row.name, "unit": label}
                entry = {**words, "value": shown, "bound": value.bound}
                found.setdefault((row.kind, label), []).append(entry)
    kinds = [kind for kind, _ in found]
    return [
        _computed(kind, label, table.columns, rows, alone=kinds.count(kind) == 1)
        for (kind, label), rows in found.items()
    ]


def _computed(kind: str, label: str, columns: Sequence[str], rows: Rows, *, alone: bool) -> Chart:
    words = f"computed {kind}" if alone else f"computed {kind} {label.replace('%', 'percent')}"
    return chart(
        file_name(words),
        _title(words.capitalize().replace(" ", ": ", 1), rows),
        rows,
        mark={"type": "bar"},
        encoding={
            "x": _place("column", list(columns)),
            "xOffset": {"field": "row", "type": "nominal", "sort": None},
            "y": number("value", None if label in ("", "times") else label, stack=None),
            "color": colour("row", sort=None),
            "opacity": OPACITY,
            "tooltip": [
                *({"field": name} for name in ("column", "row", "unit", "bound")),
                number("value", "value", format=",.4~r"),
            ],
        },
    )
