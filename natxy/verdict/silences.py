"""Silences of a gateway that nobody watches: something made it pause, and nobody knows what.

A silence is SILENCE times as long as the gap between arrivals in which half of the time passes. One
in some thousand gaps of arrivals by chance is longer.
"""

from collections.abc import Callable, Iterable, Sequence

from natxy.model.disturbance import Absence
from natxy.model.trial_result import StreamResult, TrialResult

SILENCE = 5


def is_watched(result: TrialResult, absence: Absence | None) -> bool:
    return bool(result.watched) or absence is not None


def shortest_silence(gaps: Iterable[tuple[float, int]]) -> float:
    """`gaps` are lengths, each with the number of gaps that have it."""
    return SILENCE * _half_way(sorted(gaps), lambda length, number: length * number)


def lost_in_silences(stream: StreamResult) -> int:
    """Returns how many frames of a stream were lost in silences.

    Frames are due at equal distances, so the gaps are counted in frames. A gateway that takes
    batches loses a run of frames between two of them, so a silence is also as much longer than half
    of the runs.
    """
    gaps: list[tuple[float, int]] = []
    arrived = stream.sent
    for _, span, lost in stream.lost_runs:
        ends = span - lost + 1  # arrivals, of which the last one is behind the run
        gaps.append(((span + 1) / ends, ends))
        arrived -= span + 1
    usual_run = SILENCE * _half_way(sorted(gaps), lambda _, number: number)
    limit = max(usual_run, shortest_silence([*gaps, (1, max(0, arrived))]))
    return sum(lost for _, span, lost in stream.lost_runs if lost == span and lost >= limit)


def _half_way(gaps: Sequence[tuple[float, int]], weight: Callable[[float, int], float]) -> float:
    """Returns the length up to which the gaps have half of the weight of all."""
    half = sum(weight(*gap) for gap in gaps) / 2
    passed = length = 0.0
    for length, number in gaps:
        passed += weight(length, number)
        if passed >= half:
            break
    return length
