"""Plots of figures, and of what is computed from them.

They are dots with the range of their repetitions, lines over a quantity, or heat maps of figures
that were measured over two quantities, such as flows and frame sizes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from natxy.model.measurement import Figure, Unit
from natxy.report.cell_figures import CellResult, ColumnFigures, Key, Place
from natxy.report.charts import MIX, SHARE, SIZE, TITLES, WIDE, Chart, Rows, file_name
from natxy.report.numbers import rate, with_bound
from natxy.report.table_rows import CampaignTable
from natxy.statistics import median

NUMBER = re.compile(r"\d[\d.,]*")
MAP = "map"  # the end of the key of its data
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
DASHED = "; forward, and dashed: reverse"
MEDIA = "; dotted: the media's rate"
ACROSS = {"lower": "▶", "upper": "◀"}  # along an axis from left to right
UP = {"lower": "▲", "upper": "▼"}


def figure_charts(columns: Sequence[str], cells: Iterable[CellResult]) -> list[Chart]:
    """Returns a chart of the main figures for each measurement and unit."""
    found: dict[str, dict[str, ColumnFigures]] = {}  # by measurement and column
    headings: dict[str, str] = {}
    for cell in cells:
        for each in cell.results:
            is_labelled = cell.measure != each.procedure
            headings[cell.measure] = cell.measure if is_labelled else each.title
        found.setdefault(cell.measure, {}).setdefault(cell.column, ColumnFigures()).add(cell)
    charts = []
    for measure, of in found.items():
        rows: dict[Unit, Rows] = {}
        for column in (each for each in columns if each in of):
            for key, figure in of[column].figures.items():
                if figure.primary and (figure.values or figure.missing):
                    rows.setdefault(figure.unit, []).append(_row(column, key, of[column]))
        for unit, of_unit in rows.items():
            drawn = _figures(measure, unit, columns, of_unit, alone=len(rows) == 1)
            drawn = replace(drawn, title=drawn.title.replace(measure, headings[measure], 1))
            charts += [drawn, *heat_charts(drawn)]
    return charts


def _row(column: str, key: Key, of: ColumnFigures) -> dict[str, Any]:
    series, direction, name, at = key
    figure, place = of.figures[key], Place.of_all(of.places[key])
    assert place is not None, "each figure has one"
    label, divisor = AXES[figure.unit]
    return {
        "column": column,
        "figure": name,
        "direction": direction,
        "series": series,
        "at": ", ".join(word for word in (series, at) if word),
        "at_value": figure.at_value,
        "at_unit": figure.at_unit,
        SHARE: _share_of_media(figure, place),
        "rate_fps": place.rate_fps,
        SIZE: place.frame_size_bytes,
        "foreground_percent": place.foreground_percent,
        "media_fps": of.places[key][-1].media_fps,
        "unit": label,
        "rates": of.places[key][-1].directions,
        **_statistics(figure, divisor),
        "uncertain": figure.uncertain,
    }


def _share_of_media(figure: Figure, place: Place) -> float | None:
    """Returns the offered rate of a figure in percent of the media's."""
    if figure.at_unit != "fps" or figure.at_value is None or not place.theoretical_fps:
        return None
    return 100 * figure.at_value / place.theoretical_fps


def _statistics(figure: Figure, divisor: float) -> dict[str, Any]:
    """Returns the values of a dot; without any, `missing` says why, so that it is not taken for
    one of 0."""
    values = [value / divisor for value in figure.values]
    benchmark, bound = with_bound(figure) if values else (None, "")
    return {
        "statistic": figure.statistic,
        "benchmark": None if benchmark is None else benchmark / divisor,
        "median": median(values) if values else None,
        "minimum": min(values, default=None),
        "maximum": max(values, default=None),
        "n": len(values),
        "bound": bound,
        "missing": "" if values else figure.missing,
    }


def _figures(measure: str, unit: Unit, columns: Sequence[str], rows: Rows, *, alone: bool) -> Chart:
    label = _in_milliseconds(rows) if unit == "s" else AXES[unit][0]
    names = _of("figure", rows)
    in_series = _in_series(columns, rows)
    x = _quantity_of(rows) if in_series else ""
    parts = ("figure", "direction")
    told = _telling(rows, ("column", *parts) if in_series else parts)
    ways = _of("direction", rows)
    for row in rows:
        row["line"] = _line(row, told, x)
    # As many colours as gateways and figures, and each direction a kind of line.
    is_dashed = bool(x) and "direction" in told and len(_of("line", rows)) > len(ways)
    if is_dashed:
        told.remove("direction")
        for row in rows:
            row["line_of_both"] = _line(row, told, x)
    words = measure if alone else f"{measure}: {', '.join(names)}"
    has_media = bool(x) and any(row["media_fps"] for row in rows)
    signs = _bounds(rows, UP if x else ACROSS) + DASHED * is_dashed + MEDIA * has_media
    return Chart(
        key=file_name(measure if alone else f"{measure} {label.replace('%', 'percent')}"),
        title=words + signs,
        kind="lines" if x else "dots",
        rows=rows,
        words={
            "signs": signs,
            "axis": _axis(names, label, rows),
            **(_over(x, unit, rows) if x else _beside(columns, rows, in_series=in_series)),
        },
    )


def _in_milliseconds(rows: Rows) -> str:
    """Returns the unit of times, which are in seconds; those all below one become milliseconds."""
    if max(row["maximum"] or 0 for row in rows) >= 1:
        return AXES["s"][0]
    for row in rows:
        times = {name: row[name] for name in ("benchmark", "median", "minimum", "maximum")}
        row |= {name: value and value * 1000 for name, value in times.items()}
        row["unit"] = "ms"
    return "ms"


def _axis(names: Sequence[str], label: str, rows: Rows) -> str:
    """Returns the title of the axis of values: the figure if there is one, its unit, and the
    directions and the rate if they are the same for all."""
    at = _of("rate_fps", rows)
    is_one = len(at) == 1 and at[0] is not None and rows[0]["at_unit"] != "fps"
    words = (*(names if len(names) == 1 else ()), label, *_of("rates", rows))
    return ", ".join(filter(None, (*words, f"at {rate(at[0])} fps" if is_one else "")))


def _over(x: str, unit: Unit, rows: Rows) -> dict[str, Any]:
    """Returns what lines need over the field `x`."""
    values = [row[x] for row in rows]
    counts = x == "at_value" and rows[0]["at_unit"] != "fps"
    return {
        "x": x,
        "x_title": TITLES[rows[0]["at_unit"] if x == "at_value" else x],
        "x_is_wide": counts and min(values) > 0 and max(values) / min(values) >= WIDE,
        "is_share": unit == "%"
        and all(0 <= (row[end] or 0) <= 100 for row in rows for end in ("minimum", "maximum")),
    }


def _beside(columns: Sequence[str], rows: Rows, *, in_series: bool) -> dict[str, Any]:
    """Returns what dots need: the places on their axis, and what is told apart by colours."""
    place = "at" if in_series else "column"
    if len(_of(place, rows)) == 1 and not rows[0][place]:
        place = "line"  # the names of the figures say more than an axis with one empty label
    return {"place": place, "of": "line", "order": None if in_series else list(columns)}


def _line(row: dict[str, Any], told: Sequence[str], x: str) -> str:
    """Returns what tells a value from the others at its place."""
    name = ", ".join(filter(None, (row[part] for part in told))) or row["figure"]
    mix = f"{row['foreground_percent']:g} % foreground"
    series = {"": "", SIZE: mix if mix in row["series"] else ""}.get(x, row["series"])
    return ", ".join(filter(None, (name, series)))


def _of(field: str, rows: Rows) -> list[Any]:
    """Returns the values of a field, in their order."""
    return list(dict.fromkeys(row[field] for row in rows))


def _telling(rows: Rows, parts: Sequence[str]) -> list[str]:
    return [part for part in parts if len(_of(part, rows)) > 1]


def _quantity_of(rows: Rows) -> str:
    """Returns the field that is a quantity over which the values make lines: the point of a series,
    such as the offered rate, or the frame size; empty: there is none."""
    for field in (SHARE, "at_value", SIZE):
        of_lines: dict[tuple[str, ...], set[float]] = {}
        for row in rows:
            others = (row["series"],) if field != SIZE else (str(row["foreground_percent"]),)
            line = (row["column"], row["figure"], row["direction"], *others)
            of_lines.setdefault(line, set()).add(row[field])
        points = [point for line in of_lines.values() for point in line]
        one_unit = field == SIZE or len(_of("at_unit", rows)) == 1
        if None not in points and one_unit and len(points) == len(rows) > len(of_lines):
            return field
    return ""


def _bounds(rows: Rows, signs: Mapping[str, str]) -> str:
    """Returns what a title says of the signs of bounds; empty: there are none."""
    bounds = sorted({row["bound"] for row in rows} - {"exact", ""})
    marks = ", ".join(f"{signs[bound]} {bound} bound" for bound in bounds)
    return f" ({marks})" if bounds else ""


def _in_series(columns: Sequence[str], rows: Rows) -> bool:
    """Tells whether values stand at the points of a series, not at the columns.

    They stand at the columns if each has one point, such as another number of connections.
    """
    points = {(row["column"], row["at"]) for row in rows}
    several = len(points) > len({column for column, _ in points})
    return several or (len(columns) == 1 and not columns[0])


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
    return Chart(
        key=file_name(words),
        title=words.capitalize().replace(" ", ": ", 1) + _bounds(rows, ACROSS),
        kind="dots",
        rows=rows,
        words={
            "axis": None if label in ("", "times") else label,
            "place": "column",
            "of": "row",
            "order": list(columns),
        },
    )


def heat_charts(chart: Chart) -> Iterator[Chart]:
    """Yields the heat map of a chart of figures, if two quantities vary in it: with a panel for
    each figure, direction and whatever else there is."""
    rows = chart.rows
    axes = [field for field in _quantities(rows) if len(_values(field, rows)) > 1]
    if len(axes) < 2:
        return
    x, y = axes[:2]
    told = [
        field
        for field in ("column", "figure", "direction", SIZE, MIX)
        if field not in (x, y) and len(_values(field, rows)) > 1
    ]
    cells = [{**row, "panel": _panel(row, told)} for row in rows]
    if not _is_grid(cells, x, y):
        return
    words = {"x": x, "y": y, "titles": [_title(field, rows) for field in (x, y)]}
    yield Chart(
        key=f"{chart.key}-{MAP}",
        title=f"{chart.title.removesuffix(chart.words['signs'])}, {rows[0]['unit']}, as a map",
        kind="heat",
        rows=cells,
        words=words,
    )


def _is_grid(cells: Rows, x: str, y: str) -> bool:
    """Tells whether each panel has each pair once: sizes that are the columns are no second
    quantity."""
    pairs = len(_values(x, cells)) * len(_values(y, cells))
    places = {(row["panel"], row[x], row[y]) for row in cells}
    return len(places) == len(cells) == pairs * len(_values("panel", cells))


def _quantities(rows: Rows) -> Iterator[str]:
    """Yields the fields that are quantities: the point of a series, the size, the mix, and the
    column if the labels of all columns are the same words with other numbers."""
    if all(row["at_value"] is not None for row in rows) and len(_values("at_unit", rows)) == 1:
        yield "at_value"
    yield SIZE
    yield MIX
    labels = _values("column", rows)
    if len({NUMBER.sub("", label) for label in labels}) == 1:
        yield "column"


def _title(field: str, rows: Rows) -> str:
    return TITLES.get(rows[0]["at_unit"] if field == "at_value" else field, "")


def _panel(row: dict[str, Any], told: list[str]) -> str:
    words = {
        SIZE: f"{row[SIZE]:,} B",
        MIX: f"{row[MIX]:g} % foreground",
    }
    return ", ".join(filter(None, (words.get(field, row[field]) for field in told)))


def _values(field: str, rows: Rows) -> list[Any]:
    return list(dict.fromkeys(row[field] for row in rows))
