"""The record of a trial in the journal: its number, its verdict and the engine's whole result."""

from math import ceil
from typing import Literal

from natxy.model.base import Model
from natxy.model.disturbance import Absence, Disturbance
from natxy.model.reason import LossOfConnections, Reason
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.stream_result import StreamResult
from natxy.model.telemetry import Telemetry
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import ESTABLISH, Direction
from natxy.model.verdict import Verdict


class CountedLoss(Model):
    """Of a stream, the frames that nothing disturbed, and of these the lost ones, which count.

    `excused` are lost frames that do not count: they were due while the gateway was away or the
    sender late, or in as long again. While the gateway was full, `full_frames` came, and the share
    `full_share` of them was lost, to within `full_error`. It would have become full before number
    `first_lost`, to within `first_error`, without a disturbance.
    """

    phase: str
    direction: Direction
    frames: int
    clean: int
    pieces: int = 1  # of undisturbed time, if the losses fill them; between two may be a pause
    lost: int
    excused: int
    first_lost: int = 0
    first_error: int = 0
    full_frames: int = 0
    full_share: float = 0.0
    full_error: float = 0.0
    spread: bool = False  # the losses fill the time in which the gateway was full

    @property
    def not_counted(self) -> int:
        """How many of the excused lost frames are taken off the loss.

        The others are as many as the disturbed frames would have lost at the share of the clean
        ones, so that the loss keeps its share of all frames.
        """
        disturbed = self.frames - self.clean
        alike = ceil(self.lost * disturbed / self.clean) if self.clean else 0
        return max(0, self.excused - alike)

    @property
    def is_disturbed(self) -> bool:
        """Whether absences, lateness or pauses may have filled or emptied the gateway's queue."""
        return self.clean < self.frames or self.pieces > 1

    @property
    def share(self) -> float:
        """The lost share that an undisturbed trial would have had: from the first loss on, that of
        the time in which the gateway was full or, if the losses do not fill a time, that of the
        clean frames."""
        if self.spread and self.is_disturbed:
            return self.full_share * (1 - self.first_lost / self.frames)
        return self.lost / self.clean if self.clean else 0.0

    @property
    def error_of_first(self) -> float:
        """The error of the share, as the gateway may have become full earlier or later."""
        return self.full_share * self.first_error / self.frames if self.frames else 0.0

    @property
    def unseen(self) -> float:
        """The largest share that may have been lost where no clean frame was: 7 of them, of which
        none is seen with a chance of e^-7."""
        return min(1.0, 7 / self.clean) if self.clean else 1.0


class Collapse(Model):
    """A line of the journal: the gateway collapsed in a trial, which has no result."""

    record: Literal["collapse"] = "collapse"
    spec: str  # a fingerprint of the trial's spec
    error: str


class TrialRecord(Model):
    record: Literal["trial"] = "trial"
    number: int  # from 1, within the campaign
    repetition: int  # from 1
    rate_fps: int  # per direction
    # The counted rate if the trial passed: frames / (sending time + pauses + the time that the
    # gateway held frames back). None: the rate that was asked for.
    counted_fps: int | None = None
    started: str  # ISO 8601
    verdict: Verdict
    invalid_reasons: tuple[Reason, ...]  # the engine's, and the DUT's own
    fail_reason: Reason | None = None  # why a trial without loss failed
    # How the gateway lost connections that phase 1 had created, which makes the trial a FAIL.
    lost_connections: LossOfConnections | None = None
    excused: bool = False  # INVALID, since absence or placement of the gateway excuses the loss
    badly_placed: bool = False  # INVALID, and the host had placed the CPUs badly
    too_slow: bool = False  # INVALID for a reason that grows with the rate
    measures_delays: bool = False  # the delays of `result` are figures
    away_ns: float = 0.0  # absences of the gateway in the measured phase
    longest_away_ns: float = 0.0
    absence: Absence | None = None  # of the gateway, by its own record
    counted: tuple[CountedLoss, ...] = ()  # of each stream of the measured phase
    # Of a FAIL whose losses fill the time in which the gateway was full, so that the rate explains
    # them: the share that was lost then, in the worse direction, and its error
    # (docs/decisions/0039).
    full_share: float | None = None
    full_error: float = 0.0
    result: TrialResult  # with a stateful gateway only phase 2, which is the measured phase
    phase_1: StreamResult | None = None
    handshake: tuple[StreamResult, ...] = ()  # SYN/ACKs and ACKs of TCP before phase 2
    sample: StreamResult | None = None  # the test of some of phase 1's connections before phase 2
    starting: tuple[StreamResult, ...] = ()  # flows that start one after another
    telemetry: Telemetry | None = None  # of the gateway; None: nothing is known
    # A fingerprint of the trial's spec. A cell that goes on after an interruption reads a trial
    # with the same one, in place of running it (docs/decisions/0041).
    spec: str = ""
    # What only a gateway that has just been through the trial can tell.
    connections_left: int | None = None  # after a FAIL; None: not known, or stateless
    deletions_s: tuple[float, ...] = ()  # for a tear-down: of the full table, then of the empty one
    collapse: str = ""  # how the gateway was found gone after the trial; empty: it was not
    reset: str = ""  # how it was reset in the trial; empty: it was not
    reset_watched: bool = False  # its programs were watched after that reset as well

    @property
    def established(self) -> StreamResult | None:
        """The phase that creates the connections; None: stateless."""
        return self.phase_1 or self.result.stream_of(ESTABLISH)

    @property
    def verdict_fps(self) -> int:
        """The rate that the verdict is about: the counted rate if the trial passed."""
        counted_fps = self.counted_fps if self.verdict is Verdict.PASS else None
        return self.rate_fps if counted_fps is None else counted_fps

    @property
    def is_placed_in_time(self) -> bool:
        """True if frames are missing, the engine says which, and the trial did not end early.

        A trial may also have failed by frames that were late or wrong, or that the gateway held.
        """
        lost = [stream for stream in self.result.streams if stream.missing]
        placed = bool(lost) and all(stream.lost_runs for stream in lost)
        return placed and not self.result.ended_early

    @property
    def spread(self) -> bool:
        """True if the losses fill the time in which the gateway was full."""
        return self.full_share is not None

    @property
    def is_explained(self) -> bool:
        """True if the rate explains the failure."""
        return self.spread or self.fail_reason is not None

    @property
    def is_refused_by_port(self) -> bool:
        """True if the trial failed without a loss, since the tester's port refused frames."""
        streams = self.result.streams
        return self.fail_reason is not None and any(s.is_refused_by_port for s in streams)

    @property
    def full_fps(self) -> tuple[float, float]:
        """The least and the most that can have come through, per direction and in frames a second,
        while the gateway was full.

        If the trial failed without a loss, it is the counted rate.
        """
        if self.fail_reason and self.counted_fps is not None:
            return self.counted_fps, self.counted_fps
        came, error = 1 - (self.full_share or 0.0), self.full_error
        return self.rate_fps * (came - error), self.rate_fps * (came + error)

    @property
    def forwarded_fps(self) -> float:
        """The rate that came through in the whole trial, in the worse direction, to a frame."""
        rates = (
            (1 - (stream.missing + 1) / stream.due) * stream.sending_ns / took_ns
            for stream in self.result.streams
            if stream.due and (took_ns := stream.sending_ns + stream.held_back_ns)
        )
        return self.rate_fps * min(rates, default=1.0)

    @property
    def disturbance(self) -> Disturbance:
        """The trial's disturbance; zero for an INVALID trial, which does not count."""
        if self.verdict is Verdict.INVALID:
            return Disturbance()
        return Disturbance(
            sending_ns=self.result.sending_ns,
            paused_ns=self.result.paused_ns,
            away_ns=self.away_ns,
            longest_away_ns=self.longest_away_ns,
            taken_ns=self.result.taken_ns,
            longest_late_ns=self.result.worst_lateness_ns,
            unwatched_reason=self.result.unwatched_reason,
            shared_cpus=self.result.shared_cpus,
            nearest_ns=min((w.nearest_ns for w in self.result.watched if w.nearest_ns), default=0),
        )

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the phases, in order."""
        return tuple(dict.fromkeys(stream.phase for stream in self._streams))

    @property
    def misdelivered(self) -> int:
        """Misdelivered frames of all phases."""
        return self.total("misdelivered")

    @property
    def changed(self) -> int:
        """Connections of all phases whose mapping changed."""
        return self.total("changed")

    @property
    def wrong(self) -> int:
        """Replies of all phases that were delivered to another connection."""
        return self.total("wrong")

    def total(self, name: str) -> int:
        """Returns the sum of a counter of frames or of connections over all phases."""
        if name in ConnectionCounters.model_fields:
            return sum(getattr(of, name) for of in self._connections)
        return sum(c.frames()[name] for s in self._streams for _, c in s.counters())

    @property
    def _streams(self) -> tuple[StreamResult, ...]:
        """Streams of all phases: of those before the measured one, then of this one."""
        early = (self.phase_1, *self.handshake, self.sample, *self.starting)
        return (*(stream for stream in early if stream is not None), *self.result.streams)

    @property
    def _connections(self) -> tuple[ConnectionCounters, ...]:
        return tuple(stream.connections for stream in self._streams if stream.connections)
