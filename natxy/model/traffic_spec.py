"""The traffic of a trial spec: addresses, ports, and what a stream does with connections.

Names, limits and meaning are those of engine/spec/trial_spec.hpp. The engine checks the rules that
concern several members (engine/spec/rules.cpp).
"""

from ipaddress import ip_address
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpAddress, IpVersion
from natxy.model.base import Between, Model, refuse
from natxy.model.encapsulations import Encapsulation, tunnel_bytes

SMALLEST_FRAME_BYTES = {4: 64, 6: 84}  # with FCS, by IP version
TCP_MORE_BYTES = 14  # the TCP header and the head of its option, compared to the UDP header
EXTENSION_HEADER_BYTES = 8
VLAN_TAG_BYTES = 4
MAX_FRAME_SIZE_BYTES = 9216
MAX_CONNECTIONS = 2**32  # a frame has four octets for the number of its connection
HOP_LIMIT = 64

SeriesMode = Literal["fixed", "increasing", "decreasing", "pseudorandom"]
Selection = Literal[
    "independent", "enumerate-increasing", "enumerate-decreasing", "enumerate-pseudorandom"
]
Role = Literal["establish", "initiate", "respond"]
Transport = Literal["udp", "tcp"]
# With the role, the segment determines flags and numbers (docs/decisions/0033); `ack` is the end of
# the handshake, and what carries data.
TcpSegment = Literal["syn", "ack", "fin", "last-ack", "rst"]
Order = Literal[
    "linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing", "repeating"
]
Octet = Annotated[int, Between(0, 15)]
MAX_FIELD_BITS = 24
UInt16 = Annotated[int, Between(0, 2**16 - 1)]
UInt24 = Annotated[int, Between(0, 2**MAX_FIELD_BITS - 1)]
FlowLabel = Annotated[int, Between(0, 2**20 - 1)]
# RFC 8200 section 4; `routing` has an experimental type and no segments left.
ExtensionHeader = Literal["hop-by-hop", "destination-options", "routing"]
ExtensionHeaders = Annotated[tuple[ExtensionHeader, ...], Field(max_length=8)]


class Series(Model):
    """A 16-bit value that follows from a frame's ordinal (RFC 4814)."""

    highest: ClassVar[int] = 2**16 - 1

    mode: SeriesMode
    min: UInt16  # the only value if the mode is fixed
    max: UInt16

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        """Checks what the engine checks too: a testbed has series, whose keys are named here."""
        if self.max < self.min:
            refuse(f"{self.max} is below min (expected {self.min} to {self.highest})", member="max")
        return self

    @classmethod
    def counted(cls, first: int, count: int) -> Self:
        """Returns a series of `count` increasing values that starts with `first`."""
        mode: SeriesMode = "increasing" if count > 1 else "fixed"
        return cls(mode=mode, min=first, max=first + count - 1)

    @property
    def values(self) -> int:
        return 1 if self.mode == "fixed" else self.max - self.min + 1


class FieldSeries(Series):
    """A series of the values of a field of addresses, which has up to 24 bits."""

    highest: ClassVar[int] = 2**MAX_FIELD_BITS - 1

    min: UInt24
    max: UInt24


FIXED_ZERO = FieldSeries(mode="fixed", min=0, max=0)


class FieldBits(Model):
    """Bits of a field's value, and the place in an address that holds them.

    `value_bit` counts from the least significant bit of the value, `address_bit` from the most
    significant bit of the address, as the length of a prefix does.
    """

    value_bit: Annotated[int, Between(0, MAX_FIELD_BITS - 1)] = 0
    bits: Annotated[int, Between(1, MAX_FIELD_BITS)]
    address_bit: Annotated[int, Between(0, 127)]


class AddressPattern(Model):
    """An address in which one octet may hold the network's number, and some bits a field."""

    address: IpAddress
    network_byte: Octet | None = None
    field: Annotated[tuple[FieldBits, ...], Field(max_length=3)] = ()

    def with_field(self, value: int) -> str:
        """Returns the address with this value of the field, which is 0 in the pattern."""
        base = ip_address(self.address)
        number = int(base)
        for place in self.field:
            bits = value >> place.value_bit & (1 << place.bits) - 1
            number |= bits << (base.max_prefixlen - place.address_bit - place.bits)
        return str(ip_address(number.to_bytes(base.max_prefixlen // 8)))


class PortSet(Model):
    """The ports of one of the hosts that share an IPv4 address (RFC 7597 section 5.1).

    From the most significant bit, a port consists of `offset_bits` that are not all 0, of the PSID
    in `psid_bits`, and of the rest. The PSID is in the lowest bits of the address field.
    """

    offset_bits: Annotated[int, Between(0, 15)]
    psid_bits: Annotated[int, Between(1, 15)]

    @property
    def contiguous(self) -> int:
        """The number of ports that follow each other."""
        return 1 << (16 - self.offset_bits - self.psid_bits)

    @property
    def size(self) -> int:
        """The number of ports that a host has."""
        ranges = (1 << self.offset_bits) - 1 if self.offset_bits else 1
        return ranges * self.contiguous

    def port(self, index: int, psid: int) -> int:
        """Returns the port with this index, from 0 to `size` - 1."""
        block, rest = divmod(index, self.contiguous)
        blocks = block + (1 if self.offset_bits else 0)
        return ((blocks << self.psid_bits) + psid) * self.contiguous + rest


class Tunnel(Model):
    """The outer header of a packet in a tunnel, such as a softwire of DS-Lite, lw4o6 and MAP-E.

    The gateway may change traffic class and flow label, and the DF bit and the identification of
    IPv4. It may choose the hop limit, which is then the same in all frames.
    """

    encapsulation: Encapsulation = "ip"
    ip_version: IpVersion = 6  # of this header
    source: AddressPattern
    destination: AddressPattern
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT

    @property
    def bytes(self) -> int:
        """Returns by how much the tunnel makes a frame larger."""
        return tunnel_bytes(self.encapsulation, self.ip_version)

    def swapped(self) -> Self:
        """Returns the header of the frames in the other direction."""
        return self.model_copy(update={"source": self.destination, "destination": self.source})


class PacketFormat(Model):
    """The layout of the frames of one kind at one end of a stream.

    `frame_size_bytes` counts the FCS, but no VLAN tags.
    """

    ip_version: IpVersion
    source: AddressPattern
    destination: AddressPattern
    frame_size_bytes: Annotated[int, Between(SMALLEST_FRAME_BYTES[4], MAX_FRAME_SIZE_BYTES)]
    traffic_class: Annotated[int, Between(0, 255)] = 0  # DSCP and ECN: IPv4's TOS
    flow_label: FlowLabel = 0  # IPv6
    extension_headers: ExtensionHeaders = ()  # IPv6, 8 octets each, in the order of the frame
    tunnel: Tunnel | None = None
    transport: Transport = "udp"  # the same at both ends; tcp needs connections

    @property
    def link_version(self) -> IpVersion:
        """The IP version that the link layer carries: that of the outer header of a tunnel."""
        return self.tunnel.ip_version if self.tunnel else self.ip_version

    @property
    def smallest_bytes(self) -> int:
        """The size of this format's smallest frame."""
        extension_bytes = len(self.extension_headers) * EXTENSION_HEADER_BYTES
        outer_bytes = self.tunnel.bytes if self.tunnel else 0
        tcp_bytes = TCP_MORE_BYTES if self.transport == "tcp" else 0
        return SMALLEST_FRAME_BYTES[self.ip_version] + extension_bytes + outer_bytes + tcp_bytes


class Connections(Model):
    """The role of a stream in the connections of its trial, and the order in which it uses them.

    A connection is identified by its number in the enumeration of the establishing stream.
    `linear` uses each connection once. `repeating` draws an establishing stream's combinations
    with repetition. `missing` uses the connections that are missing: for an initiator those that
    are not in the tester's table, for a responder those of which no reply arrived in a linear
    stream. All other orders continue without end.
    """

    role: Role
    order: Order = "linear"
    segment: TcpSegment | None = None  # None: the frames are UDP
    first: Annotated[int, Between(0, MAX_CONNECTIONS - 1)] = 0  # connection; of background only


class Traffic(Model):
    """One kind of traffic: how its frames are sent, and what they must be like on arrival."""

    departure: PacketFormat
    arrival: PacketFormat
    selection: Selection
    source_port: Series  # with a port set: of the indices of its ports, from 0 on
    destination_port: Series
    source_field: FieldSeries
    destination_field: FieldSeries
    source_port_set: PortSet | None = None
    destination_port_set: PortSet | None = None
    networks: Annotated[int, Between(1, 256)]
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT  # of the frames that leave the tester
    dont_fragment: bool = True  # IPv4's DF bit
    hop_limit_drop: Annotated[int, Between(0, 254)] | None = None  # None: learned
    # Send no frame whose UDP checksum would be ffff on arrival: some translators make it 0000.
    avoid_zero_checksum: bool = False
    # Traffic class, TOS and flow label on arrival must be those of `arrival`.
    dscp_kept: bool = False
    # Over IPv4, too, a frame with a UDP checksum of 0 (RFC 768: it has none) is misdelivered.
    udp_checksum_required: bool = False
    connections: Connections | None = None  # None: stateless
