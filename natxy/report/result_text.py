"""What a measuring command prints: first the figure, then one table, then what limits it.

The values are those of the table that a report has of the same results.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from rich.cells import cell_len

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import MeasureSection
from natxy.model.measurement import Conditions, Measurement
from natxy.report.brief_notes import brief_notes, conformity
from natxy.report.cell_figures import RATES, CellResult, found_figures
from natxy.report.figure_rows import figure_rows
from natxy.report.histogram import loss_chart
from natxy.report.measurement_notes import measurement_notes
from natxy.report.numbers import rate
from natxy.report.result_table import (
    GAP,
    Line,
    cut,
    error_of,
    extremes_of,
    full_lines,
    full_table,
    table,
    text_of,
)
from natxy.report.table_rows import Row

MOST_LINES = 12
COUNT = re.compile(r"repetition|search|n = ")  # of the repetitions, in a first line
WAYS = {"both": "both directions", "forward": "→ only", "reverse": "← only"}
COUNTED = ("frames", "connections", "octets")


def headline(results: Sequence[Measurement], width: int) -> str:
    """Returns the main figure in one line, shortened to the width as far as that is possible."""
    return _headline(_lines(_rows(results)), results, width)


def brief_text(results: Sequence[Measurement], width: int) -> list[str]:
    """Returns at most eleven lines; where the results are stored is the twelfth."""
    rows = _rows(results)
    lines = _lines(rows)
    first = _headline(lines, results, width)
    bounds = {value.bound for line in lines for _, value in line.values}
    below = [*brief_notes(results, bounds), conformity(results, brief=True)]
    said = [cut(each, width) for each in below if each]
    room = MOST_LINES - 1 - len(said) - 3  # headline, conditions, heads of the table, storage
    several = len(full_lines(lines)) > 1
    shown = table(lines, room, width) if several else []
    spread = (
        () if several else (extremes_of(lines[0].values[0][1]), error_of(lines[0].values[0][1]))
    )
    return [first, *shown, _conditions(results, rows, first, width, spread), *said]


def verbose_text(results: Sequence[Measurement], width: int) -> list[str]:
    """Returns all figures of the results, and all notes."""
    rows = _rows(results, secondary=True)
    lines = _lines(rows)
    first = headline(results, width)
    charts = [line for result in results for line in loss_chart(result)]
    return [
        first,
        *full_table(lines, width),
        _conditions(results, rows, first, width),
        "",
        *charts,
        *measurement_notes(results),
    ]


def _rows(results: Sequence[Measurement], *, secondary: bool = False) -> list[Row]:
    measure = MeasureSection(command=results[0].procedure)
    experiment = Experiment(title="", testbed="", measure=(measure,))
    cell = CellResult(column="", measure=measure.name, round=1, results=tuple(results))
    found = found_figures(experiment, [cell])
    return list(figure_rows(measure, ("",), found, primary=None if secondary else True))


def _lines(rows: Sequence[Row]) -> list[Line]:
    """Returns a line for each figure at each place."""
    shared = _shared(rows)
    lines: dict[tuple[str, str], Line] = {}
    for row in rows:
        place = ", ".join(part for part in _parts(row) if part not in shared)
        value = (row.direction, row.values[0])
        known = lines.get((row.figure, place))
        lines[row.figure, place] = (
            replace(known, values=(*known.values, value))
            if known
            else Line(row=row, place=place, values=(value,))
        )
    return list(lines.values())


def _parts(row: Row) -> list[str]:
    return row.point.split(", ") if row.point else []


def _shared(rows: Sequence[Row]) -> list[str]:
    """Returns the parts of the points that all rows have, such as "at 20,000 fps"."""
    return [part for part in _parts(rows[0]) if all(part in _parts(row) for row in rows)]


# --- the first line --------------------------------------------------------------------------


def _headline(lines: Sequence[Line], results: Sequence[Measurement], width: int) -> str:
    main = [line for line in lines if line.row.figure == lines[0].row.figure]
    name = f"{main[0].row.figure[:1].upper()}{main[0].row.figure[1:]}"
    unit = _unit(main[0].row)
    at = "".join(f" {part}" for part in _shared([line.row for line in main]) if part[:3] == "at ")
    if results[0].procedure == "frame-loss" and len(results) == 1 and (losses := _losses(main)):
        return f"{name}{GAP}{losses}"
    if len(main) > 1:
        values, places = ((_ends([of(each) for each in main])) for of in (_value, _place))
        known = f"{name}{GAP}{values}{unit}"
        numbers = places.rpartition(" ")[0]  # without their unit, which the rows have
        ends = [f" ({places}){at}", f" ({places})", f" ({numbers})", at]
        return _fitting([f"{known}{end}" for end in ends], width)
    figure = f"{name}{GAP}{main[0].joined(text_of)}{unit}"
    spread = main[0].values[0][1].spread
    known = ", ".join(filter(None, (figure, spread.wire if spread else "")))
    ends = [f"{GAP}({words})" for words in _spreads(main[0], results[0])]
    return _fitting([*(f"{known}{at}{end}" for end in ends), f"{known}{at}", figure + at], width)


def _losses(lines: Sequence[Line]) -> str:
    """Returns up to which rate nothing was lost, and what at most at the highest rate with loss."""
    known = [
        (value.place.rate_fps, value.number, value.text)
        for line in lines
        for _, value in line.values
        if value.number is not None and value.place and value.place.rate_fps
    ]
    lossy = [each for each in known if each[1]]
    first_fps = min(lossy, default=(inf,))[0]
    clean = [rate_fps for rate_fps, *_ in known if rate_fps < first_fps]
    words = [f"0 % up to {rate(max(clean))} fps"] if clean else []
    if lossy:
        rate_fps, _, text = max(lossy)
        words.append(f"{text} at {rate(rate_fps)} fps")
    return ", ".join(words)


def _value(line: Line) -> str:
    return line.joined(text_of)


def _place(line: Line) -> str:
    return line.place


def _ends(words: Sequence[str]) -> str:
    """Returns the first and the last ones of a series, with their unit once: "84 … 512 B"."""
    first, last = words[0], words[-1]
    if first == last:
        return first
    start, _, unit = first.rpartition(" ")
    is_unit = start and "→" not in first and not any(map(str.isdigit, unit))
    same = is_unit and last.rpartition(" ")[2] in (unit, f"{unit}s")
    return f"{start if same else first} … {last}"


def _spreads(line: Line, result: Measurement) -> Iterator[str]:
    """Yields how exact a figure is, first in many words, then in fewer."""
    spreads = [value.spread for _, value in line.values if value.spread]
    if not spreads:
        return
    n = max(spreads[0].n, spreads[0].planned)
    is_search = result.conditions.search is not None and line.row.unit in RATES
    ends = _bare(extremes_of(line.values[0][1])) if len(spreads) == 1 else ""
    error = error_of(line.values[0][1]) if len(spreads) == 1 else ""
    counted = spreads[0].count.removeprefix("n = ")
    counted = f"{counted} {'search' if is_search else 'repetition'}"
    plural = f"{counted}{('es' if is_search else 's') * (n != 1)}"
    for count in (plural, spreads[0].count):
        yield "; ".join(filter(None, (": ".join(filter(None, (count, ends))), error)))
    yield from (f"{spreads[0].count}: {ends}" for _ in (ends,) if ends)
    yield plural


def _bare(extremes: str) -> str:
    return extremes.replace("[", "").replace("]", "")


def _unit(row: Row) -> str:
    """Returns the unit of the values that do not have theirs with them."""
    if row.unit in RATES:
        return f" {' '.join(filter(None, (row.unit, row.rates)))}"
    return f" {row.unit}" if row.unit in COUNTED and not row.figure.endswith(row.unit) else ""


# --- the other lines -------------------------------------------------------------------------


def _conditions(
    results: Sequence[Measurement],
    rows: Sequence[Row],
    first: str,
    width: int,
    spread: Sequence[str] = (),
) -> str:
    """Returns with what was measured, and the spread that the first line had no room for; as much
    of it as there is room for."""
    counts = {value.spread.count for row in rows for value in row.values if value.spread}
    of = [result.conditions for result in results]
    versions = dict.fromkeys((of[0].left_ip_version, of[0].right_ip_version))
    said = [
        *(part for part in spread if _bare(part) not in first),
        _same(of, lambda each: each.dut),
        _same(of, lambda each: f"{each.frame_size_bytes:,} B"),
        "/".join(f"IPv{version}" for version in versions),
        _same(
            of, lambda each: f"{each.foreground_percent:g} % foreground", usual="100 % foreground"
        ),
        _same(of, lambda each: f"{each.networks} networks", usual="1 networks"),
        WAYS[of[0].direction],
        *(part for part in _shared(rows) if part not in first),
        counts.pop() if len(counts) == 1 and not COUNT.search(first) else "",
        *dict.fromkeys(result.reference for result in results),
    ]
    line = ""
    for part in filter(None, said):
        longer = f"{line}, {part}" if line else part
        line = longer if cell_len(longer) <= width else line
    return line


def _same(of: Sequence[Conditions], words_of: Callable[[Conditions], str], usual: str = "") -> str:
    """Returns words that are true of all results and are not the usual ones."""
    words = {words_of(each) for each in of}
    (said, *others) = words
    return "" if others or said == usual else said


def _fitting(candidates: Sequence[str], width: int) -> str:
    return next((each for each in candidates if cell_len(each) <= width), candidates[-1])
