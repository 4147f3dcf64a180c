"""Counters of a port in a trial (engine/spec/port_result.hpp).

ICMP errors are also put in words: "500 x ICMP fragmentation needed, MTU 1280, from 198.18.0.1".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Count, Model
from natxy.model.trial_spec import Side

Octet = Annotated[int, Between(0, 255)]
_OF_DEVICE = "counter of the port or of the interface behind it"
OfDevice = Annotated[Count, _OF_DEVICE]
SHOWN = 4  # sorts of errors that one sentence lists

# Keys are (type, code): RFC 792, RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.
ICMPV4_WORDS = {
    (3, 0): "no route (network unreachable)",
    (3, 1): "host unreachable",
    (3, 2): "protocol unreachable",
    (3, 3): "port unreachable",
    (3, 4): "fragmentation needed",
    (3, 5): "source route failed",
    (3, 6): "network unknown",
    (3, 7): "host unknown",
    (3, 8): "source host isolated",
    (3, 9): "network prohibited",
    (3, 10): "host prohibited",
    (3, 11): "network unreachable for this type of service",
    (3, 12): "host unreachable for this type of service",
    (3, 13): "prohibited by a filter",
    (3, 14): "host precedence violation",
    (3, 15): "precedence cutoff",
    (4, 0): "source quench",
    (11, 0): "TTL exceeded",
    (11, 1): "fragment reassembly time exceeded",
    (12, 0): "parameter problem",
    (12, 1): "required option missing",
    (12, 2): "bad length",
}
# RFC 4443.
ICMPV6_WORDS = {
    (1, 0): "no route",
    (1, 1): "prohibited by a filter",
    (1, 2): "beyond the scope of the source address",
    (1, 3): "address unreachable",
    (1, 4): "port unreachable",
    (1, 5): "source address failed the policy",
    (1, 6): "route rejected",
    (2, 0): "packet too big",
    (3, 0): "hop limit exceeded",
    (3, 1): "fragment reassembly time exceeded",
    (4, 0): "erroneous header field",
    (4, 1): "unknown next header",
    (4, 2): "unknown IPv6 option",
}


class IcmpError(Model):
    """ICMP errors of one sort, about frames of the trial (RFC 792, RFC 4443).

    The engine reads ICMP types 3, 4, 11 and 12, and ICMPv6 types 1 to 4, also in a tunnel of one of
    the encapsulations: a border relay answers through the softwire. An error about a frame in a
    tunnel may quote the outer packet or the inner one. The packet that an error quotes must have
    the addresses and ports of the trial's frames, and their mark if the quotation is long enough to
    contain it. Errors that differ only in `example` are one sort.
    """

    ip_version: IpVersion
    """4: ICMP. 6: ICMPv6."""
    type: Octet
    """Type of the error."""
    code: Octet
    """Code of the error."""
    mtu: int | None
    """The MTU that the error names. Null: it names none."""
    source: str
    """The address that sent it."""
    count: Count
    """Number of such errors."""
    example: str = ""
    """The first such frame, at most 128 octets of it, in hexadecimal digits."""


class PortResult(Model):
    """A port in the whole trial."""

    side: Side
    """Side of the port."""
    foreign: Count
    """Frames that are not of this trial."""
    neighbour: Count
    """ARP and Neighbour Discovery, answered or not."""
    queue_received: tuple[Count, ...] = ()
    """For each receive queue of the port, how many of the frames that count as `received` in the
    streams came by this queue, in all phases together. It shows how the NIC distributed the
    frames."""
    rx_missed: OfDevice
    """Frames that the port had no descriptor for."""
    rx_errors: OfDevice
    """Frames that the port received with an error."""
    rx_no_buffer: OfDevice
    """Frames that the port had no buffer for."""
    tx_errors: OfDevice
    """Frames that the port could not send."""
    kernel_rx_dropped: OfDevice
    """Frames that the network interface behind the port dropped."""
    link_downs: OfDevice = 0
    """How often the port's link went down. If the port has a kernel interface, the engine reads the
    kernel's own count before and after the trial, so it counts even the shortest fall. For other
    ports, it reads the link's state every 10 ms."""
    records_lost: Count
    """Records of frames for which the buffer had no room."""
    worst_poll_gap_ns: float
    """The longest time that a frame may have waited for the poll that found it."""
    clock_error_ns: float | None = None
    """How far the port's own clock, which stamps arrivals, may have been from the processor's
    clock. Null: the port has no clock; otherwise, `offloads` of the port in `hello` contains
    `rx_timestamp`."""
    unstamped: Count = 0
    """Frames that came without a stamp of the port's clock."""
    implausible_stamps: Count = 0
    """Stamps that were later than the poll that found the frame, or more than a second before
    it."""
    icmp_errors: tuple[IcmpError, ...] = ()
    """ICMP errors about frames that left at this port, at most 16 sorts. All ICMP errors also count
    in `foreign`."""
    icmp_errors_unlisted: Count = 0
    """ICMP errors of further sorts."""
    icmp_errors_of_others: Count = 0
    """ICMP errors that quote no frame that left at this port."""

    @property
    def of_device(self) -> Mapping[str, int]:
        """The counters of the port, and of the network interface behind it."""
        fields = type(self).model_fields.items()
        return {name: getattr(self, name) for name, each in fields if _OF_DEVICE in each.metadata}


def icmp_words(error: IcmpError) -> str:
    """Returns count, meaning and source of one sort of error."""
    name, words = ("ICMP", ICMPV4_WORDS) if error.ip_version == 4 else ("ICMPv6", ICMPV6_WORDS)
    what = words.get((error.type, error.code), f"type {error.type} code {error.code}")
    mtu = "" if error.mtu is None else f", MTU {error.mtu}"
    return f"{error.count:,} x {name} {what}{mtu}, from {error.source}"


def icmp_list(errors: Iterable[IcmpError]) -> str:
    """Returns the most frequent sorts, and the count of all others; empty without an error."""
    sorts = merged(errors)
    said = [icmp_words(error) for error in sorts[:SHOWN]]
    if others := sum(error.count for error in sorts[SHOWN:]):
        said.append(f"{others:,} of other sorts")
    return "; ".join(said)


def merged(errors: Iterable[IcmpError]) -> tuple[IcmpError, ...]:
    """Adds up the errors that are alike; returns the most frequent first, without examples."""
    alike: dict[Sequence[object], IcmpError] = {}
    for error in errors:
        key = (error.ip_version, error.type, error.code, error.mtu, error.source)
        count = error.count + (alike[key].count if key in alike else 0)
        alike[key] = error.model_copy(update={"count": count, "example": ""})
    return tuple(sorted(alike.values(), key=lambda error: -error.count))
