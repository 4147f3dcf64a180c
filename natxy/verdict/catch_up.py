"""Bounds the loss that a tester can cause by catching up (docs/decisions/0018).

A sender that was L late and is no longer late has sent as many frames more than its rate as are due
in L. A gateway that forwards the rate queues them, and a queue with room for B frames loses the
rest. When the sender falls behind again, the queue empties as fast.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import Phase

# A queue that is not overloaded has room for this many frames.
ROOM_FRAMES = 64
# A round of polling takes less, so a sender that is not later has not been kept from its CPU.
ROUND_NS = 10_000
# Due times, and the bounds of a histogram's buckets, are rounded.
ROUNDING = 5 / 4

Buckets = Sequence[tuple[float, float, int]]


@dataclass(frozen=True, kw_only=True)
class Sending:
    """The times at which the frames of a phase are due."""

    # Of the bursts that a load asks for, the mean rate: their frames are late together.
    rate_fps: int
    # The longest time from when one sender's frame is due to when its next one is; infinite if the
    # load asks for bursts, or for several segments, between which there may be a silence.
    longest_gap_s: float

    @classmethod
    def of(cls, phase: Phase, result: TrialResult) -> Self:
        segments = [segment for one in phase.streams for segment in one.segments]
        steady = all(len(one.segments) == 1 for one in phase.streams) and all(
            segment.burst_frames == 1 for segment in segments
        )
        # Each CPU may have a sender for a share of the frames.
        senders = len({worker.cpu for worker in result.workers}) or 1
        gaps_s = (senders / segment.rate_fps for segment in segments)
        return cls(
            rate_fps=max(segment.rate_fps for segment in segments),
            longest_gap_s=max(gaps_s) if steady else math.inf,
        )

    def frames_at_once(self, stream: StreamResult) -> int:
        """Returns the largest number of frames by which the sender was behind."""
        return min(stream.largest_burst, self._most_owed(stream))

    def _most_owed(self, stream: StreamResult) -> int:
        return int(stream.lateness.max_ns * self.rate_fps / 1e9) + 1

    def overflow_frames(self, stream: StreamResult, room_frames: int) -> int:
        """Returns an upper bound of the frames that a direction's bursts have beyond the room of a
        queue, of all bursts together.

        A frame that does not fit was later than the room lasts: in a burst of b frames, the first
        one left b / rate after it was due, the last one in time. If the sender catches up slowly,
        or stays late, many more frames are as late. So the number of the bursts, times what the
        largest one can have had beyond the room, is a second bound.

        A load that fills the queue on purpose leaves no room. While its sender was late, the queue
        emptied, so that the gateway forwarded at most the frames that were due in that time fewer.
        """
        if not room_frames:
            return self._most_owed(stream) if stream.lateness.max_ns > ROUND_NS else 0
        room_ns = room_frames * 1e9 / self.rate_fps
        buckets = stream.lateness.buckets
        later = sum(count for _, upper_ns, count in buckets if upper_ns > room_ns)
        bursts = self._most_bursts(buckets, room_ns)
        if bursts is None:
            return later
        return min(later, bursts * max(0, self._most_owed(stream) - room_frames))

    def _most_bursts(self, buckets: Buckets, room_ns: float) -> int | None:
        """Returns how often the sender can have caught up by more than the room; None if unknown.

        Of two consecutive frames, the second is less late by at most the gap between their due
        times. So a sender that catches up by the room sends a frame in each band of lateness of
        this width that it crosses. Bands a room apart: it crosses at least one of them, wherever it
        begins. So there are no more bursts than frames in such a set of bands. The set with the
        fewest frames counts.
        """
        band_ns = ROUNDING * self.longest_gap_s * 1e9
        sets = int(room_ns / band_ns)
        if not sets:
            return None
        frames = [0] * sets
        for lower_ns, upper_ns, count in buckets:
            first, last = int(lower_ns / band_ns), int(upper_ns / band_ns)
            for band in range(first, min(last, first + sets - 1) + 1):
                frames[band % sets] += count
        return min(frames)
