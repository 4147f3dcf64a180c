"""Plots of trials: what a search tried, what disturbed it, and the delays of the frames."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from natxy.report.charts import Chart, Rows

NOISE = "away, ms (no point: not away)"
OVER_TIME = {  # the quantity (empty: that of the trial's rate) and the name of a field of trials
    "rate_fps": ("", "rate"),
    "median_us": ("delay, µs", "median delay"),
    "p999_us": ("delay, µs", "99.9th percentile of the delays"),
    "busy_percent": ("CPU, %", "busiest CPU of the gateway"),
    "paused_ms": (NOISE, "tester paused"),
    "away_ms": (NOISE, "gateway without its CPU"),
}


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
    """Returns the rate and the delays of each trial, the gateway's busiest CPU, and how long the
    tester paused and the gateway was away, over the time of the campaign."""
    rows = [
        {
            **{name: row[name] for name in ("at_s", "cell", "verdict")},
            "quantity": quantity or row["rate_of"],
            "what": what,
            "value": row[field],
        }
        for row in trials
        for field, (quantity, what) in OVER_TIME.items()
        if row[field] is not None and (row[field] or quantity != NOISE)
    ]
    title = "Over time: rate, delay, CPU and pauses of each trial"
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
