"""What a trial yields. Names and meaning are those of engine/spec/trial_result.hpp."""

from collections.abc import Iterator
from typing import Annotated, Self

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Model
from natxy.model.trial_spec import VERSION, Direction, Kind, Side

Count = Annotated[int, Between(0, 2**64 - 1)]
Octet = Annotated[int, Between(0, 255)]


class Distribution(Model):
    """Durations; a bucket is (lower_ns, upper_ns, count), both bounds included.

    Minimum and maximum are exact; a delay's bucket is not wider than 2^-10 of its distance from
    the minimum, or than a tick of the clock.
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
    """Frames of this trial that came wrong, by the first check that failed."""

    malformed: Count
    checksum: Count
    number: Count
    length: Count
    address: Count
    port: Count
    hop_limit: Count
    traffic_class: Count = 0  # or flow label; checked where traffic.dscp is "kept"
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
    """Frames that never came, by when they were due since the phase's start."""

    frames: Count
    first_number: Count
    last_number: Count
    first_due_ns: float
    last_due_ns: float
    longest_run: Count  # frames, consecutive by number
    longest_run_from_ns: float
    longest_run_until_ns: float  # the due time of the first frame after it


class Silence(Model):
    """The longest time without an arrival, since the phase's start (RFC 6201)."""

    from_ns: float
    until_ns: float


class DelayVariation(Model):
    """D(i) - D(i-1), signed; undefined: pairs of which a frame is missing (RFC 8219 7.3.2)."""

    undefined: Count
    distribution: Distribution


class KindCounters(Model):
    sent: Count
    received: Count  # each number once, right in every check, in time
    lost: Count
    duplicated: Count
    reordered: Count  # a part of received
    without_udp_checksum: Count = 0  # it was 0, over IPv4; a part of received
    late: Count
    misdelivered: Misdelivered
    hop_limit: Annotated[int, Between(0, 255)]  # seen on arrival; 0: none arrived
    negative_delays: Count
    delay: Distribution
    ipdv: DelayVariation | None = None  # None: was not asked for


class Kinds(Model):
    foreground: KindCounters | None = None
    background: KindCounters | None = None


class ConnectionCounters(Model):
    """What the frames of a stream that arrived said of their connections."""

    new: Count  # stored for the first time
    known: Count  # with the mapping that is stored; of replies: that came back right
    changed: Count  # with another mapping, which is stored now
    wrong: Count  # replies delivered to another connection; among the misdelivered too
    collided: Count  # of those: both connections have one external four-tuple
    ending_new_percent: float  # new ones among the last 1 % of an establishing stream's frames


class ConnectionTableResult(Model):
    """The tester's own table."""

    asked: Count  # entries
    stored: Count  # connections
    bytes: Count
    page_bytes: Count


class Pauses(Model):
    """Times in which a sender moved its schedule instead of sending a burst."""

    count: Count = 0
    total_ns: float = 0.0  # of the sender that paused longest, where several share a direction
    longest_ns: float = 0.0


NO_PAUSES = Pauses()


class StreamResult(Model):
    phase: str
    direction: Direction
    due: Count
    refused_by_gateway: Count
    refused_by_port: Count
    largest_burst: Count  # frames that left without waiting for a due time
    pauses: Pauses = NO_PAUSES
    sending_ns: float
    first_departure_ns: float
    lateness: Distribution
    send_call: Distribution
    # By how much a frame's delay may have been measured too long: by frame, the time since the poll
    # before the one that found it, and the time until its sender's next step.
    poll_gap: Distribution = NOTHING
    step_gap: Distribution = NOTHING
    held_back_ns: float = 0.0  # how much longer the frames took to arrive than to leave
    overrun_frames: Count = 0  # that may have waited at once, where the ring holds fewer
    uncertain_late: Count = 0  # late frames that may have been in time, by poll_gap
    kinds: Kinds
    tags: TagCounters | None = None  # None: were not asked for
    losses: Losses | None = None  # None: none was lost
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
        """Frames that never came: what came wrong or late is not among them."""
        return sum(max(0, c.lost - c.misdelivered.total - c.late) for _, c in self.counters())

    @property
    def late(self) -> int:
        return sum(counters.late for _, counters in self.counters())

    @property
    def misdelivered(self) -> int:
        return sum(counters.misdelivered.total for _, counters in self.counters())

    @property
    def passed(self) -> bool:
        """Something was sent, and all of it received; a kind's share of a short trial may be 0.

        A gateway that changes a mapping between the phases does not pass.
        """
        counters = [counters for _, counters in self.counters()]
        changed = self.connections is not None and self.connections.changed > 0
        whole = all(c.received == c.sent for c in counters)
        return any(c.sent for c in counters) and whole and not changed


class IcmpError(Model):
    """ICMP errors that are alike, about frames of the trial (RFC 792, RFC 4443)."""

    ip_version: IpVersion
    type: Octet
    code: Octet
    mtu: int | None  # None: the error names none
    source: str  # who says it
    count: Count
    example: str = ""  # the first one's frame, or its beginning, in hexadecimal digits


class PortResult(Model):
    side: Side
    foreign: Count
    neighbour: Count
    rx_missed: Count
    rx_errors: Count
    rx_no_buffer: Count
    tx_errors: Count
    kernel_rx_dropped: Count
    link_downs: Count = 0  # how often its link went down within the trial
    records_lost: Count
    worst_poll_gap_ns: float
    # Of the clock with which the port stamps arrivals, against the processor's; None: it has none.
    clock_error_ns: float | None = None
    unstamped: Count = 0  # frames without a stamp
    implausible_stamps: Count = 0
    # A part of foreign: what the gateway says of frames that left here.
    icmp_errors: tuple[IcmpError, ...] = ()
    icmp_errors_unlisted: Count = 0  # of more sorts than the engine tells apart
    icmp_errors_of_others: Count = 0  # that quote nothing that leaves here in the trial


class WorkerResult(Model):
    cpu: int
    tasks: tuple[str, ...]
    voluntary_switches: Count
    involuntary_switches: Count
    worst_loop_gap_ns: float
    cpu_ns: float
    off_core_ns: float = 0.0  # of the phase, in which the thread did not run


class WatchResult(Model):
    """A watched CPU in one phase, until the phase's last frame had come.

    The times in which it did something else than the gateway's work, or nothing because the host
    had taken it: upper bounds, to the period with which it is looked at.
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
    ended_early: bool  # what was lost says that the trial failed and nothing else
    incomplete: bool = False  # fewer connections than asked for: later phases did not run
    connections: ConnectionTableResult | None = None  # None: stateless
    preparation_ns: float
    duration_ns: float
    delay_definition: str
    delay_clock: str  # of arrivals
    streams: tuple[StreamResult, ...]
    ports: tuple[PortResult, ...]
    workers: tuple[WorkerResult, ...]
    watched: tuple[WatchResult, ...] = ()
    unwatched_reason: str = ""  # why a CPU could not be watched; empty: all were
    faults: tuple[Fault, ...]

    def of_phase(self, phase: str) -> Self:
        """With the streams of this phase alone, and what was watched in it."""
        streams = tuple(stream for stream in self.streams if stream.phase == phase)
        watched = tuple(watch for watch in self.watched if watch.phase == phase)
        return self.model_copy(update={"streams": streams, "watched": watched})

    def stream_of(self, phase: str) -> StreamResult | None:
        """The first one of this phase."""
        return next((stream for stream in self.streams if stream.phase == phase), None)

    def counters(self) -> Iterator[tuple[StreamResult, Kind, KindCounters]]:
        for stream in self.streams:
            for kind, counters in stream.counters():
                yield stream, kind, counters

    @property
    def passed(self) -> bool:
        """Received equals sent for each active direction and kind (RFC 2544 section 26.1)."""
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
        """Of both ports, in all phases."""
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
        """Of the direction whose sender paused longest, in all."""
        return max((stream.pauses.total_ns for stream in self.streams), default=0.0)

    @property
    def sending_ns(self) -> float:
        return max((stream.sending_ns for stream in self.streams), default=0.0)

    @property
    def off_core_ns(self) -> float:
        """Of the worker that was longest kept from its core, in all phases."""
        by_cpu: dict[int, float] = {}
        for worker in self.workers:
            by_cpu[worker.cpu] = by_cpu.get(worker.cpu, 0.0) + worker.off_core_ns
        return max(by_cpu.values(), default=0.0)

    @property
    def worst_lateness_ns(self) -> float:
        return max((stream.lateness.max_ns for stream in self.streams), default=0.0)
