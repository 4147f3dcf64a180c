"""The table under the first line of a result: as many columns and rows as there is room for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from natxy.model.trial_spec import Direction
from natxy.report.cell_figures import RATES
from natxy.report.numbers import ARROWS
from natxy.report.table_rows import Row, Value

GAP = "  "
Column = tuple[str, list[str]]  # its head and its cells


@dataclass(frozen=True, kw_only=True)
class Line:
    """A figure at a place; one value for each direction that the line is about."""

    row: Row  # of the first direction
    place: str  # what tells it from the other lines: "84 B"
    values: tuple[tuple[Direction | None, Value], ...]

    def joined(self, words_of: Callable[[Value], str]) -> str:
        """Returns words about the values, once if they are the same in both directions."""
        words = [(way, words_of(value)) for way, value in self.values]
        if len({said for _, said in words}) == 1:
            return words[0][1]
        return ", ".join(f"{ARROWS[way]} {said}" for way, said in words if said)


def table(lines: Sequence[Line], most: int, width: int) -> list[str]:
    """Returns the head and at most so many rows: one for each line, or for each place that has
    several figures."""
    places = dict.fromkeys(line.place for line in lines)
    figures = dict.fromkeys(line.row.figure for line in lines)
    several = len(places) > 1 and len(figures) > 1
    each_way = full_lines(lines)
    if several and len(each_way) > len(places):
        columns = _of_places(lines, list(places), list(figures))
    else:
        columns = _of_lines(each_way if len(each_way) <= most else lines)
    head, *rows = _laid_out(columns, width)
    return [head, *_some(rows, most)]


def full_table(lines: Sequence[Line], width: int) -> list[str]:
    """Returns the head and a row for each figure, direction and place."""
    return _laid_out(_of_lines(full_lines(lines)), width)


def full_lines(lines: Sequence[Line]) -> list[Line]:
    """Returns a line for each direction."""
    return [replace(line, values=(value,)) for line in lines for value in line.values]


def _some(rows: list[str], most: int) -> list[str]:
    """Returns rows at even distances if they are too many, and how many are left out."""
    if len(rows) <= most:
        return rows
    kept = most - 1
    shown = [rows[round(number * (len(rows) - 1) / (kept - 1))] for number in range(kept)]
    return [*shown, f"… {len(rows) - kept} more: -v"]


def _of_lines(lines: Sequence[Line]) -> list[Column]:
    figures = {line.row.figure for line in lines}
    statistics = dict.fromkeys(line.row.statistic or "" for line in lines)
    return [
        ("", [_name(line, with_figure=len(figures) > 1) for line in lines]),
        (" or ".join(statistics), list(map(_value, lines))),
        ("range", [line.joined(extremes_of) for line in lines]),
        ("error", [line.joined(error_of).replace("error ", "") for line in lines]),
        ("on the wire", [line.joined(_wire) for line in lines]),
    ]


def _of_places(
    lines: Sequence[Line], places: Sequence[str], figures: Sequence[str]
) -> list[Column]:
    known = {(line.place, line.row.figure): _value(line) for line in lines}
    columns = [(name, [known.get((place, name), "") for place in places]) for name in figures]
    return [("", list(places)), *columns]


def _value(line: Line) -> str:
    return line.joined(text_of) + (f" {line.row.unit}" if line.row.unit in RATES else "")


def _laid_out(columns: list[Column], width: int) -> list[str]:
    """Returns the lines of a table, without columns that are empty or, at the right, too many."""
    columns = [columns[0], *(column for column in columns[1:] if any(column[1]))]
    while len(columns) > 2 and sum(map(_width, columns)) - len(GAP) > width:
        columns.pop()
    head, names = columns[0]
    room = width - sum(map(_width, columns[1:]))
    columns[0] = (head, [cut(name, room) for name in names])
    widths = [_width(column) - len(GAP) for column in columns]
    return [
        GAP.join(
            words.ljust(width) if column == 0 else words.rjust(width)
            for column, (words, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in zip(*([head, *texts] for head, texts in columns), strict=True)
    ]


def _width(column: Column) -> int:
    return max(map(cell_len, (column[0], *column[1]))) + len(GAP)


def _name(line: Line, *, with_figure: bool) -> str:
    ways = [way for way, _ in line.values]
    arrow = ARROWS[ways[0]] if len(ways) == 1 else ""
    figure = line.row.figure if with_figure or not line.place else ""
    return " ".join(filter(None, (arrow, figure, line.place)))


def text_of(value: Value) -> str:
    return value.text


def error_of(value: Value) -> str:
    """Returns the error, of a rate as a share of it."""
    spread = value.spread
    if spread is None or not spread.error:
        return ""
    if spread.unit not in RATES or not value.number:
        return spread.error_text
    return f"error {spread.error / value.number * 100:.2g} %"


def extremes_of(value: Value) -> str:
    """Returns the extremes, unless all values are one."""
    extremes = value.spread.extremes if value.spread else ""
    return extremes if "[" in extremes else ""


def _wire(value: Value) -> str:
    return value.spread.wire if value.spread else ""


def cut(line: str, width: int) -> str:
    return line if cell_len(line) <= width else f"{line[: width - 1].rstrip()}…"
