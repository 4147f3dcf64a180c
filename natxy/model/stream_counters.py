"""Counters of a stream in a trial: frames by kind, tags, losses, connections and pauses.

Names and meaning are those of engine/spec/trial_result.hpp.
"""

from functools import cached_property
from typing import Annotated, Literal

from natxy.model.base import Between, Count, Model
from natxy.model.distribution import Distribution


class Misdelivered(Model):
    """Misdelivered frames, counted by the first check that failed."""

    malformed: Count
    checksum: Count
    number: Count
    length: Count
    tunnel: Count = 0  # the addresses of the outer header
    address: Count
    port: Count
    sequence: Count = 0  # sequence or acknowledgement number of TCP
    hop_limit: Count
    traffic_class: Count = 0  # also the flow label; checked if traffic.dscp is "kept"
    header: Count = 0  # a VLAN tag, an extension header, or the rest of the TCP header
    total: Count


class TagCounters(Model):
    """Tagged frames, of both kinds of traffic, in ascending order of numbers.

    `arrived` has (number, delay_ns, gap_ns) of each that came: its delay may be too long by the
    gap, the time of its send call and its poll gap (see StreamResult). natxy leaves out those that
    gateway or tester kept waiting while it was away, and counts them in `disturbed`. Where too few
    would be left, all stay: `waited` of them, whose gap contains their wait. `held` of a gateway
    that is not watched may have waited in its pauses.
    """

    sent: Count
    received: Count
    lost: Count
    arrived: tuple[tuple[Count, Count, Count], ...]
    lost_numbers: tuple[Count, ...] = ()
    disturbed: Count = 0
    waited: Count = 0
    held: Count = 0

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
    first_number: Count
    last_number: Count
    first_due_ns: float
    last_due_ns: float
    # Runs of lost frames with consecutive numbers (RFC 2544 section 10); earlier releases: 0.
    gaps: Count = 0
    longest_run: Count  # lost frames with consecutive numbers
    longest_run_from_ns: float
    longest_run_until_ns: float  # the due time of the first frame after it
    # The last lost number that no absence of gateway or tester explains; natxy adds it. None: none.
    last_counted: Count | None = None


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


PauseReason = Literal["core", "port"]  # "port": the port had refused a frame


class Pauses(Model):
    """Pauses: shifts of the sending schedule that a sender made instead of sending a burst.

    `at` has (before_number, ns, reason) for each, in ascending order of numbers: the sender of this
    number paused just before it. A number is due by its segment, plus the pauses of its own sender
    at or before it (see StreamResult.senders). Of more than 4,096 pauses, neighbours are joined:
    they stand at the first one, with their sum. Journals of earlier releases have none.
    """

    count: Count = 0
    total_ns: float = 0.0  # if several senders share a direction: of the one that paused longest
    longest_ns: float = 0.0
    at: tuple[tuple[Count, Count, PauseReason], ...] = ()

    @property
    def by_port_ns(self) -> float:
        """The part of the total in which the port refused frames."""
        of_all = sum(ns for _, ns, _ in self.at)
        by_port = sum(ns for _, ns, reason in self.at if reason == "port")
        return self.total_ns * by_port / of_all if of_all else 0.0


NO_PAUSES = Pauses()
