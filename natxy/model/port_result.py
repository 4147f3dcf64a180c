"""Counters of a port in a trial (engine/spec/port_result.hpp)."""

from collections.abc import Mapping
from typing import Annotated

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Count, Model
from natxy.model.trial_spec import Side

Octet = Annotated[int, Between(0, 255)]
_OF_DEVICE = "counter of the port or of the interface behind it"
OfDevice = Annotated[Count, _OF_DEVICE]


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
