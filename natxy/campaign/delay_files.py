"""Files of delays: their distribution, and their course over the time of each trial.

The distribution is in the text format of HdrHistogram, which its plotter and others read
(https://hdrhistogram.github.io/HdrHistogram/plotFiles.html): a line for each percentile, closer to
one another the nearer to 100 %, and comments with the mean and the largest value. Values are in µs.
The course is read from a file of records.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from natxy.campaign.delay_curves import DelayCurve
from natxy.errors import ConfigurationError
from natxy.report.charts import apart, file_name
from natxy.setting import Setting
from natxy.visible import one_line
from natxy.whole_file import write_whole

SLOTS = 100  # of time, in each trial
MOST_POINTS = 10_000  # of all trials and directions, so that a report stays small
FEWEST_SLOTS = 20
COLUMNS = ("trial", "frame_size_bytes", "direction", "departure_ns", "delay_ns")
Buckets = Sequence[tuple[float, float, int]]  # lower and upper end in nanoseconds, frames; sorted
TICKS = 5  # lines for each half of the distance to 100 %, as HdrHistogram's library has by default
HEAD = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n"
BEGIN, ENDING = "delays", "hgrm"


def delay_course(path: Path) -> list[dict[str, Any]]:
    """Returns the median and the extremes of the delays of each slot of time, in microseconds.

    A slot has the frames of one direction that left within the same part of the measured phase.
    """
    frames = _frames(path)
    if not frames.num_rows:
        return []
    return [
        {
            "trial": f"trial {group['trial']}, {group['frame_size_bytes']:,} B",
            "direction": group["direction"],
            "at_s": round(group["slot"] * group["width_ns"] / 1e9, 6),
            "median_us": round(group["delay_ns_approximate_median"] / 1000, 3),
            "minimum_us": round(group["delay_ns_min"] / 1000, 3),
            "maximum_us": round(group["delay_ns_max"] / 1000, 3),
        }
        for group in _slots(frames)
    ]


def _frames(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ConfigurationError(
            Setting("records"),
            ": the Python package pyarrow is not installed (expected `pip install natxy[report]`)",
        ) from None
    wanted = [("phase", "==", "test"), ("status", "==", "received")]
    try:
        if path.exists() and not path.is_file():
            raise OSError("is not a file")
        return pq.read_table(path, columns=list(COLUMNS), filters=wanted)
    except (OSError, pa.ArrowException) as error:
        raise ConfigurationError(
            f"{path}: cannot be read: {error} (expected a file that ", Setting("records"), " wrote)"
        ) from None


def _slots(frames: Any) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    place = frames.schema.get_field_index("direction")  # as words, not as a dictionary of words
    frames = frames.set_column(place, "direction", frames["direction"].cast(pa.string()))
    longest_ns = pc.max(frames["departure_ns"]).as_py()
    trials = len(pc.unique(frames["trial"]))
    width_ns = max(longest_ns, 1.0) / max(FEWEST_SLOTS, min(SLOTS, MOST_POINTS // (2 * trials)))
    slot = pc.floor(pc.divide(frames["departure_ns"], width_ns)).cast(pa.int64())
    groups = (
        frames.append_column("slot", slot)
        .group_by(["trial", "frame_size_bytes", "direction", "slot"])
        .aggregate([("delay_ns", name) for name in ("approximate_median", "min", "max")])
        .sort_by([(name, "ascending") for name in ("trial", "direction", "slot")])
    )
    return [{**group, "width_ns": width_ns} for group in groups.to_pylist()]


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


def write_delays(curves: Sequence[DelayCurve], folder: Path, *said: str) -> list[Path]:
    """Writes the files, and returns them."""
    names = [file_name(" ".join((BEGIN, *_parts(curve)))) for curve in curves]
    files = {folder / f"{name}.{ENDING}": of for name, of in zip(apart(names), curves, strict=True)}
    for path, curve in files.items():
        write_whole(path, percentile_text(curve.buckets, ", ".join(_parts(curve)), *said))
    return list(files)


def _parts(curve: DelayCurve) -> list[str]:
    parts = (curve.measure, curve.column, curve.series, curve.direction)
    return [part for part in parts if part]
