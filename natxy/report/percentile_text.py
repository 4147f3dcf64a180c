"""A distribution of delays in the text format of HdrHistogram, which its plotter and others read.

https://hdrhistogram.github.io/HdrHistogram/plotFiles.html: a line for each percentile, closer to
one another the nearer to 100 %, and comments with the mean and the largest value. Values are in µs.
"""

import math
from collections.abc import Iterator, Sequence

from natxy.report.one_line import one_line

Buckets = Sequence[tuple[float, float, int]]  # lower and upper end in nanoseconds, frames; sorted
TICKS = 5  # lines for each half of the distance to 100 %, as HdrHistogram's library has by default
HEAD = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n"


def percentile_text(buckets: Buckets, *said: str) -> str:
    """Returns the text; what is `said` stands in comments at its end."""
    comments = (f"# {one_line(each)}" for each in said if each)
    return "\n".join((HEAD, *_lines(buckets), *_statistics(buckets), *comments)) + "\n"


def _lines(buckets: Buckets) -> Iterator[str]:
    total = sum(count for *_, count in buckets)
    level, below = 0.0, 0  # in percent; frames with at most the delay
    for _, upper_ns, count in buckets:
        below += count
        while level <= 100 * below / total:
            share = level / 100
            yield f"{upper_ns / 1000:12.3f} {share:2.12f} {below:10d} {1 / (1 - share):14.2f}"
            level = _next(level)
            if below == total:
                break
    yield f"{buckets[-1][1] / 1000:12.3f} {1:2.12f} {total:10d}"


def _next(level: float) -> float:
    """Returns the next percentile: each half of the distance to 100 % has as many."""
    halves = math.floor(math.log2(100 / (100 - level))) + 1
    return level + 100 / (TICKS * 2.0**halves)


def _statistics(buckets: Buckets) -> Iterator[str]:
    total = sum(count for *_, count in buckets)
    middles = [((lower + upper) / 2000, count) for lower, upper, count in buckets]
    mean = math.fsum(middle * count for middle, count in middles) / total
    squares = math.fsum((middle - mean) ** 2 * count for middle, count in middles)
    yield f"#[Mean    = {mean:12.3f}, StdDeviation   = {math.sqrt(squares / total):12.3f}]"
    yield f"#[Max     = {buckets[-1][1] / 1000:12.3f}, Total count    = {total:12d}]"
    yield f"#[Buckets = {len(buckets):12d}, SubBuckets     = {1:12d}]"
