"""How to read a report: the marks and terms that occur in its tables, each once."""

from collections.abc import Iterable, Iterator, Mapping

from natxy.report.summary_table import FIRST_LOSS
from natxy.report.table_rows import CampaignTable, Row, Spread, Value

MEANINGS: Mapping[str, str] = {
    "→, ←": "left to right, right to left",
    "[a … b]": "lowest and highest of the repetitions",
    "n": "number of repetitions that count",
    "n = 1 of 5": "number of repetitions that count, and of those planned",
    "± a": "standard deviation of the repetitions",
    "≥ a": "at least a (lower bound): the notes say what limits it",
    "≤ a": "at most a (upper bound), by the error of a value or by noise",
    "measured": "the values themselves, without their errors",
    "(a)": "uncertain: the notes say why",
    "no valid trial": "nothing is known at this point",
    "typical latency": "median of the tagged frames' delays",
    "worst-case latency": "99.9th percentile of the tagged frames' delays",
    "PDV": "99.9th percentile of the delays minus the shortest delay",
    "IPDV": "delay of a frame minus that of the frame before it",
    FIRST_LOSS: "between a rate without loss and the lowest with one that noise does not explain",
    "of the media": "share of the frame rate that the slower link carries",
}
BOUNDS = {"lower": "≥ a", "upper": "≤ a"}
ONE_WAY = ("latency", "PDV", "delay")  # figures whose errors only lengthen them


def how_to_read(tables: Iterable[CampaignTable]) -> dict[str, str]:
    """Returns what each mark and term means that occurs in the tables."""
    rows = [row for table in tables for row in table.rows]
    seen = {mark for row in rows for mark in _marks(row)}
    found = {"a figure": statistics} if (statistics := _statistics(rows)) else {}
    found |= {mark: meaning for mark, meaning in MEANINGS.items() if mark in seen}
    if errors := _errors(rows):
        found["error"] = errors
    if "n = 1 of 5" in found:
        found.pop("n", None)
    return found


def _marks(row: Row) -> Iterator[str]:
    if row.direction is not None:
        yield "→, ←"
    yield from _terms(row.figure)
    for value in row.values:
        yield BOUNDS.get(value.bound, "")
        yield "(a)" if value.is_uncertain else ""
        yield value.text if value.number is None else ""  # why there is no figure
        if value.spread is not None:
            yield from _marks_of(value.spread)
        if value.place is not None and value.place.theoretical_fps is not None:
            yield "of the media"


def _terms(figure: str) -> Iterator[str]:
    """Yields the terms of a figure's name: "median IPDV" has one."""
    yield figure
    yield from figure.split()
    if figure.startswith(FIRST_LOSS):
        yield FIRST_LOSS


def _marks_of(spread: Spread) -> Iterator[str]:
    yield "n = 1 of 5" if spread.n < spread.planned else "n"
    if spread.minimum != spread.maximum:
        yield "[a … b]"
    if spread.deviation is not None and spread.n > 1:
        yield "± a"
    if spread.measured:
        yield "measured"


def _statistics(rows: Iterable[Row]) -> str:
    of_several = [row for row in rows if any(_n(value) > 1 for value in row.values)]
    means = {row.statistic == "mean" for row in of_several}
    if len(means) > 1:
        return "the median of its repetitions, or their mean where its row says so"
    return "".join(f"the {'mean' if is_mean else 'median'} of its repetitions" for is_mean in means)


def _n(value: Value) -> int:
    return value.spread.n if value.spread else 0


def _errors(rows: Iterable[Row]) -> str:
    of = [row for row in rows if any(each.spread and each.spread.error for each in row.values)]
    if not of:
        return ""
    kinds = {bool(set(ONE_WAY) & set(row.figure.split())) for row in of}
    words = ["by how much a value may be wrong at most"]
    if True in kinds:
        words.append(
            "a delay can only be too long" if False in kinds else "it can only be too long"
        )
    if any(row.unit == "%" for row in of):
        words.append("points are percentage points")
    return "; ".join(words)
