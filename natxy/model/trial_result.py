"""The result of a trial. Names and meaning are those of engine/spec/trial_result.hpp."""

from collections.abc import Iterator
from typing import Annotated, Self

from natxy.model.base import Between, Count, Model
from natxy.model.distribution import NOTHING, Distribution
from natxy.model.port_result import IcmpError, PortResult
from natxy.model.reason import Reason
from natxy.model.stream_counters import (
    NO_PAUSES,
    ConnectionCounters,
    KindCounters,
    Kinds,
    Losses,
    Pauses,
    Silence,
    TagCounters,
)
from natxy.model.table_result import ConnectionTableResult
from natxy.model.trial_spec import VERSION, Direction, Kind, Side
from natxy.statistics import median


class StreamResult(Model):
    phase: str
    direction: Direction
    due: Count
    senders: Count = 1  # number i is sent by sender i mod senders
    refused_by_gateway: Count
    refused_by_port: Count
    largest_burst: Count  # longest run of frames that were sent without waiting for a due time
    pauses: Pauses = NO_PAUSES
    # The first and the last number of each run that left more than 50 us after it was due by the
    # schedule as pauses had moved it; between them, the numbers of the same sender. If there are
    # more than 4,096 of these or of lost_runs, neighbours are joined; a journal has at most 24.
    late_runs: tuple[tuple[Count, Count], ...] = ()
    start_raw_ns: Count = 0  # the start of the phase by CLOCK_MONOTONIC_RAW; 0: not known
    sending_ns: float
    first_departure_ns: float
    lateness: Distribution
    send_call: Distribution
    # For each frame, the time by which its delay may have been measured too long: since the poll
    # before the one that found it (poll_gap), and until its sender's next step (step_gap).
    poll_gap: Distribution = NOTHING
    step_gap: Distribution = NOTHING
    held_back_ns: float = 0.0  # how much longer frames took to leave the gateway than to enter it
    last_delay_excess_ns: float = 0.0  # the same, with the ordinary variation of delays
    overrun_frames: Count = 0  # frames that may have waited at once, if the ring holds fewer
    uncertain_late: Count = 0  # late frames that may have been in time, according to poll_gap
    kinds: Kinds
    tags: TagCounters | None = None  # None: the trial did not ask for tags
    losses: Losses | None = None  # None: no frame was lost
    # (first number, span, lost) of each run of the numbers in `losses`; lost < span if joined.
    # A misdelivered number is in it, but not one that came after the frame timeout.
    lost_runs: tuple[tuple[Count, Count, Count], ...] = ()
    lost_in_silences: Count = 0  # counted by natxy; see natxy/verdict/silences.py
    # (first number, lowest delay in ns) of at most 320 equal stretches of numbers, of those from
    # which a frame arrived. A journal has longer stretches (natxy/campaign/fewer_runs.py).
    low_delays: tuple[tuple[Count, Count], ...] = ()
    silence: Silence
    connections: ConnectionCounters | None = None  # None: stateless

    @property
    def usual_wait_ns(self) -> float:
        """How much longer the lowest delays are in half of the time than at best."""
        lows_ns = [low_ns for _, low_ns in self.low_delays]
        return median(lows_ns) - min(lows_ns) if lows_ns else 0.0

    @property
    def is_refused_by_port(self) -> bool:
        """True if the port refused frames for longer than the gateway held any back."""
        return self.pauses.by_port_ns > self.held_back_ns

    def counters(self) -> Iterator[tuple[Kind, KindCounters]]:
        if self.kinds.foreground:
            yield "foreground", self.kinds.foreground
        if self.kinds.background:
            yield "background", self.kinds.background

    @property
    def sent(self) -> int:
        return sum(counters.sent for _, counters in self.counters())

    @property
    def received(self) -> int:
        return sum(counters.received for _, counters in self.counters())

    @property
    def lost(self) -> int:
        return sum(counters.lost for _, counters in self.counters())

    @property
    def missing(self) -> int:
        """Frames that never arrived; misdelivered and late frames are not included."""
        return sum(max(0, c.lost - c.misdelivered.total - c.late) for _, c in self.counters())

    @property
    def gaps(self) -> int:
        """Gaps in the numbering of the frames that arrived (RFC 2544 section 10)."""
        return self.losses.gaps if self.losses else 0

    @property
    def late(self) -> int:
        return sum(counters.late for _, counters in self.counters())

    @property
    def misdelivered(self) -> int:
        return sum(counters.misdelivered.total for _, counters in self.counters())

    @property
    def lost_or_wrong(self) -> int:
        """Frames that were lost, or arrived wrong.

        A wrong frame is usually one of those that were lost, but may be a copy of one that arrived.
        """
        return sum(max(c.sent - c.received, c.misdelivered.total) for _, c in self.counters())

    def with_received(self, frames: int) -> Self:
        """Returns the result as if this many of the missing frames had been received."""
        kinds: dict[str, KindCounters] = {}
        for kind, counters in self.counters():
            came = min(frames, max(0, counters.sent - counters.received))
            update = {"received": counters.received + came, "lost": counters.lost - came}
            kinds[kind] = counters.model_copy(update=update)
            frames -= came
        return self.model_copy(update={"kinds": self.kinds.model_copy(update=kinds)})

    @property
    def passed(self) -> bool:
        """True if frames were sent, all were received, none was misdelivered, and no mapping
        changed between phases.

        In a short trial, one kind may have no frames.
        """
        changed = self.connections is not None and self.connections.changed > 0
        return self.sent > 0 and not self.lost_or_wrong and not changed


class WorkerResult(Model):
    """A worker in one phase.

    `away_at` has (from_ns, until_ns) of each round of its loop that took longer than 0.1 ms, since
    the phase's start, on the clock of the due times.
    """

    phase: str = ""  # "": not known, in journals of earlier releases
    cpu: int
    tasks: tuple[str, ...]
    voluntary_switches: Count
    involuntary_switches: Count
    worst_loop_gap_ns: float
    away_at: tuple[tuple[Count, Count], ...] = ()  # neighbours of more than 4,096 are joined
    cpu_ns: float
    off_core_ns: float = 0.0  # time of the phase in which the thread did not run


class WatchResult(Model):
    """Absences of a watched CPU in one phase, until the last frame of the phase arrived.

    `away_at` has (from_ns, until_ns) of each, since the phase's start, which is that of the due
    times; neighbours of more than 4,096 are joined.

    `end_away_ns` is how long before the last frame left an absence began that lasted to the end of
    the drain: what came in this time was still waiting then. 0: the CPU was the gateway's at the
    end, or it is not known, in journals of earlier releases.

    In an absence, the CPU did not do the gateway's work, or the host had taken the CPU. The times
    are upper bounds: they are measured in steps of `period_ns`. Of the `samples`, `busy_samples`
    found a thread of the gateway (None: not known, in journals of earlier releases).

    `round_trip_ns` is the time of a cache line between the tester's first CPU and this one. Both
    CPUs also do two pieces of work at the same time: `work_ns` is the time of one that fills a
    core, `chain_ns` that of one that does not, on the CPU that other work slows down more. The
    worse ones of before and after the phase count. `nearest_ns` is the shortest round trip that
    this machine has shown, `fastest_ns` the `work_ns` that the same clock makes possible; natxy
    adds them to the engine's result. 0: not known.

    `kept_awake_ns` is the CPU time, in the whole phase, of the engine's thread that keeps this CPU
    awake: the kernel counts it as busy. 0: not known, in journals of earlier releases.
    """

    phase: str
    cpu: int
    period_ns: float
    samples: Count
    busy_samples: Count | None = None
    absences: Count
    away_ns: float
    longest_away_ns: float
    away_at: tuple[tuple[Count, Count], ...] = ()
    end_away_ns: float = 0.0
    round_trip_ns: float = 0.0
    nearest_ns: float = 0.0
    work_ns: float = 0.0
    chain_ns: float = 0.0
    fastest_ns: float = 0.0
    kept_awake_ns: float = 0.0


class Fault(Model):
    """An example of a misdelivered frame."""

    side: Side
    reason: str
    frame_hex: str


class TrialResult(Model):
    version: Annotated[int, Between(2, VERSION)]  # 2: in journals of earlier releases
    seed: Count
    nonce: Count
    valid: bool
    invalid_reasons: tuple[Reason, ...]
    ended_early: bool  # the trial ended at the first certain loss; its loss is not a figure
    incomplete: bool = False  # too few connections, so that later phases did not run
    connections: ConnectionTableResult | None = None  # None: stateless
    preparation_ns: float
    duration_ns: float
    delay_definition: str
    delay_clock: str  # the clock that times arrivals
    streams: tuple[StreamResult, ...]
    ports: tuple[PortResult, ...]
    workers: tuple[WorkerResult, ...]
    watched: tuple[WatchResult, ...] = ()
    unwatched_reason: str = ""  # why a CPU could not be watched; empty: all were watched
    # A clause for each CPU of tester or gateway that another process of Natxy used as well; natxy
    # adds them to the engine's result.
    shared_cpus: tuple[str, ...] = ()
    faults: tuple[Fault, ...]

    def of_phase(self, phase: str) -> Self:
        """Returns the result with only the streams and watched CPUs of this phase."""
        streams = tuple(stream for stream in self.streams if stream.phase == phase)
        watched = tuple(watch for watch in self.watched if watch.phase == phase)
        return self.model_copy(update={"streams": streams, "watched": watched})

    def without_pauses(self) -> Self:
        """Returns the result as if no sender had paused, and the rest had been the same."""
        streams = tuple(
            stream.model_copy(
                update={
                    "pauses": NO_PAUSES,
                    "sending_ns": stream.sending_ns - stream.pauses.total_ns,
                }
            )
            for stream in self.streams
        )
        return self.model_copy(update={"streams": streams})

    def stream_of(self, phase: str) -> StreamResult | None:
        """Returns the first stream of this phase, or None."""
        return next((stream for stream in self.streams if stream.phase == phase), None)

    def counters(self) -> Iterator[tuple[StreamResult, Kind, KindCounters]]:
        for stream in self.streams:
            for kind, counters in stream.counters():
                yield stream, kind, counters

    @property
    def passed(self) -> bool:
        """True if received equals sent in each direction and kind (RFC 2544 section 26.1), and no
        frame was misdelivered."""
        cut_short = self.ended_early or self.incomplete
        return not cut_short and all(stream.passed for stream in self.streams)

    @property
    def sent(self) -> int:
        return sum(c.sent for _, _, c in self.counters())

    @property
    def lost(self) -> int:
        return sum(c.lost for _, _, c in self.counters())

    @property
    def misdelivered(self) -> int:
        return sum(c.misdelivered.total for _, _, c in self.counters())

    @property
    def duplicated(self) -> int:
        return sum(c.duplicated for _, _, c in self.counters())

    @property
    def reordered(self) -> int:
        return sum(c.reordered for _, _, c in self.counters())

    @property
    def gaps(self) -> int:
        return sum(stream.gaps for stream in self.streams)

    @property
    def without_udp_checksum(self) -> int:
        return sum(c.without_udp_checksum for _, _, c in self.counters())

    @property
    def icmp_errors(self) -> tuple[IcmpError, ...]:
        """ICMP errors at both ports, in all phases."""
        return tuple(error for port in self.ports for error in port.icmp_errors)

    @property
    def changed(self) -> int:
        return sum(s.connections.changed for s in self.streams if s.connections)

    @property
    def wrong(self) -> int:
        return sum(s.connections.wrong for s in self.streams if s.connections)

    @property
    def collided(self) -> int:
        return sum(s.connections.collided for s in self.streams if s.connections)

    @property
    def negative_delays(self) -> int:
        return sum(c.negative_delays for _, _, c in self.counters())

    @property
    def paused_ns(self) -> float:
        """Total pauses of the direction that paused longest."""
        return max((stream.pauses.total_ns for stream in self.streams), default=0.0)

    @property
    def sending_ns(self) -> float:
        return max((stream.sending_ns for stream in self.streams), default=0.0)

    @property
    def off_core_ns(self) -> float:
        """Time without its core, over all phases, of the worker that was off its core longest."""
        by_cpu: dict[int, float] = {}
        for worker in self.workers:
            by_cpu[worker.cpu] = by_cpu.get(worker.cpu, 0.0) + worker.off_core_ns
        return max(by_cpu.values(), default=0.0)

    @property
    def worst_lateness_ns(self) -> float:
        return max((stream.lateness.max_ns for stream in self.streams), default=0.0)
