"""A table of the throughputs of several gateways, with the notes under it."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from natxy.model.measurement import TrialCounts
from natxy.model.standing_departures import STANDING
from natxy.model.throughput_result import ThroughputResult
from natxy.report.checksum_notes import checksum_notes
from natxy.report.connection_notes import connection_notes
from natxy.report.icmp_notes import icmp_notes
from natxy.report.media_notes import device_notes
from natxy.report.noise_notes import disturbance_notes
from natxy.report.numbers import duration, rate
from natxy.report.verification_notes import verification_notes
from natxy.statistics import Summary, summary

DIRECTIONS = {"both": "both ways", "forward": "left to right", "reverse": "right to left"}
TITLE = "Throughput, frames a second per direction"


def throughput_table(results: Sequence[ThroughputResult]) -> Table:
    """Returns a table with a column per gateway; three fit a terminal of 80 characters."""
    table = Table(title=TITLE, title_justify="left", title_style="bold", box=box.SIMPLE)
    table.min_width = len(TITLE) + 1
    table.add_column("")
    for result in results:
        table.add_column(result.dut, justify="right")
    summaries = [summary(result.rates_fps) for result in results]
    for name, cells in _rows(results, summaries):
        table.add_row(name, *cells, style="bold" if name == "median" else "")
    return table


def _rows(
    results: Sequence[ThroughputResult], summaries: Sequence[Summary]
) -> Iterator[tuple[str, list[str]]]:
    yield "IP versions", [f"{r.left_ip_version} and {r.right_ip_version}" for r in results]
    yield "direction", [DIRECTIONS[result.direction] for result in results]
    yield "frame size", [f"{result.frame_size_bytes} B" for result in results]
    for name, rates in rate_rows(summaries):
        yield name, [figure(r, rate) for r, rate in zip(results, rates, strict=True)]
    yield "repetitions (n)", [str(figures.n) for figures in summaries]
    yield "misdelivered", [f"{result.misdelivered:,}" for result in results]
    yield "duplicated", [f"{result.duplicated:,}" for result in results]
    yield from _connection_rows(results)
    yield "invalid trials", [_invalid(result.measurement().counts) for result in results]
    yield "worst lateness", [duration(result.worst_lateness_ns) for result in results]


def _invalid(counts: TrialCounts) -> str:
    """Returns the count of invalid trials with their share of all trials."""
    share = counts.invalid_trials / counts.trials * 100 if counts.trials else 0
    return f"{counts.invalid_trials:,} ({share:.0f} %)" if counts.invalid_trials else "0"


def _connection_rows(results: Sequence[ThroughputResult]) -> Iterator[tuple[str, list[str]]]:
    """Yields the rows about connections, if one of the results has connections."""
    asked = [result.connections for result in results]
    if not any(asked):
        return
    yield "connections", [f"{c.count:,}" if c and c.count is not None else "" for c in asked]
    yield "phase 1 rate", [rate(c.rate_fps) if c and c.rate_fps else "" for c in asked]


def rate_rows(summaries: Sequence[Summary]) -> Iterator[tuple[str, list[float]]]:
    """Yields the rows of statistics; with fewer than 100 repetitions P1 is the minimum and P99 the
    maximum, so one row shows both."""
    yield "median", [figures.median for figures in summaries]
    extremes = all(figures.percentiles_are_extremes for figures in summaries)
    yield "minimum (= P1)" if extremes else "minimum", [figures.minimum for figures in summaries]
    yield "maximum (= P99)" if extremes else "maximum", [figures.maximum for figures in summaries]
    if not extremes:
        yield "P1", [figures.p1 for figures in summaries]
        yield "P99", [figures.p99 for figures in summaries]


def notes(results: Sequence[ThroughputResult]) -> list[str]:
    """Returns the notes under the table, one sentence each."""
    said = [note for result in results for note in _notes(result)]
    return list(dict.fromkeys(said))


def figure(result: ThroughputResult, rate_fps: float) -> str:
    return ("≥ " if result.is_lower_bound(rate_fps) else "") + rate(rate_fps)


def _notes(result: ThroughputResult) -> list[str]:
    said = []
    if result.departures:
        said.append(f"Does not conform to RFC 2544: {'; '.join(result.departures)}.")
    else:
        standing = "; ".join(STANDING)
        said.append(f"Conforms to RFC 2544 section 26.1 and RFC 8219, except for: {standing}.")
    said += result.bounds
    said += [f"{result.dut}: {end}" for end in result.ends]
    said += connection_notes(result.connections, result.measurement().counts)
    said += [f"{result.dut}: {note}" for note in verification_notes(result.measurement().counts)]
    said += [f"{result.dut}: {note}" for note in checksum_notes(result.measurement().counts)]
    disturbance = result.measurement().counts.disturbance
    said += [f"{result.dut}: {note}" for note in disturbance_notes(disturbance)]
    said += icmp_notes(result.measurement().counts.icmp_errors)
    said += device_notes((result.left_media, result.right_media))
    said.append(
        f"Frame sizes are those of IPv6; IPv4 frames are 20 bytes smaller. "
        f"Search error {result.error}, seed {result.seed}."
    )
    return said
