"""How to read a report: the marks and terms that occur in its tables, each once."""

import re
from collections.abc import Iterable, Iterator, Mapping

from natxy.report.table_rows import CampaignTable, Row, Value

# By what is looked for in the tables: the mark, and what it means.
MEANINGS: Mapping[str, tuple[str, str]] = {
    "[→←]": ("→, ←", "left to right, right to left"),
    r"\[.+ … .+\]": ("[a … b]", "lowest and highest of the repetitions"),
    "n = ": ("n", "number of repetitions that count"),
    r"n = [\d,]+ of": ("n = 1 of 5", "number of repetitions that count, and of those planned"),
    "±": ("± a", "standard deviation of the repetitions"),
    "≥": ("≥ a", "at least a (lower bound): the notes say what limits it"),
    "≤": ("≤ a", "at most a (upper bound), by the error of a value or by noise"),
    "measured ": ("measured", "the values themselves, without their errors"),
    r"^\(": ("(a)", "uncertain: the notes say why"),
    "no valid trial": ("no valid trial", "nothing is known at this point"),
    "typical latency": ("typical latency", "median of the tagged frames' delays"),
    "worst-case latency": ("worst-case latency", "99.9th percentile of the tagged frames' delays"),
    "(?<!I)PDV": ("PDV", "99.9th percentile of the delays minus the shortest delay"),
    "IPDV": ("IPDV", "delay of a frame minus that of the frame before it"),
    "first loss": (
        "first loss",
        "between a rate without loss and the lowest with one that noise does not explain",
    ),
    "of the media": ("of the media", "share of the frame rate that the slower link carries"),
}
ONE_WAY = re.compile("latency|(?<!I)PDV|delay")  # figures whose errors only lengthen them


def how_to_read(tables: Iterable[CampaignTable]) -> dict[str, str]:
    """Returns what each mark and term means that occurs in the tables."""
    rows = [row for table in tables for row in table.rows]
    texts = [text for row in rows for text in _texts(row)]
    found = {"a figure": statistics} if (statistics := _statistics(rows)) else {}
    for pattern, (mark, meaning) in MEANINGS.items():
        if any(re.search(pattern, text) for text in texts):
            found[mark] = meaning
    if errors := _errors(rows):
        found["error"] = errors
    if "n = 1 of 5" in found:
        del found["n"]
    return found


def _texts(row: Row) -> Iterator[str]:
    yield row.title
    for value in row.values:
        yield from (value.text, *value.below)
        yield value.spread.text if value.spread else ""


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
    kinds = {bool(ONE_WAY.search(row.figure)) for row in of}
    words = ["by how much a value may be wrong at most"]
    if True in kinds:
        words.append(
            "a delay can only be too long" if False in kinds else "it can only be too long"
        )
    if any(row.unit == "%" for row in of):
        words.append("points are percentage points")
    return "; ".join(words)
