"""The result of a trial. Names and meaning are those of engine/spec/trial_result.hpp."""

from collections.abc import Iterator
from typing import Annotated, Self

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Model
from natxy.model.trial_spec import VERSION, Direction, Kind, Side

Count = Annotated[int, Between(0, 2**64 - 1)]
Octet = Annotated[int, Between(0, 255)]


class Distribution(Model):
    """A histogram of durations; a bucket is (lower_ns, upper_ns, count), both bounds included.

    Minimum and maximum are exact. The bucket of a delay is not wider than 2^-10 of the delay's
    distance from the minimum, or than one tick of the clock if that is more.
    """

    count: Count
    min_ns: float
    max_ns: float
    mean_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p999_ns: float
    buckets: tuple[tuple[float, float, Count], ...]


NOTHING = Distribution(
    count=0,
    min_ns=0.0,
    max_ns=0.0,
    mean_ns=0.0,
    p50_ns=0.0,
    p90_ns=0.0,
    p99_ns=0.0,
    p999_ns=0.0,
    buckets=(),
)


class Misdelivered(Model):
    """Misdelivered frames, counted by the first check that failed."""

    malformed: Count
    checksum: Count
    number: Count
    length: Count
    address: Count
    port: Count
    hop_limit: Count
    traffic_class: Count = 0  # also the flow label; checked if traffic.dscp is "kept"
    total: Count


class TagCounters(Model):
    """Tagged frames, of both kinds of traffic."""

    sent: Count
    received: Count
    lost: Count
    delay: Distribution
    poll_gap: Distribution = NOTHING
    step_gap: Distribution = NOTHING


class Losses(Model):
    """Frames that never arrived; times are due times since the start of the phase."""

    frames: Count
    first_number: Count
    last_number: Count
    first_due_ns: float
    last_due_ns: float
    longest_run: Count  # lost frames with consecutive numbers
    longest_run_from_ns: float
    longest_run_until_ns: float  # the due time of the first frame after it


class Silence(Model):
    """The longest time without an arrival; both ends count from the phase's start (RFC 6201)."""

    from_ns: float
    until_ns: float


class DelayVariation(Model):
    """The signed differences D(i) - D(i-1) of delays (RFC 8219 section 7.3.2).

    `undefined` counts the pairs of which a frame is missing.
    """

    undefined: Count
    distribution: Distribution


class KindCounters(Model):
    sent: Count
    received: Count  # frames that passed every check in time; each number counts once
    lost: Count
    duplicated: Count
    reordered: Count  # a part of received
    without_udp_checksum: Count = 0  # over IPv4, the checksum was 0; a part of received
    late: Count
    misdelivered: Misdelivered
    hop_limit: Annotated[int, Between(0, 255)]  # on arrival; 0: no frame arrived
    negative_delays: Count
    delay: Distribution
    ipdv: DelayVariation | None = None  # None: the trial did not ask for it


class Kinds(Model):
    foreground: KindCounters | None = None
    background: KindCounters | None = None


class ConnectionCounters(Model):
    """Frames of a stream that arrived, counted by what they show of their connection."""

    new: Count  # the connection was stored for the first time
    known: Count  # the stored mapping was confirmed; of replies: they arrived as they should
    changed: Count  # the mapping differed from the stored one, and replaced it
    wrong: Count  # replies delivered to another connection; also counted as misdelivered
    collided: Count  # part of `wrong`: both connections have the same external four-tuple
    ending_new_percent: float  # share of new ones in the last 1 % of an establishing stream


class ConnectionTableResult(Model):
    """The tester's state table."""

    asked: Count  # entries that the trial needs
    stored: Count  # connections in the table
    bytes: Count
    page_bytes: Count


class Pauses(Model):
    """Pauses: shifts of the sending schedule that a sender made instead of sending a burst."""

    count: Count = 0
    total_ns: float = 0.0  # if several senders share a direction: of the one that paused longest
    longest_ns: float = 0.0


NO_PAUSES = Pauses()


class StreamResult(Model):
    phase: str
    direction: Direction
    due: Count
    refused_by_gateway: Count
    refused_by_port: Count
    largest_burst: Count  # longest run of frames that were sent without waiting for a due time
    pauses: Pauses = NO_PAUSES
    sending_ns: float
    first_departure_ns: float
    lateness: Distribution
    send_call: Distribution
    # For each frame, the time by which its delay may have been measured too long: since the poll
    # before the one that found it (poll_gap), and until its sender's next step (step_gap).
    poll_gap: Distribution = NOTHING
    step_gap: Distribution = NOTHING
    held_back_ns: float = 0.0  # how much longer frames took to leave the gateway than to enter it
    overrun_frames: Count = 0  # frames that may have waited at once, if the ring holds fewer
    uncertain_late: Count = 0  # late frames that may have been in time, according to poll_gap
    kinds: Kinds
    tags: TagCounters | None = None  # None: the trial did not ask for tags
    losses: Losses | None = None  # None: no frame was lost
    silence: Silence
    connections: ConnectionCounters | None = None  # None: stateless

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
    def late(self) -> int:
        return sum(counters.late for _, counters in self.counters())

    @property
    def misdelivered(self) -> int:
        return sum(counters.misdelivered.total for _, counters in self.counters())

    @property
    def passed(self) -> bool:
        """True if frames were sent, all were received, and no mapping changed between phases.

        In a short trial, one kind may have no frames.
        """
        counters = [counters for _, counters in self.counters()]
        changed = self.connections is not None and self.connections.changed > 0
        whole = all(c.received == c.sent for c in counters)
        return any(c.sent for c in counters) and whole and not changed


class IcmpError(Model):
    """ICMP errors of one sort, about frames of the trial (RFC 792, RFC 4443)."""

    ip_version: IpVersion
    type: Octet
    code: Octet
    mtu: int | None  # None: the error does not name an MTU
    source: str  # the address that sent it
    count: Count
    example: str = ""  # the first such frame, or its beginning, in hexadecimal digits


class PortResult(Model):
    side: Side
    foreign: Count
    neighbour: Count
    rx_missed: Count
    rx_errors: Count
    rx_no_buffer: Count
    tx_errors: Count
    kernel_rx_dropped: Count
    link_downs: Count = 0  # how often the link went down during the trial
    records_lost: Count
    worst_poll_gap_ns: float
    # Error of the port's clock, which stamps arrivals, against the processor's; None: no clock.
    clock_error_ns: float | None = None
    unstamped: Count = 0  # frames without a time stamp
    implausible_stamps: Count = 0
    # ICMP errors are a part of foreign. These are about frames that this port sent:
    icmp_errors: tuple[IcmpError, ...] = ()
    icmp_errors_unlisted: Count = 0  # further ones; the engine lists a limited number of sorts
    icmp_errors_of_others: Count = 0  # these quote no frame that this port sent in the trial


class WorkerResult(Model):
    cpu: int
    tasks: tuple[str, ...]
    voluntary_switches: Count
    involuntary_switches: Count
    worst_loop_gap_ns: float
    cpu_ns: float
    off_core_ns: float = 0.0  # time of the phase in which the thread did not run


class WatchResult(Model):
    """Absences of a watched CPU in one phase, until the last frame of the phase arrived.

    In an absence, the CPU did not do the gateway's work, or the host had taken the CPU. The times
    are upper bounds: they are measured in steps of `period_ns`.
    """

    phase: str
    cpu: int
    period_ns: float
    samples: Count
    absences: Count
    away_ns: float
    longest_away_ns: float


class Fault(Model):
    """An example of a misdelivered frame."""

    side: Side
    reason: str
    frame_hex: str


class TrialResult(Model):
    version: Annotated[int, Between(VERSION, VERSION)]
    seed: Count
    nonce: Count
    valid: bool
    invalid_reasons: tuple[str, ...]
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
    faults: tuple[Fault, ...]

    def of_phase(self, phase: str) -> Self:
        """Returns the result with only the streams and watched CPUs of this phase."""
        streams = tuple(stream for stream in self.streams if stream.phase == phase)
        watched = tuple(watch for watch in self.watched if watch.phase == phase)
        return self.model_copy(update={"streams": streams, "watched": watched})

    def stream_of(self, phase: str) -> StreamResult | None:
        """Returns the first stream of this phase, or None."""
        return next((stream for stream in self.streams if stream.phase == phase), None)

    def counters(self) -> Iterator[tuple[StreamResult, Kind, KindCounters]]:
        for stream in self.streams:
            for kind, counters in stream.counters():
                yield stream, kind, counters

    @property
    def passed(self) -> bool:
        """True if received equals sent in each direction and kind (RFC 2544 section 26.1)."""
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
