"""Fewer buckets where nothing reads the histogram of a trial again (docs/decisions/0029).

Buckets that are next to each other become one, from the lower bound of the first to the upper bound
of the last. It is not wider than a sixteenth of its distance from the smallest value, or than a
nanosecond, plus the widths of its first and last bucket. Count, extremes, mean and percentiles of
the distribution stay as the engine calculated them.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

BITS = 4  # 2^BITS buckets an octave


def widen(trial: dict[str, Any]) -> None:
    """Widens the buckets of a trial's line that no verdict and no report reads.

    A verdict reads how late frames left only after a loss, a report the delays of trials that
    measure them. The polls' and steps' gaps have few buckets, and stay.
    """
    streams = trial["result"]["streams"]
    early = [each for each in (trial["phase_1"], trial["sample"], *trial["starting"]) if each]
    lost = any(counters["lost"] for stream in (*early, *streams) for counters in _kinds(stream))
    for stream in (*early, *streams):
        _widen(stream["send_call"])
        if not lost:
            _widen(stream["lateness"])
    for stream in early if trial["measures_delays"] else (*early, *streams):
        for counters in _kinds(stream):
            _widen(counters["delay"])


def _kinds(stream: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (counters for counters in stream["kinds"].values() if counters)


def _widen(distribution: dict[str, Any]) -> None:
    distribution["buckets"] = wide(distribution["buckets"])


def wide(buckets: list[list[Any]]) -> list[list[Any]]:
    """Returns fewer [lower_ns, upper_ns, count] with the same frames, in the same order."""
    least_ns = min((lower_ns for lower_ns, _, _ in buckets), default=0.0)
    together = groupby(buckets, key=lambda bucket: _step(bucket[0] - least_ns))
    return [_one(list(members)) for _, members in together]


def _one(members: list[list[Any]]) -> list[Any]:
    lower_ns, upper_ns, counts = zip(*members, strict=True)
    return [min(lower_ns), max(upper_ns), sum(counts)]


def _step(distance_ns: float) -> int:
    """Returns the log-linear bucket of a distance, as engine/run/histogram.hpp numbers them."""
    whole = int(distance_ns)
    shift = max(0, whole.bit_length() - (BITS + 1))
    return (shift << BITS) + (whole >> shift)
