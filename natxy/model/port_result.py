"""Counters of a port in a trial. Names and meaning are those of engine/spec/trial_result.hpp."""

from typing import Annotated

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Count, Model
from natxy.model.trial_spec import Side

Octet = Annotated[int, Between(0, 255)]


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
    # By receive queue: the received frames of all streams (see KindCounters). Empty: not recorded.
    queue_received: tuple[Count, ...] = ()
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
