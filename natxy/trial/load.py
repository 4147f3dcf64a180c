"""The load of a trial: what it sends, what it records, and what it tolerates."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from natxy.errors import ConfigurationError
from natxy.model.disturbance import Absence
from natxy.model.stream_result import StreamResult
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import NO_RECORDING, RAMP, TEST, Phase, Recording, Segment
from natxy.search.settings import NO_LOSS, LossTolerance
from natxy.trial.phases import Starting, apart, before_phase_2, phase, steady_segment
from natxy.trial.timing import RATE, Timing
from natxy.verdict.away import away_s, longest_away_s
from natxy.verdict.counted import Counted, Counting, Offer, counted
from natxy.verdict.losses import Losses
from natxy.verdict.pacing import PAUSE_SHARE


@dataclass(frozen=True, kw_only=True)
class Load(ABC):
    accepted: LossTolerance = NO_LOSS
    recording: Recording = NO_RECORDING
    early_end_s: Fraction = Fraction(0)  # 0: a trial runs to its end
    link_may_fall: bool = False  # True in a reset, in which links of the gateway go down
    fills_buffers: bool = False  # the load fills queues, so that even a short absence loses frames
    # True: a sender that is far behind moves its schedule; False: it sends all overdue frames.
    pauses: bool = False
    pause_share: Fraction = PAUSE_SHARE  # longest pauses of a valid trial
    measures_loss: bool = False  # of the rate: the lost share is the figure
    counting: Counting | None = None  # used instead of `pause_share` in a search for a rate

    makes_connections: ClassVar[bool] = False  # the load is phase 1; else that comes before it

    @property
    @abstractmethod
    def rate_fps(self) -> int:
        """The rate that a search varies, or the highest one."""

    @property
    def count(self) -> int | None:
        """The number of connections, if a search varies it."""
        return None

    @abstractmethod
    def passes(self, result: TrialResult) -> bool:
        """Returns whether the loss is accepted, and nothing else is wrong."""

    @abstractmethod
    def phases(
        self, traffic: TrafficPlan, timing: Timing, ramp: Sequence[Starting] = ()
    ) -> tuple[Phase, ...]:
        """Returns the phases of a trial; flows of `ramp` start before it, each in a phase."""

    @abstractmethod
    def lasts_s(self, drain_s: Fraction, asked: ConnectionsSection | None) -> Fraction:
        """Returns the duration of a trial with its drains, without the phases before the measured
        one and those that repeat connections."""

    @abstractmethod
    def due_fps(self, stream: StreamResult) -> int:
        """Returns the rate at which the frames of a stream were due; 0: no search is for it."""

    def counted(self, result: TrialResult, absence: Absence | None, losses: Losses) -> Counted:
        """Returns the counted rate of a trial in a search (docs/decisions/0017)."""
        assert self.counting is not None, "asked by a search for a rate"
        offers = [
            Offer(
                stream=stream,
                rate_fps=due_fps,
                away_s=away_s(result, absence, stream.phase),
                longest_away_s=longest_away_s(result, absence, stream.phase),
                growth_ns=losses.growth_ns(stream),
            )
            for stream in result.streams
            if (due_fps := self.due_fps(stream))
        ]
        return counted(self.counting, self.rate_fps, offers, result)

    def at_rate(self, result: TrialResult) -> TrialResult:
        """Returns the result without the phases that repeat connections."""
        return result

    def is_repaired(self, _: TrialResult) -> bool:
        """Returns whether each connection existed in the end, whatever was lost before."""
        return False


@dataclass(frozen=True, kw_only=True)
class Frames(Load):
    """The frames that a trial sends in each direction."""

    segments: tuple[Segment, ...]

    @property
    def rate_fps(self) -> int:
        """The highest rate of all segments."""
        return max(segment.rate_fps for segment in self.segments)

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
        return self.duration_s + drain_s

    def phases(
        self, traffic: TrafficPlan, timing: Timing, ramp: Sequence[Starting] = ()
    ) -> tuple[Phase, ...]:
        for segment in self.segments:
            timing.check_rate(RATE, segment.rate_fps)
        if traffic.connections is not None:
            if ramp:
                raise ConfigurationError(
                    "[connections]: is not possible with incremental load (expected simultaneous "
                    "load)"
                )
            return (*before_phase_2(traffic, timing), self.test_phase(traffic))
        starting = (self._starting(i, each) for i, each in enumerate(ramp, start=1))
        return (*starting, self.test_phase(traffic))

    def test_phase(self, traffic: TrafficPlan) -> Phase:
        """Returns the measured phase."""
        return phase(TEST, *apart(traffic.streams(self.segments)))

    def _starting(self, number: int, flows: Starting) -> Phase:
        segments = self.segments
        if flows.lasts_s is not None:
            segments = steady(segments[0].rate_fps, flows.lasts_s).segments
        return phase(f"{RAMP} {number}", *flows.traffic.streams(segments))

    def due_fps(self, stream: StreamResult) -> int:
        return self.rate_fps if stream.phase == TEST else 0


def steady(rate_fps: int, duration_s: Fraction, recording: Recording = NO_RECORDING) -> Frames:
    """Returns a load with one rate from beginning to end."""
    frames = frames_of(rate_fps, duration_s)
    segments = (steady_segment(frames, rate_fps),)
    return Frames(segments=segments, recording=recording, pauses=True)
