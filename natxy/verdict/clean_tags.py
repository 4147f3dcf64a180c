"""Latency is that of the tagged frames which nothing disturbed (docs/decisions/0039).

Of a gateway that nobody watches, the tags that came in or after a silence count, and are counted:
something made it pause, and nobody knows what.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.remark import Remark, Topic
from natxy.model.stream_counters import TagCounters
from natxy.model.trial_result import TrialResult
from natxy.statistics import median, percentile
from natxy.verdict.losses import Losses
from natxy.verdict.silences import is_watched, shortest_silence
from natxy.verdict.timeline import LEAST_CLEAN, Interval, Times

TENTH = Fraction(1, 10)
LONG_PIECE = 10  # tags in its second half; a tenth of fewer would depend on single ones
HELD = 3  # tags that a silence kept waiting; single ones may be late by themselves


def with_clean_tags(result: TrialResult, losses: Losses, absence: Absence | None) -> TrialResult:
    """Returns the result with the tagged frames that count, each with its own error."""
    streams = []
    for stream in result.streams:
        tags = stream.tags
        if tags is not None:
            line = losses.lines[stream.phase, stream.direction]
            tags = clean(tags, line.pieces)
            if not is_watched(result, absence):
                tags = with_silences(tags, line.schedule.due_ns)
        streams.append(stream.model_copy(update={"tags": tags}))
    return result.model_copy(update={"streams": tuple(streams)})


def with_silences(tags: TagCounters, due_ns: Callable[[int], float]) -> TagCounters:
    """Returns the tags of a gateway that is not watched, with the number of those that may have
    waited in a silence or, for as long again, behind frames that did."""
    if len(tags.arrived) < HELD:
        return tags
    shortest_ns = min(delay_ns for _, delay_ns, _ in tags.arrived)
    # When each arrived, and when at the earliest it could have.
    times = [(due_ns(number) + delay_ns, delay_ns) for number, delay_ns, _ in tags.arrived]
    earliest = sorted(at_ns - delay_ns + shortest_ns for at_ns, delay_ns in times)
    silences = [
        (begin, end)
        for begin, end in _silences(sorted(at_ns for at_ns, _ in times))
        if bisect_left(earliest, end) - bisect_left(earliest, begin) >= HELD
    ]
    begins = [begin for begin, _ in silences]

    def waited(at_ns: float, delay_ns: int) -> bool:
        last = bisect_left(begins, at_ns) - 1  # the last silence that began before it arrived
        return last >= 0 and at_ns - delay_ns + shortest_ns < 2 * silences[last][1] - begins[last]

    return tags.model_copy(update={"held": sum(waited(*each) for each in times)})


def _silences(arrivals_ns: Sequence[float]) -> list[Times]:
    limit_ns = shortest_silence((end - begin, 1) for begin, end in pairwise(arrivals_ns))
    return [(begin, end) for begin, end in pairwise(arrivals_ns) if end - begin > limit_ns]


def clean(tags: TagCounters, pieces: Sequence[Interval]) -> TagCounters:
    """Returns the tags of the pieces of undisturbed time.

    What waited in an absence delays the frames behind it for a time that nobody knows. So a piece
    begins after the first tag whose delay is not above the median of all, or is as short as a tenth
    of those of a long piece's second half: the gateway may have become slower. That tag itself is
    left out, since it was chosen for its short delay: the others are then as they come.
    """
    numbers = [number for number, _, _ in tags.arrived]
    places = [(bisect_left(numbers, begin), bisect_left(numbers, end)) for begin, end in pieces]
    delays_ns = [tags.arrived[at][1] for first, end in places for at in range(first, end)]
    arrived, lost = list[tuple[int, int, int]](), list[int]()
    if not delays_ns:
        return _of(tags, arrived, [number for piece in pieces for number in _lost_in(tags, *piece)])
    usual_ns = median(delays_ns)
    disturbed_until = 0
    for (begin, until), (first, end) in zip(pieces, places, strict=True):
        if begin > disturbed_until:
            later_ns = [tags.arrived[at][1] for at in range((first + end) // 2, end)]
            is_long = len(later_ns) >= LONG_PIECE
            settled_ns = max(usual_ns, percentile(later_ns, TENTH)) if is_long else usual_ns
            settled = (at for at in range(first, end) if tags.arrived[at][1] <= settled_ns)
            last_waiting = next(settled, end - 1)
            first, begin = min(last_waiting + 1, end), until
            if first < end:
                begin = numbers[last_waiting] + 1
        disturbed_until = until
        arrived += tags.arrived[first:end]
        lost += _lost_in(tags, begin, until)
    return _of(tags, arrived, lost)


def _lost_in(tags: TagCounters, begin: int, until: int) -> tuple[int, ...]:
    first, end = (bisect_left(tags.lost_numbers, number) for number in (begin, until))
    return tags.lost_numbers[first:end]


def _of(
    tags: TagCounters, arrived: Sequence[tuple[int, int, int]], lost: Sequence[int]
) -> TagCounters:
    sent = len(arrived) + len(lost)
    return TagCounters(
        sent=sent,
        received=len(arrived),
        lost=len(lost),
        arrived=tuple(arrived),
        lost_numbers=tuple(lost),
        disturbed=tags.disturbed + tags.sent - sent,
    )


def too_few(result: TrialResult) -> tuple[Reason, ...]:
    """Returns a reason for each direction of whose tagged frames few are clean."""
    return tuple(
        Reason.of(
            Code.FEW_CLEAN_TAGS,
            stream.direction,
            clean=tags.sent,
            tags=tags.sent + tags.disturbed,
            limit_share=LEAST_CLEAN,
        )
        for stream in result.streams
        if (tags := stream.tags) and tags.sent < LEAST_CLEAN * (tags.sent + tags.disturbed)
    )


def waits(results: Sequence[TrialResult]) -> Iterator[Remark]:
    """Yields a remark if tagged frames count that may have waited in pauses of a gateway that
    nobody watches."""
    all_tags = [stream.tags for result in results for stream in result.streams if stream.tags]
    held = max((tags.held / max(1, tags.sent) for tags in all_tags), default=0)
    if held:
        yield Remark.of(Topic.TAGS_IN_SILENCE, held_percent=held * 100)
