"""The plots of a report: what each shows, and its data. `drawings.py` draws them."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, Literal

WIDE = 100  # from this ratio of the largest to the smallest value on, their axis is logarithmic
LONGEST_NAME_BYTES = 120  # of a file, with room for -2 and .parquet
SIZE, MIX, SHARE = "frame_size_bytes", "foreground_percent", "at_percent"  # fields of rows
TITLES = {  # of an axis, by the unit of a point or by the field of rows
    "fps": "offered rate, frames a second per direction",
    "flows": "flows",
    "subscribers": "subscribers",
    "connections": "connections",
    "cores": "cores of the gateway",
    SIZE: "frame size as IPv6, octets",
    SHARE: "offered rate, % of the media's",
    MIX: "foreground, %",
}
Rows = list[dict[str, Any]]
Kind = Literal["dots", "lines", "percentiles", "trace", "time", "course", "heat"]


@dataclass(frozen=True, kw_only=True)
class Chart:
    key: str  # of its data in files: "throughput"
    title: str
    kind: Kind
    rows: Rows  # what is drawn, one mapping a point
    words: dict[str, Any] = field(default_factory=dict)  # what the kind needs beside: axes, order

    @property
    def is_drawn(self) -> bool:
        """A single value is in the table, and needs no plot; nor do figures that are all 0,
        nor trials that are no search."""
        if self.kind == "trace":
            return len({row["tried"] for row in self.rows}) > 1
        if self.kind == "dots" and all(map(_is_0_or_unknown, self.rows)):
            return False
        return len(self.rows) > 1


def dots_at_each_place(chart: Chart) -> int:
    """Returns how many kinds of dots a place has; one is told by the label of its place."""
    place, of = chart.words["place"], chart.words["of"]
    return 1 if place == of else len({row[of] for row in chart.rows})


def _is_0_or_unknown(row: dict[str, Any]) -> bool:
    """Tells whether a figure has no other value than 0; what is computed has one value alone."""
    return not any(row.get(field, True) for field in ("minimum", "maximum"))


def file_name(words: str) -> str:
    """Returns a label as a part of a file's name: never hidden, empty, or too long for a disk."""
    name = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", words))
    return _cut(name.strip("-.")).rstrip("-.") or "plot"


def _cut(name: str) -> str:
    return name.encode()[:LONGEST_NAME_BYTES].decode(errors="ignore")


def named_apart(charts: Sequence[Chart]) -> list[Chart]:
    """Returns the charts with keys of which no two are one name of a file, also where a file system
    does not tell capital letters. The second of a name gets -2; the first charts keep theirs."""
    keys = apart([each.key for each in charts])
    return [replace(each, key=key) for each, key in zip(charts, keys, strict=True)]


def apart(names: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    found = []
    for each in names:
        tried = chain([each], (f"{each}-{number}" for number in count(2)))
        found.append(next(name for name in tried if _folded(name) not in taken))
        taken.add(_folded(found[-1]))
    return found


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
