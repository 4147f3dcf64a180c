"""Losses and absences of a direction on one time line (docs/decisions/0039).

A loss counts unless its frame is *disturbed*: due in an absence of the gateway, or while the sender
was late, or in as long again afterwards. Every other frame is *clean*.

Frames are due at equal distances, so time is counted in numbers of frames. An interval of numbers
includes its first one, and not its last one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, sqrt
from statistics import stdev
from typing import Self

from natxy.model.trial_spec import Segment
from natxy.statistics import median

Interval = tuple[int, int]
Times = tuple[float, float]  # from .. until, in ns since the phase's start
Run = tuple[int, int, int]  # the first number, how many numbers from there on, how many are lost

# The watch sees the ends of an absence to within two of its periods, and a frame is on its way.
BLUR_NS = 200_000
LEAST_CLEAN = 1 / 2  # of the frames; fewer say too little
SLOTS = 20
SPREAD = 0.8  # of the slots
LEAST_FULL = 1 / 8  # of the clean frames
LEAST_GROWN = 1 / 4  # of all frames
FEWEST_LOST = 20


@dataclass(frozen=True)
class _Stretch:
    first: int
    due_ns: float
    rate_fps: float


@dataclass(frozen=True)
class Schedule:
    """When the frames of a stream are due, with the pauses of its sender.

    The due times of a burst are those of steady traffic of the same rate.
    """

    stretches: tuple[_Stretch, ...]
    frames: int
    spacing_ns: float  # the longest time between frames, or bursts, of a segment

    @classmethod
    def of(cls, segments: Sequence[Segment], pauses: Iterable[tuple[int, float]] = ()) -> Self:
        """`pauses` are the number before which each was, and its time in ns."""
        first, due_ns, shifts = 0, 0.0, sorted(pauses)
        found: list[_Stretch] = []
        for segment in segments:
            end = first + segment.frames
            found.append(_Stretch(first, due_ns, segment.rate_fps))
            while shifts and shifts[0][0] < end:
                number, shift_ns = shifts.pop(0)
                due_ns += shift_ns
                within_ns = (number - first) * 1e9 / segment.rate_fps
                found.append(_Stretch(number, due_ns + within_ns, segment.rate_fps))
            due_ns += segment.duration_ns
            first = end
        spacing_ns = max(
            (each.burst_frames * 1e9 / each.rate_fps for each in segments), default=0.0
        )
        return cls(stretches=tuple(found), frames=first, spacing_ns=spacing_ns)

    @property
    def rate_fps(self) -> float:
        return self.stretches[0].rate_fps

    def due_ns(self, number: int) -> float:
        at = bisect_right(self.stretches, number, key=lambda each: each.first) - 1
        stretch = self.stretches[at]
        return stretch.due_ns + (number - stretch.first) * 1e9 / stretch.rate_fps

    def first_from(self, time_ns: float) -> int:
        """Returns the first number that is due at this time or later."""
        at = bisect_right(self.stretches, time_ns, key=lambda each: each.due_ns) - 1
        if at < 0:
            return 0
        stretch = self.stretches[at]
        number = stretch.first + ceil((time_ns - stretch.due_ns) * stretch.rate_fps / 1e9)
        ends = self.stretches[at + 1].first if at + 1 < len(self.stretches) else self.frames
        return min(number, ends)

    def disturbed(self, absences: Iterable[Times], late: Iterable[Interval]) -> list[Interval]:
        """Returns the disturbed numbers: of absences, and of first and last frames that were late.

        A queue behind which the gateway forwards at the trial's rate loses nothing after an
        absence, though it may stay full. Frames that waited in a ring, and then meet a policer,
        were due in the absence; after as long again the ring is empty.
        """
        blur_ns = max(BLUR_NS, 2 * self.spacing_ns)
        times = [*absences, *((self.due_ns(first), self.due_ns(last)) for first, last in late)]
        found = []
        for from_ns, until_ns in times:
            first = self.first_from(from_ns - blur_ns)
            end = self.first_from(2 * until_ns - from_ns + blur_ns)
            if first < end:
                found.append((first, end))
        return merged(found)


@dataclass(frozen=True)
class Full:
    """The losses of the time in which a gateway was full, whose frames are numbered on."""

    frames: int = 0
    runs: tuple[Run, ...] = ()

    def __add__(self, other: "Full") -> "Full":
        """Returns both, one after the other."""
        later = ((first + self.frames, span, lost) for first, span, lost in other.runs)
        return Full(frames=self.frames + other.frames, runs=(*self.runs, *later))

    @cached_property
    def lost(self) -> int:
        return sum(lost for _, _, lost in self.runs)

    @property
    def share(self) -> float:
        """The lost share of the frames; 0: the gateway was not full, or it is not known."""
        return self.lost / self.frames if self.frames else 0.0

    @property
    def error(self) -> float:
        """Returns twice the standard error of the share, from the slots, and a frame."""
        if self.frames < 2 * SLOTS:
            return 1.0
        shares = [lost / frames for lost, frames in self._slots()]
        return 2 * stdev(shares) / sqrt(SLOTS) + 1 / self.frames

    def is_spread(self, clean: int) -> bool:
        """Returns whether nearly all slots of this time have losses, of so many clean frames.

        A slot without a forwarded frame is a hole, unless more than half of all frames were lost.
        """
        if self.frames < max(LEAST_FULL * clean, 2 * SLOTS) or self.lost < FEWEST_LOST:
            return False
        if self.share > 1 / 2:
            return self.frames > clean / 2
        return sum(0 < lost < frames for lost, frames in self._slots()) >= SPREAD * SLOTS

    def _slots(self) -> Iterator[tuple[float, int]]:
        """Yields the losses and the frames of each slot."""
        for begin, end in pairwise(self.frames * slot // SLOTS for slot in range(SLOTS + 1)):
            yield sum(lost for _, _, lost in _cut(self.runs, begin, end)), end - begin


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The clean frames of a direction, in the pieces of undisturbed time, and their losses."""

    frames: int  # that were due
    pieces: tuple[Interval, ...]
    runs: tuple[Run, ...]  # of lost numbers
    schedule: Schedule  # of one of its senders
    silent: int = 0  # frames that a gateway, which nobody watches, lost in silences
    watched: bool = True
    # The lowest delays of stretches of numbers, from their first number on.
    lows: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        runs: Sequence[Run],
        disturbed: Sequence[Interval] = (),
        pauses: Iterable[int] = (),
    ) -> Self:
        """`pauses` are the numbers before which the sender paused: a piece ends there."""
        ends = sorted({*pauses, schedule.frames})
        pieces: list[Interval] = []
        begin = 0
        for first, end in [*disturbed, (schedule.frames, schedule.frames)]:
            for until in [*(each for each in ends if begin < each < first), first]:
                if begin < until:
                    pieces.append((begin, until))
                begin = until
            begin = max(begin, end)
        return cls(
            frames=schedule.frames, pieces=tuple(pieces), runs=tuple(runs), schedule=schedule
        )

    @cached_property
    def clean(self) -> int:
        return sum(end - begin for begin, end in self.pieces)

    @cached_property
    def lost(self) -> int:
        """Lost frames that count."""
        return sum(lost for _, _, lost in self.counted_runs())

    @cached_property
    def excused(self) -> int:
        """Lost frames that do not count."""
        return sum(lost for _, _, lost in self.runs) - self.lost

    @property
    def last_lost(self) -> int | None:
        """The last lost number that counts."""
        return max((first + span - 1 for first, span, _ in self.counted_runs()), default=None)

    def first_lost(self, full: Full) -> tuple[int, int]:
        """Returns the first number that the gateway would lose without a disturbance, and its
        error.

        An absence before the first loss fills the queue, and a pause empties it. While the gateway
        is full, a frame waits for as long as it takes to forward what the queue holds. So a loss
        before such a queue can be full is one of an absence that nobody saw. How long a frame waits
        is known to within the shortest delay, which may be one of a queue that an absence had
        filled before the first frame came.
        """
        first = self.runs[0][0] if self.runs else 0
        if not full.share:
            return first, 0
        lows_ns = [low_ns for _, low_ns in self.lows] or [0]
        usual_ns = median(lows_ns)
        least, most = (
            min(round(wait_ns / 1e9 * self.schedule.rate_fps * (1 / full.share - 1)), self.frames)
            for wait_ns in (usual_ns - min(lows_ns), usual_ns)
        )
        if self.pieces[0][0] == 0 and first < self.pieces[0][1]:
            return first, max(0, (least if self.watched else most) - first)
        return least, max(abs(least - first), most - least)

    def counted_runs(self) -> Iterator[Run]:
        """Yields the runs of losses that count."""
        for begin, end in self.pieces:
            for first, span, lost in _cut(self.runs, begin, end):
                yield first, span, round(lost)

    def full(self) -> Full:
        """Returns the time in which the gateway was full, and its losses.

        It was full from the first loss of a piece to the last one. At the beginning of a run of
        losses, its buffers have just become full, or its bucket empty. So the frames count from
        after one beginning up to another one: what batches hold is in both.
        """
        each = (self._between(((begin, end),)) for begin, end in self.pieces)
        return sum(each, start=Full())

    def span(self) -> Full:
        """Returns the clean frames from the first loss to the last one, and their losses.

        Pauses and absences may have emptied the queue between them, so less is lost than while it
        is full. But a gateway that serves its directions in turn, or in slices of some
        milliseconds, loses in holes, and a piece is often too short for two of them.
        """
        return self._between(self.pieces)

    def _between(self, pieces: Iterable[Interval]) -> Full:
        """Returns the frames of these pieces, numbered on, from after the first beginning of a run
        of losses up to the last one; what is left of a run at the beginning of a piece is none."""
        runs: list[Run] = []
        begun: list[int] = []
        passed = 0
        for begin, end in pieces:
            for first, span, lost in _cut(self.runs, begin, end):
                at = passed + first - begin
                runs.append((at, span, round(lost)))
                if first > begin:
                    begun.append(at)
            passed += end - begin
        if len(begun) < 2:
            return Full()
        first, last = begun[0] + 1, begun[-1] + 1
        within = _cut(runs, first, last)
        return Full(
            frames=last - first,
            runs=tuple((begin - first, span, round(lost)) for begin, span, lost in within),
        )

    @cached_property
    def growth_ns(self) -> tuple[float, float] | None:
        """Returns by how much the delay would grow in the whole trial as it did in clean time, and
        by how much at most.

        Where two neighbouring stretches are clean, the delay grew by the difference of their
        lowest ones. None: too few of them are, or all of them are in one piece of several. At most
        it grew by twice the standard error more of predicting the part that nobody has seen, from
        the differences between the pieces that were.
        """
        grown_ns: dict[int, float] = {}  # by piece
        frames: dict[int, int] = {}
        ends = (*self.lows[2:], (self.frames, 0))
        for (first, low), (second, then), (end, _) in zip(
            self.lows, self.lows[1:], ends, strict=False
        ):
            at = bisect_right(self.pieces, first, key=lambda piece: piece[0]) - 1
            if at >= 0 and end <= self.pieces[at][1]:
                grown_ns[at] = grown_ns.get(at, 0) + then - low
                frames[at] = frames.get(at, 0) + second - first
        known = sum(frames.values())
        one_of_several = len(frames) == 1 and self.clean < self.frames  # shows no differences
        if known < LEAST_GROWN * self.frames or one_of_several:
            return None
        each_ns = sum(grown_ns.values()) / known  # of a frame
        squares = [(grown_ns[at] - each_ns * frames[at]) ** 2 for at in frames]
        variance = sum(squares) * len(squares) / max(1, len(squares) - 1)  # of the known part
        unknown = (self.frames - known) / known
        likely_ns = max(0.0, each_ns * self.frames)
        return likely_ns, likely_ns + 2 * sqrt(variance * unknown * (1 + unknown))


def _cut(runs: Sequence[Run], begin: int, end: int) -> Iterator[tuple[int, int, float]]:
    """Yields the parts of runs between two numbers; the losses of a run are evenly spread."""
    at = max(0, bisect_right(runs, begin, key=lambda run: run[0]) - 1)
    for place in range(at, len(runs)):
        first, span, lost = runs[place]
        if first >= end:
            return
        from_, until = max(first, begin), min(first + span, end)
        if from_ < until:
            yield from_, until - from_, lost * (until - from_) / span


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for first, end in sorted(intervals):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((first, end))
    return found
