"""The result of a trial (engine/spec/trial_result.hpp)."""

from collections.abc import Iterator
from typing import Annotated, Self

from natxy.model.base import ADDED, Between, Count, Model
from natxy.model.disturbance import summed, took_most
from natxy.model.port_result import IcmpError, PortResult
from natxy.model.reason import Reason
from natxy.model.stream_counters import NO_PAUSES, KindCounters
from natxy.model.stream_result import StreamResult
from natxy.model.table_result import ConnectionTableResult
from natxy.model.trial_spec import VERSION, Kind, Side


class WorkerResult(Model):
    """A worker in one phase."""

    phase: str = ""
    """Name of the phase."""
    cpu: int
    """The worker's CPU."""
    tasks: tuple[str, ...]
    """The worker's tasks."""
    voluntary_switches: Count
    """How often its thread gave up its CPU."""
    involuntary_switches: Count
    """How often the kernel took the CPU away from it."""
    worst_loop_gap_ns: float
    """The longest round of its loop."""
    away_at: tuple[tuple[Count, Count], ...] = ()
    """`[from_ns, until_ns]` of each round of its loop that took longer than 0.1 ms, since the
    phase's start, by the clock of the due times. At most 4,096: if there are more, neighbours are
    joined."""
    cpu_ns: float
    """CPU time of its thread."""
    off_core_ns: float = 0.0
    """The time of the phase in which its thread did not run."""


class WatchResult(Model):
    """Absences of a watched CPU in one phase, until the phase's last frame left and arrived.

    In an absence, the CPU did not do the gateway's work, or the host had taken the CPU. All times
    are upper bounds: each absence may be shorter by one `period_ns` at its beginning and at its
    end.
    """

    phase: str
    """Name of the phase."""
    cpu: int
    """The watched CPU."""
    period_ns: float
    """The time between two looks at the CPU."""
    samples: Count
    """How often the CPU was looked at."""
    busy_samples: Count | None = None
    """How many of these looks found a thread of the gateway."""
    absences: Count
    """Number of absences."""
    away_ns: float
    """Their sum."""
    longest_away_ns: float
    """The longest one."""
    away_at: tuple[tuple[Count, Count], ...] = ()
    """`[from_ns, until_ns]` of each absence, since the phase's start, with which the due times
    begin. At most 4,096: if there are more, neighbours are joined, and a joined absence contains
    time between absences."""
    end_away_ns: float = 0.0
    """How long before the last frame left an absence began that lasted to the end of the drain:
    what came in this time was still waiting then. 0: the CPU was the gateway's at the end."""
    round_trip_ns: float = 0.0
    """The time that a cache line takes from the tester's first CPU to this one and back. Like
    `work_ns` and `chain_ns`, it is measured before and after the phase. The worse value counts, and
    0 if it could not be measured (decision 0026)."""
    nearest_ns: Annotated[float, ADDED] = 0.0
    """The shortest round trip that this machine has shown. 0: not known."""
    work_ns: float = 0.0
    """The time of a piece of work that fills a core, while both CPUs do the same, on the CPU that
    other work slows down more."""
    chain_ns: float = 0.0
    """The time of a piece of work that does not fill a core, while both CPUs do the same."""
    fastest_ns: Annotated[float, ADDED] = 0.0
    """The `work_ns` that the same clock makes possible. 0: not known."""
    kept_awake_ns: float = 0.0
    """The CPU time, in the whole phase, of the engine's own thread that keeps this CPU awake. The
    kernel counts it as busy, so telemetry subtracts it."""
    taken_by: str = ""
    """The thread that took the CPU from the gateway most in this phase: `NAME (NUMBER)`. Empty:
    none did."""
    taken_ns: float = 0.0
    """For about how long it had the CPU."""

    @property
    def who(self) -> str:
        """The CPU, and the thread that had it in most of the absences."""
        taken = f" ({self.taken_by} ran there)" if took_most(self.taken_ns, self.away_ns) else ""
        return f"the gateway's CPU {self.cpu}{taken}"


class Fault(Model):
    """An example of a misdelivered frame."""

    side: Side
    """Side of the port where it arrived."""
    reason: str
    """The check that failed, in words."""
    frame_hex: str
    """Its first 128 octets, in hexadecimal digits."""


class TrialResult(Model):
    """What a trial found. Whether the gateway passed is decided by the package."""

    version: Annotated[int, Between(2, VERSION)]
    """The version of the spec. 2: in journals of earlier releases."""
    seed: Count
    """The seed of the spec."""
    nonce: Count
    """The nonce of the spec."""
    valid: bool
    """The tester did what it was asked: there are no `invalid_reasons`."""
    invalid_reasons: tuple[Reason, ...]
    """Why the trial is invalid."""
    ended_early: bool
    """The trial ended at the first certain loss, so its loss is not a figure."""
    incomplete: bool = False
    """There were too few connections, so that later phases did not run."""
    connections: ConnectionTableResult | None = None
    """The state table. Null: stateless."""
    preparation_ns: float
    """From the request to the first due time: neighbours, warm-up, table."""
    duration_ns: float
    """From the first due time to the end of the last drain."""
    delay_definition: str
    """From where to where a delay is measured, in words."""
    delay_clock: str
    """The clock of arrivals: `tsc` (the processor's), `port` (each port's own), or a text that says
    which side has which."""
    streams: tuple[StreamResult, ...]
    """The streams of all phases."""
    ports: tuple[PortResult, ...]
    """Both ports."""
    workers: tuple[WorkerResult, ...]
    """Each worker in each phase."""
    watched: tuple[WatchResult, ...] = ()
    """Each watched CPU in each phase."""
    unwatched_reason: str = ""
    """Why a CPU could not be watched, or that the kernel left out some of the looks at it;
    `watched` then has no entry for this CPU in this phase. Empty: all were watched."""
    shared_cpus: Annotated[tuple[str, ...], ADDED] = ()
    """A clause for each CPU of tester or gateway that another process of Natxy used as well."""
    faults: tuple[Fault, ...]
    """The first misdelivered frames of each port."""

    @property
    def taken_ns(self) -> dict[str, float]:
        """By the thread that took a watched CPU most in a phase, for how long it had them all."""
        return summed((watch.taken_by, watch.taken_ns) for watch in self.watched if watch.taken_by)

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
