"""Silences of a gateway that nobody watches: something made it pause, and nobody knows what.

A silence is a gap between frames that came through, SILENCE times as long as usual. Usual is the
gap in which half of the time passes: one in some thousand gaps of arrivals by chance is longer than
a silence.
"""

from collections.abc import Callable, Iterable, Sequence

from natxy.model.disturbance import Absence
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult

SILENCE = 5
Gap = tuple[float, int]  # its length, and how many gaps have it


def is_watched(result: TrialResult, absence: Absence | None) -> bool:
    return bool(result.watched) or absence is not None


def with_silences_counted(result: TrialResult) -> TrialResult:
    """Returns the result with the number of frames of each stream that were lost in silences."""
    streams = tuple(
        stream.model_copy(update={"lost_in_silences": lost_in_silences(stream)})
        if stream.lost_runs
        else stream
        for stream in result.streams
    )
    return result.model_copy(update={"streams": streams})


def lost_in_silences(stream: StreamResult) -> int:
    """Returns how many frames of a stream were lost in silences.

    Frames are due at equal distances, so the gaps are counted in frames. A full gateway that takes
    batches loses a run of frames between two of them. So if the gateway was full, a silence is also
    SILENCE times as long as half of its runs of losses.
    """
    gaps: list[Gap] = []
    arrived = stream.sent
    for _, span, lost in stream.lost_runs:
        ends = span - lost + 1  # arrivals, of which the last one is behind the run
        gaps.append(((span + 1) / ends, ends))
        arrived -= span + 1
    shortest = shortest_silence([*gaps, (1, max(0, arrived))])
    usual_run = _middle(sorted(gaps), lambda _, number: number)
    if _was_full(stream, usual_run):
        shortest = max(shortest, SILENCE * usual_run)
    return sum(lost for _, span, lost in stream.lost_runs if lost == span and lost >= shortest)


def shortest_silence(gaps: Iterable[Gap]) -> float:
    return SILENCE * _middle(sorted(gaps), lambda length, number: length * number)


def _was_full(stream: StreamResult, usual_run: float) -> bool:
    """Returns whether frames waited most of the time, for as long as half of a run of losses: a
    queue holds at least what comes between two batches."""
    if not stream.low_delays or not stream.due:
        return False
    return stream.usual_wait_ns >= usual_run * stream.sending_ns / stream.due / 2


def _middle(gaps: Sequence[Gap], weight: Callable[[float, int], float]) -> float:
    """Returns the length up to which the gaps have half of the weight of all."""
    half = sum(weight(*gap) for gap in gaps) / 2
    passed = length = 0.0
    for length, number in gaps:
        passed += weight(length, number)
        if passed >= half:
            break
    return length
