"""Heat maps of figures that were measured over two quantities, such as flows and frame sizes."""

import re
from collections.abc import Iterator
from typing import Any

from natxy.report.charts import MIX, SIZE, TITLES, Chart, Rows

NUMBER = re.compile(r"\d[\d.,]*")
MAP = "map"  # the end of the key of its data


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
