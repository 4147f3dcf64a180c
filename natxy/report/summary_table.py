"""The summary of a campaign's table: at most ten rows, which say what was found in each column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from natxy.model.trial_spec import Direction
from natxy.report.numbers import ARROWS, SIGNS
from natxy.report.table_rows import CampaignTable, Row, Value

MOST_ROWS = 10
LOSS = "frame loss rate"  # the end of the name of figures


def summary_table(table: CampaignTable) -> CampaignTable:
    """Returns a row for each figure and point: both directions in one cell, a line each. If these
    are too many, a series has its first point and the last one; if they still are, each measurement
    has its first figure."""
    rows = [row for row in table.rows if row.figure]
    figures = _grouped(rows, lambda row: (row.group, row.figure, row.point))
    if len(figures) > MOST_ROWS:
        figures = _grouped(rows, lambda row: (row.group, row.figure))
    if len(figures) > MOST_ROWS:
        figures = list({rows[0].group: rows for rows in reversed(figures)}.values())[::-1]
    shown = [row for rows in figures for row in (_summed_up(rows), *_first_loss(rows))]
    return replace(table, rows=tuple(shown[:MOST_ROWS]))


def _grouped(rows: Sequence[Row], key: Callable[[Row], tuple[str, ...]]) -> list[list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return list(found.values())


def _first_loss(rows: Sequence[Row]) -> Iterator[Row]:
    """Yields where each gateway loses first, if the rows are a series of losses."""
    points = list(dict.fromkeys(row.point for row in rows))
    if not rows[0].figure.endswith(LOSS) or len(points) < 2:
        return
    columns = zip(*(row.values for row in rows), strict=True)
    words = [
        _lost_from([(row.point, value) for row, value in zip(rows, column, strict=True)])
        for column in columns
    ]
    values = tuple(Value(text=text) for text in words)
    yield replace(rows[0], name="first loss", point="", unit="", values=values, direction=None)


def _lost_from(values: Sequence[tuple[str, Value]]) -> str:
    """Returns the first point at which frames were lost; at most it, if an upper bound before it
    may be none or some."""
    known = [(point, value) for point, value in values if value.number is not None]
    perhaps = [point for point, value in known if value.number and value.bound == "upper"]
    lost = [point for point, value in known if value.number and value.bound != "upper"]
    if not lost:
        return (
            f"from {perhaps[0]}, or none" if perhaps else f"none to {known[-1][0]}" if known else ""
        )
    order = [point for point, _ in known]
    earlier = bool(perhaps) and order.index(perhaps[0]) < order.index(lost[0])
    return f"{SIGNS['upper'] * earlier}{lost[0]}"


def _summed_up(rows: Sequence[Row]) -> Row:
    first, last = rows[0], rows[-1]
    ends = [point for point in dict.fromkeys((first.point, last.point)) if point]
    ways = [row.direction for row in rows]
    return replace(
        first,
        name=" ".join(filter(None, (first.figure, " … ".join(ends)))),
        values=tuple(
            _both_ways(list(zip(ways, values, strict=True)))
            for values in zip(*(row.values for row in rows), strict=True)
        ),
        direction=None,
    )


def _both_ways(values: Sequence[tuple[Direction | None, Value]]) -> Value:
    """Returns a value as it is, or the words of several."""
    if len(values) == 1:
        return replace(values[0][1], spread=None)
    words = dict(_of_ways(values))
    if len(set(words.values())) == 1:
        return Value(text=next(iter(words.values())))
    return Value(text="\n".join(f"{ARROWS[way]} {text}".strip() for way, text in words.items()))


def _of_ways(
    values: Sequence[tuple[Direction | None, Value]],
) -> Iterator[tuple[Direction | None, str]]:
    """Yields what was found in each direction at the first and at the last point."""
    for way in dict.fromkeys(way for way, _ in values):
        of_way = [value.text for other, value in values if other == way and value.text] or [""]
        yield way, " … ".join(dict.fromkeys((of_way[0], of_way[-1])))
