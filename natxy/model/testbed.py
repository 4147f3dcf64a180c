"""The model of a testbed file (TOML): the tester's ports, its traffic and the DUT."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpHost, Ipv4Host, Ipv6Host, IpVersion, MacAddress, version_of
from natxy.model.base import Between, Checked, Model, refuse
from natxy.model.source import Source, read_whole
from natxy.model.subscribers import SubscribersSection
from natxy.model.traffic_spec import (
    FIXED_ZERO,
    HOP_LIMIT,
    MAX_CONNECTIONS,
    MAX_FRAME_SIZE_BYTES,
    SMALLEST_FRAME_BYTES,
    Encapsulation,
    ExtensionHeaders,
    FieldBits,
    FieldSeries,
    FlowLabel,
    Selection,
    Series,
    SeriesMode,
    Transport,
    UInt16,
    tunnel_bytes,
)
from natxy.model.trial_spec import (
    MAX_MIX_N,
    MAX_RATE_FPS,
    MIN_FRAME_SIZE_BYTES,
    Direction,
    Mix,
    Side,
    VlanTags,
)

Directions = Literal["both", "forward", "reverse"]
MAX_CPU = 4095
Cpus = Annotated[tuple[Annotated[int, Between(0, MAX_CPU)], ...], Field(min_length=1)]

IPV6_SIZE = (
    f", the size of the IPv6 frame: {MIN_FRAME_SIZE_BYTES} is {SMALLEST_FRAME_BYTES[4]} as IPv4"
)
IPV4_NETWORK_BYTE = 2  # bits 16-23
IPV6_NETWORK_BYTE = 7  # bits 56-63
# RFC 4814 section 4.5
SOURCE_PORTS = Series(mode="pseudorandom", min=1024, max=65535)
DESTINATION_PORTS = Series(mode="pseudorandom", min=1, max=49151)


def _without_nul(name: str) -> str:
    """Refuses a NUL, which no argument of a program and no path can hold."""
    if "\0" in name:
        refuse("holds a NUL character (expected a PCI address or a DPDK device)")
    return name


class TunnelSection(Model):
    """A tunnel between the tester and the gateway, for all foreground frames of a side."""

    encapsulation: Encapsulation = "ip"
    address: IpHost  # the tester's end
    gateway: IpHost  # the gateway's end

    @model_validator(mode="after")
    def _has_two_ends(self) -> Self:
        if version_of(self.gateway) != self.ip_version:
            refuse(
                f"{self.gateway} has another IP version than address (expected an IPv"
                f"{self.ip_version} address)",
                member="gateway",
            )
        if ip_address(self.address) == ip_address(self.gateway):
            refuse(f"{self.gateway} is also address (expected another address)", member="gateway")
        return self

    @property
    def ip_version(self) -> IpVersion:
        """The IP version of the outer header."""
        return ip_address(self.address).version

    @property
    def bytes(self) -> int:
        """Returns by how much the tunnel makes a frame larger."""
        return tunnel_bytes(self.encapsulation, self.ip_version)


class Port(Model):
    """One of the tester's ports; if `device` is None, the lab creates it."""

    device: Annotated[str, Field(min_length=1), Checked(_without_nul)] | None = None
    ipv4_real: Ipv4Host | None = None
    ipv4_virtual: Ipv4Host | None = None
    ipv6_real: Ipv6Host | None = None
    ipv6_virtual: Ipv6Host | None = None
    next_hop_ipv4: Ipv4Host | None = None
    next_hop_ipv6: Ipv6Host | None = None
    next_hop_mac: MacAddress | None = None
    own_addresses: tuple[IpHost, ...] = ()
    vlans: VlanTags = ()  # outer tag first
    tunnel: TunnelSection | None = None


class TesterSection(Model):
    cores: Cpus = (0,)
    main_cores: Cpus | None = None  # None: every CPU that the process may use
    mtu_bytes: Annotated[int, Between(1280, 9198)] = 1500
    huge_pages: Literal["auto", "never"] = "auto"
    memory_mb: Annotated[int, Between(16, 2**20)] | None = None  # None: the engine's choice
    realtime: Literal["auto", "on", "off"] = "auto"
    arrival_clock: Literal["auto", "tsc"] = "auto"  # auto: the port's own clock, if it has one
    rx_queues: Annotated[int, Between(1, 16)] = 1  # of each port
    burst_limit_frames: Annotated[int, Between(1, 2**30)] = 128
    # None: 10,000 where the sender may pause, else 1,000.
    lateness_tolerance_us: Annotated[int, Between(1, 10**9)] | None = None
    warm_up: Literal["probes", "neighbours"] = "probes"
    warm_up_timeout_s: Annotated[float, Between(0.001, 3600)] = 15.0
    left: Port = Port()
    right: Port = Port()

    def port(self, side: Side) -> Port:
        return self.left if side == "left" else self.right


class PortRanges(Model):
    """UDP ports of one direction's frames."""

    source_port: Series = SOURCE_PORTS
    destination_port: Series = DESTINATION_PORTS


class AddressField(Series):
    """A 16-bit field of a side's addresses that varies; offsets are octets from their start."""

    mode: SeriesMode = "fixed"
    min: UInt16 = 0
    max: UInt16 = 0
    ipv4_offset: Annotated[int, Between(0, 2)] = 2
    ipv6_offset: Annotated[int, Between(0, 14)] = 14

    @property
    def series(self) -> FieldSeries:
        """The field's values; if the mode is "fixed", the address stays as it is in the testbed."""
        if self.mode == "fixed":
            return FIXED_ZERO
        return FieldSeries(mode=self.mode, min=self.min, max=self.max)

    def bits(self, version: IpVersion) -> tuple[FieldBits, ...]:
        """Returns the field's place in an address; () if the field does not vary."""
        if self.mode == "fixed":
            return ()
        octet = self.ipv4_offset if version == 4 else self.ipv6_offset
        return (FieldBits(bits=16, address_bit=8 * octet),)


class TrafficSection(Model):
    left_ip_version: IpVersion = 6
    right_ip_version: IpVersion = 4
    direction: Directions = "both"
    frame_size_bytes: Annotated[
        int, Between(MIN_FRAME_SIZE_BYTES, MAX_FRAME_SIZE_BYTES, IPV6_SIZE)
    ] = 84
    n: Annotated[int, Between(1, MAX_MIX_N)] = 1
    m: Annotated[int, Between(0, MAX_MIX_N)] = 1  # frame i is foreground iff i mod n < m
    left_networks: Annotated[int, Between(1, 256)] = 1  # destination networks behind each side
    right_networks: Annotated[int, Between(1, 256)] = 1
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT  # of the frames that leave the tester
    dont_fragment: bool = True  # IPv4's DF bit
    hop_limit_drop: Annotated[int, Between(0, 254)] | None = None  # None: learned
    avoid_zero_checksum: bool = False  # see `Traffic` of the trial spec
    # kept: a frame whose TOS, traffic class or flow label changed is misdelivered.
    dscp: Literal["any", "kept"] = "any"
    sent_dscp: Annotated[int, Between(0, 63)] = 0  # of the frames that leave the tester
    flow_label: FlowLabel = 0  # of IPv6 frames that leave the tester
    extension_headers: ExtensionHeaders = ()  # of IPv6 frames that leave the tester
    # required: a frame with a UDP checksum of 0 is misdelivered over IPv4, too.
    udp_checksum: Literal["optional", "required"] = "optional"
    forward: PortRanges = PortRanges()
    reverse: PortRanges = PortRanges()
    left_field: AddressField = AddressField()
    right_field: AddressField = AddressField()

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if self.m > self.n:
            refuse(f"{self.m} is more than n (expected 0 to {self.n})", member="m")
        drop = self.hop_limit_drop
        if drop is not None and drop >= self.hop_limit:  # no gateway forwards such a frame
            refuse(
                f"{drop} uses up a hop limit of {self.hop_limit} (expected 0 to "
                f"{self.hop_limit - 1})",
                member="hop_limit_drop",
            )
        if "hop-by-hop" in self.extension_headers[1:]:  # RFC 8200 section 4.1
            refuse(
                "has hop-by-hop behind another header (expected it once, as the first)",
                member="extension_headers",
            )
        self._check_apart("left", self.left_networks, self.left_field)
        self._check_apart("right", self.right_networks, self.right_field)
        return self

    @staticmethod
    def _check_apart(side: Side, networks: int, field: AddressField) -> None:
        if networks == 1 or field.mode == "fixed":
            return
        for version, byte, offset in (
            (4, IPV4_NETWORK_BYTE, field.ipv4_offset),
            (6, IPV6_NETWORK_BYTE, field.ipv6_offset),
        ):
            if byte - offset in (0, 1):
                refuse(
                    f"{offset} makes the field cover octet {byte}, which holds the number of each "
                    f"of the {networks} networks (expected another offset, or 1 network)",
                    member=f"{side}_field.ipv{version}_offset",
                )

    @property
    def directions(self) -> tuple[Direction, ...]:
        return ("forward", "reverse") if self.direction == "both" else (self.direction,)

    @property
    def has_background(self) -> bool:
        return self.m < self.n

    def foreground_among(self, frames: int) -> int:
        """Returns how many of the first `frames` frames are foreground."""
        return Mix(n=self.n, m=self.m).frames_of("foreground", frames)

    def ip_version(self, side: Side) -> IpVersion:
        return self.left_ip_version if side == "left" else self.right_ip_version

    def networks(self, side: Side) -> int:
        return self.left_networks if side == "left" else self.right_networks

    def field(self, side: Side) -> AddressField:
        return self.left_field if side == "left" else self.right_field


UseOrder = Literal["fixed", "increasing", "decreasing", "pseudorandom"]


class ConnectionsSection(Model):
    """Connections of a stateful gateway: every trial has a phase 1 before its own traffic.

    Phase 1 sends `count` frames at `rate_fps`. Each creates one connection; every combination of
    the initiator's port ranges and address fields is used at most once (RFC 9693). The trial
    measures phase 2.
    """

    initiator: Side = "left"
    # tcp: a connection is made by a handshake of three phases (docs/decisions/0033).
    transport: Transport = "udp"
    count: Annotated[int, Between(1, MAX_CONNECTIONS)]  # frames of phase 1, background included
    rate_fps: Annotated[int, Between(1, MAX_RATE_FPS)] | None = None  # None: it is searched first
    # The order in which combinations are enumerated; repeating: drawn with repetition.
    order: Literal["pseudorandom", "increasing", "decreasing", "repeating"] = "pseudorandom"
    initiator_order: UseOrder = "pseudorandom"  # of the connections in phase 2
    responder_order: UseOrder = "pseudorandom"
    # From phase 1's first frame to phase 2's; None: phase 2 starts when phase 1 has drained.
    delay_s: Annotated[float, Between(0, 86400)] | None = None
    # This many connections are tested before phase 2, to see whether the gateway still has them.
    sample: Annotated[int, Between(0, 10**6)] = 100
    incomplete: Literal["stop", "repeat", "accept"] = "stop"  # what to do if phase 1 loses frames
    repeats: Annotated[int, Between(1, 1000)] = 3
    minimum: Annotated[int, Between(1, MAX_CONNECTIONS)] | None = None  # for "accept"

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.incomplete == "accept" and self.minimum is None:
            refuse(
                'is missing: incomplete = "accept" needs it (expected a count)', member="minimum"
            )
        if self.incomplete != "accept" and self.minimum is not None:
            refuse(
                f'is only for incomplete = "accept", but it is "{self.incomplete}" (expected no '
                "minimum)",
                member="minimum",
            )
        if self.incomplete == "accept" and self.order == "repeating":
            refuse(
                '"accept" is not possible with order = "repeating", which does not say how many '
                'connections phase 1 creates (expected "stop" or "repeat")',
                member="incomplete",
            )
        return self

    @property
    def is_tcp(self) -> bool:
        return self.transport == "tcp"

    @property
    def outward(self) -> Direction:
        """The direction in which the initiator sends."""
        return "forward" if self.initiator == "left" else "reverse"

    @property
    def selection(self) -> Selection:
        repeating = self.order == "repeating"
        return "enumerate-pseudorandom" if repeating else _SELECTIONS[self.order]


_SELECTIONS: dict[str, Selection] = {
    "pseudorandom": "enumerate-pseudorandom",
    "increasing": "enumerate-increasing",
    "decreasing": "enumerate-decreasing",
}


class SiitperfSection(Model):
    """Settings of the siitperf commands (natxy.siitperf); no other command reads them."""

    repeats: Annotated[int, Between(0, 1000)] = 5  # how often an invalid test is repeated, at most


class Testbed(Model):
    tester: TesterSection = TesterSection()
    traffic: TrafficSection = TrafficSection()
    connections: ConnectionsSection | None = None  # None: a stateless gateway
    subscribers: SubscribersSection | None = None  # None: plain hosts on both sides
    siitperf: SiitperfSection = SiitperfSection()
    dut: dict[str, Any] = Field(
        default_factory=dict
    )  # natxy.dut checks it, since the keys depend on the kind of DUT

    def subscribers_on(self, side: Side) -> SubscribersSection | None:
        """Returns the subscribers if they are on this side."""
        asked = self.subscribers
        return asked if asked is not None and asked.side == side else None

    def tunnel_bytes_on(self, side: Side) -> int:
        """Returns by how much a softwire or a tunnel makes this side's foreground frames larger."""
        subscribers, tunnel = self.subscribers_on(side), self.tester.port(side).tunnel
        if subscribers is not None and subscribers.tunnels:
            return tunnel_bytes("ip", 6)
        return tunnel.bytes if tunnel else 0


def read_testbed(path: Path) -> tuple[Testbed, Source]:
    return read_whole(Testbed, path, "a testbed, as `natxy init` writes")
