"""The load of a trial: its frames, what it records, and what it tolerates."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import frames_of
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import NO_RECORDING, Recording, Segment
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance
from natxy.trial.establishing import Establishing
from natxy.trial.phases import steady_segment
from natxy.verdict.counted import Counting
from natxy.verdict.pacing import PAUSE_SHARE


@dataclass(frozen=True, kw_only=True)
class Load:
    """The frames that a trial sends in each direction, and what it records and tolerates."""

    segments: tuple[Segment, ...]
    recording: Recording = NO_RECORDING
    early_end_s: Fraction = Fraction(0)  # 0: a trial runs to its end
    link_may_fall: bool = False  # True in a reset, in which links of the gateway go down
    accepted: LossTolerance = NO_LOSS
    # Tolerances of other goals of the same search, which judge the trial as well.
    also_accepted: tuple[LossTolerance, ...] = ()
    fills_buffers: bool = False  # the load fills queues, so that even a short absence loses frames
    # True: a sender that is far behind moves its schedule; False: it sends all overdue frames.
    pauses: bool = False
    pause_share: Fraction = PAUSE_SHARE  # longest pauses of a valid trial
    counting: Counting | None = None  # used instead of `pause_share` in a search for a rate

    count: ClassVar[None] = None  # connections, if a search varies their number

    @property
    def rate_fps(self) -> int:
        """The highest rate of all segments."""
        return max(segment.rate_fps for segment in self.segments)

    @property
    def tolerances(self) -> tuple[LossTolerance, ...]:
        return (self.accepted, *self.also_accepted)

    def passes(self, result: TrialResult) -> bool:
        """Returns whether each direction lost, or delivered wrong, no more than is accepted.

        A mapping that changed, or a reply to the wrong connection, is never accepted.
        """
        if not self.accepted.fraction:
            return result.passed
        if result.ended_early or result.incomplete or result.changed or result.wrong:
            return False
        return all(self.accepted.accepts(sent=s.sent, lost=s.lost_or_wrong) for s in result.streams)

    @property
    def duration_s(self) -> Fraction:
        return Fraction(sum(segment.duration_ns for segment in self.segments), 10**9)

    def lasts_s(self, drain_s: Fraction, _: ConnectionsSection | None) -> Fraction:
        """Returns the duration of a trial, without the phases before the measured one."""
        return self.duration_s + drain_s


def steady(rate_fps: int, duration_s: Fraction, recording: Recording = NO_RECORDING) -> Load:
    """Returns a load with one rate from beginning to end."""
    frames = frames_of(rate_fps, duration_s)
    segments = (steady_segment(frames, rate_fps),)
    return Load(segments=segments, recording=recording, pauses=True)


AnyLoad = Load | Establishing
