"""Throughput results as a table, and what has to be said beside it."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from natxy.model.throughput_result import ThroughputResult
from natxy.model.verdict import Limit
from natxy.report.numbers import duration, rate
from natxy.statistics import Summary, summary

LABEL = "Throughput, frames a second per direction"


def throughput_table(results: Sequence[ThroughputResult]) -> Table:
    table = Table(title=title(results), title_justify="left", title_style="bold", box=box.SIMPLE)
    summaries = [summary(result.rates_fps) for result in results]
    table.add_column("DUT, traffic, frame")
    for name in rate_columns(summaries):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("n", "mis-\ndelivered", "dupli-\ncated", "invalid\ntrials", "worst\nlateness"):
        table.add_column(name, justify="right")
    for result, figures in zip(results, summaries, strict=True):
        table.add_row(*_row(result, figures, separate=len(rate_columns(summaries)) > 3))
    return table


def title(results: Sequence[ThroughputResult]) -> str:
    conforms = all(not result.departures for result in results)
    rfc = " (RFC 2544 section 26.1, RFC 8219)" if conforms else ""
    return f"{LABEL}{rfc}"


def rate_columns(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Under 100 repetitions P1 and P99 are minimum and maximum, and the table says so."""
    if all(figures.percentiles_are_extremes for figures in summaries):
        return ("median", "min = P1", "max = P99")
    return ("median", "min", "max", "P1", "P99")


def notes(results: Sequence[ThroughputResult]) -> list[str]:
    """What must not be missing beside the figures, a sentence each."""
    said = [note for result in results for note in _notes(result)]
    return list(dict.fromkeys(said))


def figure(result: ThroughputResult, rate_fps: float) -> str:
    return ("≥ " if result.is_lower_bound(rate_fps) else "") + rate(rate_fps)


def _row(result: ThroughputResult, figures: Summary, *, separate: bool) -> list[str]:
    shown = [figures.median, figures.minimum, figures.maximum]
    if separate:
        shown += [figures.p1, figures.p99]
    versions = f"IPv{result.left_ip_version}-IPv{result.right_ip_version}"
    return [
        f"{result.dut}\n{versions} {_direction(result)}, {result.frame_size_bytes} B",
        *(figure(result, rate_fps) for rate_fps in shown),
        str(figures.n),
        str(result.misdelivered),
        str(result.duplicated),
        str(result.invalid_trials),
        duration(result.worst_lateness_ns),
    ]


def _direction(result: ThroughputResult) -> str:
    return {"both": "both ways", "forward": "forward", "reverse": "reverse"}[result.direction]


def _notes(result: ThroughputResult) -> list[str]:
    said = []
    if result.departures:
        said.append(f"Does not conform to RFC 2544: {'; '.join(result.departures)}.")
    if any(r.lower_bound and r.limit is Limit.TESTER for r in result.repetitions):
        said.append(
            "≥: a lower bound, limited by the tester: above it, trials were invalid, so the "
            "gateway does at least that."
        )
    if any(r.lower_bound and r.limit is Limit.MAXIMUM for r in result.repetitions):
        said.append("≥: a lower bound: the highest rate that was to be tried passed.")
    if any(r.limit is Limit.MAXIMUM and not r.lower_bound for r in result.repetitions):
        said.append(f"{result.dut}: limited by the media's rate.")
    if any(r.rate_fps == 0 for r in result.repetitions):
        said.append(f"{result.dut}: 0 means that no rate passed; frames are lost at every rate.")
    said.append(
        f"Frame sizes are those of IPv6; IPv4 frames are 20 bytes smaller. "
        f"Search error {result.error}, seed {result.seed}."
    )
    return said
