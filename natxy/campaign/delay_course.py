"""The course of delays over the time of each trial, read from a file of records."""

from pathlib import Path
from typing import Any

from natxy.errors import ConfigurationError
from natxy.setting import Setting

SLOTS = 100  # of time, in each trial
MOST_POINTS = 10_000  # of all trials and directions, so that a report stays small
FEWEST_SLOTS = 20
COLUMNS = ("trial", "frame_size_bytes", "direction", "departure_ns", "delay_ns")


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
