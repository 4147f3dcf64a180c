"""Counters of a stream in a trial: frames by kind, tags, losses, connections and pauses
(engine/spec/stream_result.hpp)."""

from functools import cached_property
from typing import Annotated, Literal

from natxy.model.base import ADDED, Between, Count, Model
from natxy.model.distribution import Distribution


class Misdelivered(Model):
    """Misdelivered frames, counted by the first check that failed.

    The checks are explained in "How to read a result".
    """

    malformed: Count
    """Wrong IP version, protocol or lengths."""
    checksum: Count
    """Checksum of the IPv4 header, of UDP or of TCP."""
    number: Count
    """A number, stream or direction that was not sent to this port."""
    length: Count
    """Length of the frame."""
    tunnel: Count = 0
    """The outer header of a tunnel."""
    address: Count
    """Addresses."""
    port: Count
    """Ports."""
    sequence: Count = 0
    """Sequence or acknowledgement number of TCP."""
    hop_limit: Count
    """Hop limit."""
    traffic_class: Count = 0
    """Traffic class or flow label, if `dscp_kept` is true."""
    header: Count = 0
    """A VLAN tag, an extension header, or flags, window, urgent pointer or option of TCP."""
    total: Count
    """All of these."""


class TagCounters(Model):
    """Tagged frames, of both kinds of traffic together."""

    sent: Count
    """Tagged frames that were sent."""
    received: Count
    """Those that arrived."""
    lost: Count
    """Those that did not."""
    arrived: tuple[tuple[Count, Count, Count], ...]
    """`[number, delay_ns, gap_ns]` of each that came, in ascending order. The delay may be too long
    by the gap: its poll gap (0 if the port stamps arrivals), plus what its send call, with what
    precedes it since the time stamp, took beyond the median of all."""
    lost_numbers: tuple[Count, ...] = ()
    """The numbers of those that did not come, in ascending order."""
    disturbed: Annotated[Count, ADDED] = 0
    """Tagged frames that are left out of `arrived`, since gateway or tester kept them waiting while
    it was away."""
    held: Annotated[Count, ADDED] = 0
    """Tagged frames that may have waited in the pauses of a gateway that is not watched."""

    @cached_property
    def delay(self) -> Distribution:
        return Distribution.of([delay_ns for _, delay_ns, _ in self.arrived])

    @cached_property
    def least_delay(self) -> Distribution:
        """The delays, each without the time by which it may be too long."""
        return Distribution.of([max(0, delay_ns - gap_ns) for _, delay_ns, gap_ns in self.arrived])


class Losses(Model):
    """Frames that never arrived; times are due times since the start of the phase."""

    frames: Count
    """Number of lost frames."""
    first_number: Count
    """Number of the first one."""
    last_number: Count
    """Number of the last one."""
    first_due_ns: float
    """When the first one was due."""
    last_due_ns: float
    """When the last one was due."""
    gaps: Count = 0
    """Runs of lost frames with consecutive numbers (RFC 2544 section 10)."""
    longest_run: Count
    """Frames of the longest run."""
    longest_run_from_ns: float
    """When the first frame of the longest run was due."""
    longest_run_until_ns: float
    """When the first frame after it was due."""
    last_counted: Annotated[Count | None, ADDED] = None
    """The last lost number that no absence of gateway or tester explains. Null: there is none."""


class Silence(Model):
    """The longest time without an arrival, since the phase's start (RFC 6201)."""

    from_ns: float
    """When it began."""
    until_ns: float
    """When it ended."""


class DelayVariation(Model):
    """The signed differences D(i) - D(i-1) of the delays of frames that are consecutive within
    their kind (RFC 8219 section 7.3.2)."""

    undefined: Count
    """Pairs for which there is no difference, because one frame is missing, or arrived more than
    16,384 frames after the other one."""
    distribution: Distribution
    """The differences."""


class KindCounters(Model):
    """Frames of one kind of traffic."""

    sent: Count
    """Frames offered to the gateway: accepted by the port, or refused by the gateway's ring."""
    received: Count
    """Frames that passed every check in time; each number counts once."""
    lost: Count
    """`sent` minus `received`."""
    duplicated: Count
    """Frames whose number had arrived before."""
    reordered: Count
    """Frames that a frame of the same sender with a higher number overtook (RFC 4737); a part of
    `received`."""
    without_udp_checksum: Count = 0
    """Frames over IPv4 whose UDP checksum is 0; a part of `received`."""
    late: Count
    """Frames that came after the frame timeout, in a later phase, or too long after others to be
    told from duplicates."""
    misdelivered: Misdelivered
    """Frames that failed a check."""
    hop_limit: Annotated[int, Between(0, 255)]
    """The hop limit on arrival. 0: no frame arrived."""
    negative_delays: Count
    """Delays below 0, which were set to 0."""
    delay: Distribution
    """Delays of the received frames."""
    ipdv: DelayVariation | None = None
    """The variation of the delays. Null: the spec did not ask for it."""

    def frames(self) -> dict[str, int]:
        """Returns the counters of frames by their names."""
        members = dict(self) | {"misdelivered": self.misdelivered.total}
        del members["hop_limit"]
        return {name: value for name, value in members.items() if isinstance(value, int)}


class Kinds(Model):
    """The kinds of traffic of a stream."""

    foreground: KindCounters | None = None
    """The frames that the gateway translates. Null: the stream has none."""
    background: KindCounters | None = None
    """The frames that the gateway only routes. Null: the stream has none."""


class ConnectionCounters(Model):
    """Frames of a stream that arrived, counted by what they show of their connection."""

    new: Count
    """Connections that were stored for the first time."""
    known: Count
    """Frames that came with the stored mapping, and replies that arrived at the right
    connection."""
    changed: Count
    """Frames that came with another mapping than the stored one, which it replaced."""
    wrong: Count
    """Replies that were delivered to another connection; they also count in `misdelivered`."""
    collided: Count
    """Those of the `wrong` replies whose two connections have the same external four-tuple."""
    ending_new_percent: float
    """The share of new connections among the last 1 % of an establishing stream's frames."""


PauseReason = Literal["core", "port"]  # "port": the port had refused a frame


class Pauses(Model):
    """Pauses: shifts of the sending schedule that a sender made instead of sending a burst."""

    count: Count = 0
    """Number of pauses."""
    total_ns: float = 0.0
    """Their sum; if several senders share a direction, that of the sender that paused longest."""
    longest_ns: float = 0.0
    """The longest one."""
    at: tuple[tuple[Count, Count, PauseReason], ...] = ()
    """`[before_number, ns, reason]` of each pause, in ascending order: the sender of this number
    paused just before it, by `ns`. The reason is `port` if the port had refused a frame in the step
    before, and `core` otherwise. A number is due at the time that its segment says, plus the pauses
    of its own sender (number mod `senders`) at or before it. Pauses that are joined stand with
    their sum before the number of the first one."""

    @property
    def by_port_ns(self) -> float:
        """The part of the total in which the port refused frames."""
        of_all = sum(ns for _, ns, _ in self.at)
        by_port = sum(ns for _, ns, reason in self.at if reason == "port")
        return self.total_ns * by_port / of_all if of_all else 0.0


NO_PAUSES = Pauses()
