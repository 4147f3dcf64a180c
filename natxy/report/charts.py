"""The plots of a report: what each shows, and its data. `drawings.py` draws them.

Those of trials show what a search tried, what disturbed it, and the delays of the frames.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
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
LOSS = "loss, % (no point: none)"  # at a given rate: a search loses frames by design
NOISE = "away, ms (no point: not away)"
OVER_TIME = {  # the quantity (empty: that of the trial's rate) and the name of a field of trials
    "rate_fps": ("", "rate"),
    "lost_percent": (LOSS, "lost frames"),
    "median_us": ("delay, µs", "median delay"),
    "p999_us": ("delay, µs", "99.9th percentile of the delays"),
    "busy_percent": ("CPU, %", "busiest CPU of the gateway"),
    "paused_ms": (NOISE, "tester paused"),
    "away_ms": (NOISE, "gateway without its CPU"),
}


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


def trace_chart(trials: Rows) -> Chart:
    """Returns what each trial tried, and its verdict; searches that gave a result come first."""
    rows = sorted(_by_search(trials), key=lambda row: row["result"] is None)
    title = "Trials: what each one tried, and its verdict"
    title += "; dashed: the result" * any(row["result"] is not None for row in rows)
    return Chart(key="trials", title=title, kind="trace", rows=rows, words={"choice": "search"})


def _by_search(trials: Rows) -> Iterator[dict[str, Any]]:
    """Yields the trials with the name of their search and their place in it. The result is that of
    the last search of a cell: others are for a rate that it needs."""
    seen: Counter[str] = Counter()  # trials with the number 1, which begin a part of the cell
    parts = []  # of each trial
    for row in trials:
        seen[row["cell"]] += row["number"] == 1
        parts.append((row["cell"], seen[row["cell"]], row["quantity"]))
    tried: dict[tuple[Any, int], set[Any]] = defaultdict(set)  # by part and repetition
    for part, row in zip(parts, trials, strict=True):
        tried[part, row["repetition"]].add(row["tried"])
    searches = {part for (part, _), values in tried.items() if len(values) > 1}
    repetitions = Counter(part for part, _ in tried)
    quantities = Counter(part[:2] for part in repetitions)
    last, places = {part[0]: part for part in parts}, Counter[str]()
    for part, row in zip(parts, trials, strict=True):
        cell, number, quantity = part
        is_one = part not in searches or repetitions[part] == 1
        words = (
            cell,
            f"search {number}" if seen[cell] > 1 else "",
            f"for {quantity}" if quantities[cell, number] > 1 else "",
            "" if is_one else f"repetition {row['repetition']}",
        )
        name = ", ".join(filter(None, words))
        places[name] += 1
        result = row["result"] if part == last[cell] else None
        yield {**row, "search": name, "nth": places[name], "result": result}


def time_chart(trials: Rows) -> Chart:
    """Returns the rate, the loss and the delays of each trial, the gateway's busiest CPU, and how
    long the tester paused and the gateway was away, over the time of the campaign."""
    rows = [
        {
            **{name: row[name] for name in ("at_s", "cell", "verdict")},
            "quantity": quantity or row["rate_of"],
            "what": what,
            "value": row[field],
        }
        for row in trials
        for field, (quantity, what) in OVER_TIME.items()
        if row[field] is not None and (row[field] or quantity not in (LOSS, NOISE))
        if quantity != LOSS or row["result"] is None
    ]
    title = "Over time: rate, loss, delay, CPU and pauses of each trial"
    title += "; hollow: INVALID" * any(row["verdict"] == "INVALID" for row in rows)
    return Chart(key="over-time", title=title, kind="time", rows=rows)


def distribution_charts(curves: Rows, *, tagged: bool = False) -> list[Chart]:
    """Returns the percentiles of the delays; rows have `panel`, `curve`, `delay_us`, `share`. Those
    of the table may be of tagged frames."""
    if not curves:
        return []
    # The last of all frames has no place on an axis on which the nines are equally far apart.
    rows = [
        {**row, "frames_per_later": round(1 / (1 - row["share"]), 4) if row["share"] < 1 else None}
        for row in curves
    ]
    title = "Delays: percentiles of all frames of the valid trials"
    title += "; a latency is that of tagged frames" * tagged
    return [Chart(key="delays", title=title, kind="percentiles", rows=rows)]


def course_charts(slots: Rows) -> list[Chart]:
    """Returns a chart of the delays over the time of a trial; rows have `trial`, `direction`,
    `at_s` and delays in µs."""
    if not slots:
        return []
    title = "Delays over time: median, minimum and maximum of the frames that left together"
    words = {"choice": "trial"}
    return [Chart(key="delay-over-time", title=title, kind="course", rows=slots, words=words)]
