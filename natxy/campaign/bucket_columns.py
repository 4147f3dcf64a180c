"""The buckets of a distribution as the journal holds them: whole numbers of clock ticks.

A bound in nanoseconds is `ticks * 1e9 / tick_hz`, as in engine/run/clock.hpp, and has up to 17
digits; the number of ticks since the bound before it has one to three. Buckets become columns only
if the columns give back every bound bit by bit (docs/decisions/0024).

Where nothing reads the histogram of a trial again, it has fewer buckets (docs/decisions/0029).
Buckets that are next to each other become one, from the lower bound of the first to the upper bound
of the last. It is not wider than a sixteenth of its distance from the smallest value, or than a
nanosecond, plus the widths of its first and last bucket. Count, extremes, mean and percentiles of
the distribution stay as the engine calculated them.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby
from operator import sub
from typing import Any

from natxy.model.distribution import Distribution

NS_PER_S = 1e9
MEMBERS = Distribution.model_fields.keys()
BITS = 4  # 2^BITS buckets an octave


def pack_buckets(record: Any, tick_hz: int) -> None:
    """Replaces the buckets of all distributions in a record by columns; a rate of 0: none."""
    for distribution in _distributions(record):
        distribution["buckets"] = columns(distribution["buckets"], tick_hz)


def unpack_buckets(record: Any) -> None:
    """Replaces the columns of all distributions in a record by lists of buckets."""
    for distribution in _distributions(record):
        if isinstance(distribution["buckets"], dict):
            distribution["buckets"] = buckets(distribution["buckets"])


def columns(listed: list[list[Any]], tick_hz: int) -> Any:
    """Returns the columns of a list of [lower_ns, upper_ns, count].

    Returns the list itself if it is empty or if a bound is not a whole number of ticks.
    """
    if not listed or not tick_hz:
        return listed
    bounds_ns = list(chain.from_iterable(listed))  # and counts, which are taken out
    counts = bounds_ns[2::3]
    del bounds_ns[2::3]
    ticks_per_ns = tick_hz / NS_PER_S
    try:
        ticks = [round(bound_ns * ticks_per_ns) for bound_ns in bounds_ns]
    except OverflowError:
        return listed
    if not _same_bits(_nanoseconds(ticks, tick_hz), bounds_ns):
        return listed
    steps = list(map(sub, ticks, [0, *ticks]))
    return {
        "tick_hz": tick_hz,
        "gaps": steps[::2],  # from the upper bound of the bucket before
        "widths": steps[1::2],  # upper bound - lower bound
        "counts": counts,
    }


def buckets(packed: Mapping[str, Any]) -> list[list[Any]]:
    """Returns the list of [lower_ns, upper_ns, count] that the columns were made of."""
    steps = chain.from_iterable(zip(packed["gaps"], packed["widths"], strict=True))
    bounds_ns = _nanoseconds(accumulate(steps), packed["tick_hz"])
    both = zip(bounds_ns[::2], bounds_ns[1::2], packed["counts"], strict=True)
    return [list(bucket) for bucket in both]


def _nanoseconds(ticks: Iterable[int], tick_hz: int) -> list[float]:
    return [number * NS_PER_S / tick_hz for number in ticks]


def _same_bits(these: Sequence[float], those: Sequence[float]) -> bool:
    """Returns True if all are the same; for ==, -0.0 and 0.0 are equal."""
    return array("d", these).tobytes() == array("d", those).tobytes()


def _distributions(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.keys() == MEMBERS:
            yield node
        else:
            for value in node.values():
                yield from _distributions(value)
    elif isinstance(node, list):
        for value in node:
            yield from _distributions(value)


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
