"""The traffic of a trial spec: addresses, ports, and what a stream does with connections.

The text below a member is its meaning. The engine checks the rules that concern several members
(engine/spec/rules.cpp).

A new encapsulation of a tunnel (what follows its outer IP header, before the packet in it) is an
entry here and one in engine/spec/encapsulation.hpp.
"""

from ipaddress import ip_address
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpAddress, IpVersion
from natxy.model.base import Between, Model, refuse

Encapsulation = Literal["ip", "gre"]

# Octets between the outer IP header and the packet in the tunnel.
HEADER_BYTES: dict[Encapsulation, int] = {
    "ip": 0,  # RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (both in IPv6)
    "gre": 4,  # RFC 2784, RFC 7676 (IPv6)
}
IP_BYTES: dict[IpVersion, int] = {4: 20, 6: 40}
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


def tunnel_bytes(encapsulation: Encapsulation, ip_version: IpVersion) -> int:
    """Returns by how much a tunnel with an outer header of this IP version makes a frame larger."""
    return IP_BYTES[ip_version] + HEADER_BYTES[encapsulation]


class Series(Model):
    """A 16-bit value that follows from a frame's ordinal (RFC 4814)."""

    highest: ClassVar[int] = 2**16 - 1

    mode: SeriesMode
    """How the value changes from frame to frame."""
    min: UInt16
    """The smallest value, and the only one if the mode is `fixed`."""
    max: UInt16
    """The largest value."""

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
    """The smallest value, and the only one if the mode is `fixed`."""
    max: UInt24
    """The largest value."""


FIXED_ZERO = FieldSeries(mode="fixed", min=0, max=0)


class FieldBits(Model):
    """Bits of a field's value, and the place in an address that holds them.

    For example, `{"value_bit": 8, "bits": 16, "address_bit": 40}` holds bits 8 to 23 of the value,
    the highest one first.
    """

    value_bit: Annotated[int, Between(0, MAX_FIELD_BITS - 1)] = 0
    """The lowest of the bits, counted from the least significant bit of the value."""
    bits: Annotated[int, Between(1, MAX_FIELD_BITS)]
    """Number of bits."""
    address_bit: Annotated[int, Between(0, 127)]
    """Where they begin, counted from the most significant bit of the address, as the length of a
    prefix is."""


class AddressPattern(Model):
    """An address in which one octet may hold the network's number, and some bits a field."""

    address: IpAddress
    """The address; the bits of the field are 0."""
    network_byte: Octet | None = None
    """Index of the octet that is replaced by the number of the destination network (0 to 255), if
    the traffic has more than one network. The package uses octet 7 of an IPv6 address and octet 2
    of an IPv4 address (bits 56 to 63 and 16 to 23), unless the testbed says otherwise. Null: the
    network does not change the address."""
    field: Annotated[tuple[FieldBits, ...], Field(max_length=3)] = ()
    """Where the address holds the bits of `source_field` or `destination_field`. Without a part at
    either end, the series must be `fixed`. One end suffices: a gateway may choose the address of
    the other, and hosts may share it."""

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
    """Bits before the PSID."""
    psid_bits: Annotated[int, Between(1, 15)]
    """Bits of the PSID, which is the lowest bits of that end's field."""

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

    Traffic class and flow label are 0; the DF bit and the identification are as in the packet in
    the tunnel. On arrival, the gateway may have changed these.
    """

    encapsulation: Encapsulation = "ip"
    """What follows the outer header: nothing (`ip`: RFC 2003, RFC 4213, RFC 2473), or the 4 octets
    of GRE without checksum, key and sequence number (`gre`: RFC 2784, RFC 7676)."""
    ip_version: IpVersion = 6
    """IP version of the outer header."""
    source: AddressPattern
    """Its source address."""
    destination: AddressPattern
    """Its destination address."""
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT
    """Its hop limit on departure. On arrival the gateway may choose it: the engine learns it from
    the first frame, and a frame with another one is misdelivered by the check `tunnel`."""

    @property
    def bytes(self) -> int:
        """Returns by how much the tunnel makes a frame larger."""
        return tunnel_bytes(self.encapsulation, self.ip_version)

    def swapped(self) -> Self:
        """Returns the header of the frames in the other direction."""
        return self.model_copy(update={"source": self.destination, "destination": self.source})


class PacketFormat(Model):
    """The layout of the frames of one kind at one end of a stream.

    The data of a frame are the same at both ends. If there is a tunnel, all members but
    `frame_size_bytes` are those of the packet in it.
    """

    ip_version: IpVersion
    """IP version of the frames."""
    source: AddressPattern
    """Source addresses."""
    destination: AddressPattern
    """Destination addresses."""
    frame_size_bytes: Annotated[int, Between(SMALLEST_FRAME_BYTES[4], MAX_FRAME_SIZE_BYTES)]
    """Size of a frame with its FCS and the octets of the tunnel, without VLAN tags."""
    traffic_class: Annotated[int, Between(0, 255)] = 0
    """The octet with DSCP and ECN, which IPv4 calls TOS."""
    flow_label: FlowLabel = 0
    """Flow label of an IPv6 frame."""
    extension_headers: ExtensionHeaders = ()
    """Extension headers of an IPv6 frame in their order, 8 octets each. `hop-by-hop` must be the
    first. The options are padding. The routing header is of the experimental type 253 and has no
    segments left, so that every node ignores it."""
    tunnel: Tunnel | None = None
    """What a tunnel puts before the packet. Null: there is no tunnel."""
    transport: Transport = "udp"
    """The same at both ends. `tcp` needs `connections` with a `segment`, and 14 octets more: the
    TCP header has an option that holds the stamp (decision 0033)."""

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
    """

    role: Role
    """What the frames do with connections."""
    order: Order = "linear"
    """`linear`: each connection once. `repeating`: combinations of an establishing stream, drawn
    with repetition. `missing`: each of the connections that are missing, for an initiator those
    that are not in the tester's table, for a responder those of which no reply arrived in a stream
    with the order `linear` or `missing`. All other orders continue without end."""
    segment: TcpSegment | None = None
    """The TCP segment that each frame is. Null: the frames are UDP."""
    first: Annotated[int, Between(0, MAX_CONNECTIONS - 1)] = 0
    """Number of the first connection, of background that creates connections."""


class Traffic(Model):
    """One kind of traffic: how its frames are sent, and what they must be like on arrival.

    The ports on arrival are those on departure, unless the stream has `connections`.
    """

    departure: PacketFormat
    """The frames as they leave."""
    arrival: PacketFormat
    """The frames as they must arrive. The engine learns the addresses that a stateful gateway
    chooses."""
    selection: Selection
    """`independent`: each series by itself. The others: each combination of the ranges once, in
    this order."""
    source_port: Series
    """Source ports; with a port set, the indices of its ports, from 0 on."""
    destination_port: Series
    """Destination ports; with a port set, the indices of its ports, from 0 on."""
    source_field: FieldSeries
    """Values of the field of the source addresses."""
    destination_field: FieldSeries
    """Values of the field of the destination addresses."""
    source_port_set: PortSet | None = None
    """The ports of a host that shares its IPv4 address with others. Index 0 is the lowest port of a
    set, index 1 the next one. Port sets are not possible with connections. Null: the host has all
    ports."""
    destination_port_set: PortSet | None = None
    """The same of the destination."""
    networks: Annotated[int, Between(1, 256)]
    """Destination networks, which are chosen pseudorandomly."""
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT
    """Hop limit of the frames on departure."""
    dont_fragment: bool = True
    """IPv4's DF bit on departure. With it, the identification is 0 (RFC 6864: such a datagram needs
    none). Without it, the identification is the low 16 bits of the frame's number, so that it
    repeats after 65,536 frames of a direction. RFC 6864 wants it not to repeat for two minutes
    between the same two addresses, which no sender can do above 546 frames a second."""
    hop_limit_drop: Annotated[int, Between(0, 254)] | None = None
    """By how much the gateway lowers the hop limit; it is less than `hop_limit`. Null: the engine
    learns the hop limit on arrival from the first frame."""
    avoid_zero_checksum: bool = False
    """If a frame's UDP checksum would have to be ffff on arrival, the engine changes a part of its
    stamp, so that the checksum is another one (decision 0009)."""
    dscp_kept: bool = False
    """`traffic_class` and `flow_label` of a frame must be those of `arrival`; otherwise it is
    misdelivered by the check `traffic_class`. False: these fields are not checked."""
    udp_checksum_required: bool = False
    """A frame whose UDP checksum is 0 is misdelivered by the check `checksum`, over IPv4 as over
    IPv6. False: such a frame counts as received over IPv4, and is also counted in
    `without_udp_checksum` of its kind."""
    connections: Connections | None = None
    """What the frames do with connections. Null: stateless traffic."""
