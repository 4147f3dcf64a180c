"""The summary of a campaign's table: at most ten rows, which say what was found in each column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf

from natxy.model.trial_spec import Direction
from natxy.report.numbers import ARROWS
from natxy.report.table_rows import CampaignTable, Row, Value, named

MOST_ROWS = 10
FIRST_LOSS = "first loss"
LOSS = "frame loss rate"  # the end of the name of figures


def summary_table(table: CampaignTable) -> CampaignTable:
    """Returns a row for each figure and point: both directions in one cell, a line each. If these
    are too many, a series has its first point and the last one; if they still are, each measurement
    has its first figure."""
    rows = [row for row in table.rows if row.figure]
    figures = _grouped(rows, lambda row: (row.group, row.figure))
    first = list({of[0].group: of for of in reversed(figures)}.values())[::-1]
    levels = (
        _grouped(rows, lambda row: (row.group, row.figure, row.point)),
        [each for of in figures for each in (of, *_first_loss(of))],
        [each for of in first for each in (of, *_first_loss(of))],
    )
    shown = next((level for level in levels if len(level) <= MOST_ROWS), first)
    left = len(shown) - MOST_ROWS + 1 if len(shown) > MOST_ROWS else 0
    kept = [_summed_up(of) for of in shown[: len(shown) - left]]
    if left:
        kept.append(Row(name=f"… {left} more", values=(Value(),) * len(table.columns)))
    return replace(table, rows=tuple(kept))


def _grouped(rows: Sequence[Row], key: Callable[[Row], tuple[str, ...]]) -> list[list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return list(found.values())


def _first_loss(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yields a row that says where each gateway loses first, for each series of losses."""
    for series, of in groupby(rows, lambda row: row.series):
        known = sorted(of, key=lambda row: row.rate_fps)
        if known[0].figure.endswith(LOSS) and len({row.point for row in known}) > 1:
            columns = zip(*(row.values for row in known), strict=True)
            words = [_lost_from(list(zip(known, column, strict=True))) for column in columns]
            name = ", ".join(filter(None, (FIRST_LOSS, series)))
            values = tuple(Value(text=text) for text in words)
            yield [Row(name=name, figure=name, group=known[0].group, values=values)]


def _lost_from(values: Sequence[tuple[Row, Value]]) -> str:
    """Returns up to which rate nothing was lost and at which the first frames surely were; an upper
    bound may be of a loss or of none. The rates ascend."""
    known = [(row.rate_fps, value) for row, value in values if value.number is not None]
    perhaps = [fps for fps, value in known if value.number and value.bound == "upper"]
    lost = [fps for fps, value in known if value.number and value.bound != "upper"]
    unsure_fps = min([*perhaps, *lost], default=inf)
    clean = [fps for fps, _ in known if fps < unsure_fps]
    if lost:
        return (
            f"between {clean[-1]:,} and {lost[0]:,} fps"
            if clean
            else f"at or below {lost[0]:,} fps"
        )
    if not clean:
        return "unknown" if perhaps else ""
    return f"none up to {clean[-1]:,} fps{', unknown above' if perhaps else ''}"


def _summed_up(rows: Sequence[Row]) -> Row:
    first, last = rows[0], rows[-1]
    ends = [point for point in dict.fromkeys((first.point, last.point)) if point]
    ways = [row.direction for row in rows]
    return replace(
        first,
        name=named(first.figure, " … ".join(ends), first.point_unit),
        values=tuple(
            _both_ways(list(zip(ways, values, strict=True)))
            for values in zip(*(row.values for row in rows), strict=True)
        ),
        direction=None,
    )


def _both_ways(values: Sequence[tuple[Direction | None, Value]]) -> Value:
    """Returns a value as it is, or the words of several; below them, how far the repetitions lie
    apart, unless the words are of several points."""
    ways = dict.fromkeys(way for way, _ in values)
    below = tuple(_repeated(values)) if len(ways) == len(values) else ()
    if len(values) == 1:
        return replace(values[0][1], spread=None, below=below)
    words = dict(_of_ways(values))
    if len(set(words.values())) == 1:
        return Value(text=next(iter(words.values())), below=below)
    text = "\n".join(f"{ARROWS[way]} {text}".strip() for way, text in words.items())
    return Value(text=text, below=below)


def _repeated(values: Sequence[tuple[Direction | None, Value]]) -> Iterator[str]:
    for way, value in values:
        spread = value.spread
        if spread is not None and (spread.n > 1 or spread.measured or spread.n < spread.planned):
            said = (ARROWS[way], spread.extremes, spread.count)
            yield " ".join(filter(None, said))


def _of_ways(
    values: Sequence[tuple[Direction | None, Value]],
) -> Iterator[tuple[Direction | None, str]]:
    """Yields what was found in each direction at the first and at the last point."""
    for way in dict.fromkeys(way for way, _ in values):
        of_way = [value.text for other, value in values if other == way and value.text] or [""]
        yield way, " … ".join(dict.fromkeys((of_way[0], of_way[-1])))
