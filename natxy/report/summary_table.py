"""The summary of a campaign's table: at most ten rows, which say what was found in each column."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from natxy.model.trial_spec import Direction
from natxy.report.numbers import ARROWS
from natxy.report.table_rows import CampaignTable, Row, Value

MOST_ROWS = 10


def summary_table(table: CampaignTable) -> CampaignTable:
    """Returns a row for each figure: both directions in one cell, a line each, and of a series the
    first point and the last one. If these are too many, each measurement has its first figure."""
    of_figure: dict[tuple[str, str], list[Row]] = {}
    for row in table.rows:
        if row.figure:
            of_figure.setdefault((row.group, row.figure), []).append(row)
    figures = list(of_figure.values())
    if len(figures) > MOST_ROWS:
        figures = list({rows[0].group: rows for rows in reversed(figures)}.values())[::-1]
    return replace(table, rows=tuple(map(_summed_up, figures[:MOST_ROWS])))


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
