"""From a testbed to the streams of a trial: which addresses each frame leaves and arrives with.

A foreground frame goes from its side's real address to the other side's address as this side sees
it: virtual where the IP versions differ, real where they agree. It arrives at the other side's real
address, and there its source is seen as the virtual one where the versions differ. Background
frames are IPv6, from real to real.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from natxy.model.address_checks import check_addresses
from natxy.model.addresses import IpVersion
from natxy.model.source import Source
from natxy.model.testbed import (
    IPV4_NETWORK_BYTE,
    IPV6_NETWORK_BYTE,
    ConnectionsSection,
    Testbed,
)
from natxy.model.traffic_spec import (
    MAX_CONNECTIONS,
    AddressPair,
    AddressPattern,
    Connections,
    Order,
    Series,
    Traffic,
)
from natxy.model.trial_spec import Direction, Mix, NextHop, Segment, Side, Sides, SideSpec, Stream

ETHERNET_BYTES = 18  # header and FCS
IPV4_SAVES_BYTES = 20  # an IPv4 frame is that much smaller than the IPv6 frame


def frames_of(rate_fps: int, duration_s: Fraction) -> int:
    """Exact; at least one, or there would be nothing to judge."""
    return max(1, int(rate_fps * duration_s))


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """What the connections of a trial are combinations of."""

    source_port: Series
    destination_port: Series
    source_field: Series
    destination_field: Series

    @property
    def combinations(self) -> int:
        return prod(series.values for series in vars(self).values())

    def __str__(self) -> str:
        return " x ".join(f"{values:,}" for values in self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Source ports, destination ports, and addresses of either side where they vary."""
        ports = self.source_port.values, self.destination_port.values
        fields = self.source_field.values, self.destination_field.values
        return (*ports, *(values for values in fields if values > 1))

    def swapped(self) -> "Ranges":
        """As the responder's frames have them."""
        return Ranges(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_field=self.destination_field,
            destination_field=self.source_field,
        )


def _range(series: Series) -> Series:
    """How the values follow each other is the enumeration's affair."""
    return series if series.mode == "fixed" else series.model_copy(update={"mode": "increasing"})


@dataclass(frozen=True, kw_only=True)
class TrafficPlan:
    """A resolved testbed: one with the addresses that a lab made, if there is a lab."""

    testbed: Testbed
    source: Source

    def streams(self, segments: tuple[Segment, ...]) -> tuple[Stream, ...]:
        return tuple(
            self._stream(d, segments, self._use(d)) for d in self.testbed.traffic.directions
        )

    @property
    def connections(self) -> ConnectionsSection | None:
        return self.testbed.connections

    def establish(self, segments: tuple[Segment, ...]) -> Stream:
        """Phase 1: the initiator's frames, each a connection."""
        asked = self.required_connections
        order: Order = "repeating" if asked.order == "repeating" else "linear"
        return self._stream(asked.outward, segments, Connections(role="establish", order=order))

    def initiate(self, segments: tuple[Segment, ...], order: Order) -> Stream:
        """The initiator's frames to connections, in this order."""
        outward = self.required_connections.outward
        return self._stream(outward, segments, Connections(role="initiate", order=order))

    def respond(self, segments: tuple[Segment, ...], order: Order) -> Stream:
        """The responder's frames to connections, in this order."""
        inward: Direction = (
            "reverse" if self.required_connections.outward == "forward" else "forward"
        )
        return self._stream(inward, segments, Connections(role="respond", order=order))

    def connections_among(self, frames: int) -> int:
        """Of so many frames of phase 1, background included."""
        traffic = self.testbed.traffic
        whole, rest = divmod(frames, traffic.n)
        return whole * traffic.m + min(rest, traffic.m)

    @property
    def required_connections(self) -> ConnectionsSection:
        """ConfigurationError where there are none."""
        if self.testbed.connections is None:
            self.source.refuse(
                ("connections",),
                "is missing: a stateful gateway is measured; count = 10000 is right",
            )
        return self.testbed.connections

    def _use(self, direction: Direction) -> Connections | None:
        """What phase 2 does with connections; None: stateless."""
        asked = self.connections
        if asked is None:
            return None
        if direction == asked.outward:
            return Connections(role="initiate", order=asked.initiator_order)
        return Connections(role="respond", order=asked.responder_order)

    def sides(self) -> Sides:
        return Sides(left=self._side("left"), right=self._side("right"))

    def check(self) -> None:
        """Refuses a testbed in which something is missing for its traffic, or does not fit."""
        one = (Segment(frames=1, rate_fps=1, pause_ns=0),)
        if self.connections is not None:
            self._check_connections(self.connections)
            self.establish(one)
        self.streams(one)
        check_addresses(self.testbed, self.source)
        if not self.fits_mtu:
            mtu_bytes = self.testbed.tester.mtu_bytes
            self.source.refuse(
                ("traffic", "frame_size_bytes"),
                f"{self.testbed.traffic.frame_size_bytes} does not fit the MTU of {mtu_bytes} "
                f"octets, at most {mtu_bytes + ETHERNET_BYTES} is right",
            )

    def _check_connections(self, asked: ConnectionsSection) -> None:
        traffic = self.testbed.traffic
        if traffic.m == 0:
            self.source.refuse(("traffic", "m"), "0 leaves no frame for connections, 1 is right")
        for side, networks in (("left", traffic.left_networks), ("right", traffic.right_networks)):
            if networks > 1:
                self.source.refuse(
                    ("traffic", f"{side}_networks"),
                    f"{networks} is not possible with connections, 1 is right",
                )
        combinations = self.ranges.combinations
        connections = self.connections_among(asked.count)
        if asked.order != "repeating" and connections > combinations:
            self.source.refuse(
                ("connections", "count"),
                f"{asked.count} asks for {connections} connections, but the initiator's ports and "
                f"address fields have {combinations} combinations; fewer, or wider ranges, are "
                "right",
            )
        if combinations > MAX_CONNECTIONS:
            self.source.refuse(
                ("traffic", asked.outward),
                f"its ranges have {combinations} combinations, at most {MAX_CONNECTIONS} is right",
            )

    @property
    def ranges(self) -> Ranges:
        """Of the initiator's frames; a testbed without connections is refused."""
        asked = self.required_connections
        traffic = self.testbed.traffic
        near, far = _ends(asked.outward)
        ports = traffic.forward if asked.outward == "forward" else traffic.reverse
        return Ranges(
            source_port=_range(ports.source_port),
            destination_port=_range(ports.destination_port),
            source_field=_range(traffic.field(near).series),
            destination_field=_range(traffic.field(far).series),
        )

    @property
    def fits_mtu(self) -> bool:
        largest = max(self.frame_size_on("left"), self.frame_size_on("right"))
        return largest <= self.testbed.tester.mtu_bytes + ETHERNET_BYTES

    def frame_size_on(self, side: Side) -> int:
        """Octets of the largest frame on that side's link, FCS included."""
        traffic = self.testbed.traffic
        only_ipv4 = traffic.ip_version(side) == 4 and not traffic.has_background
        return traffic.frame_size_bytes - (IPV4_SAVES_BYTES if only_ipv4 else 0)

    def _side(self, side: Side) -> SideSpec:
        port = self.testbed.tester.port(side)
        hop = NextHop(ipv4=port.next_hop_ipv4, ipv6=port.next_hop_ipv6, mac=port.next_hop_mac)
        return SideSpec(next_hop=hop, own_addresses=port.own_addresses)

    def _stream(
        self,
        direction: Direction,
        segments: tuple[Segment, ...],
        use: Connections | None = None,
    ) -> Stream:
        traffic = self.testbed.traffic
        return Stream(
            direction=direction,
            frame_size_bytes=traffic.frame_size_bytes,
            mix=Mix(n=traffic.n, m=traffic.m),
            segments=segments,
            foreground=self._foreground(direction, use) if traffic.m > 0 else None,
            background=self._background(direction) if traffic.has_background else None,
        )

    def _foreground(self, direction: Direction, use: Connections | None) -> Traffic:
        near, far = _ends(direction)
        traffic = self.testbed.traffic
        out, back = traffic.ip_version(near), traffic.ip_version(far)
        seen = "real" if out == back else "virtual"
        learned = "learned" if use is not None else seen
        responds = use is not None and use.role == "respond"
        stateless = self._traffic(
            direction,
            departure=self._pair(
                direction, out, source="real", destination=learned if responds else seen
            ),
            arrival=self._pair(
                direction, back, source=seen if responds else learned, destination="real"
            ),
        )
        if use is None:
            return stateless
        ranges = self.ranges
        return stateless.model_copy(
            update={
                "connections": use,
                "selection": self.required_connections.selection,
                **vars(ranges.swapped() if responds else ranges),
            }
        )

    def _background(self, direction: Direction) -> Traffic:
        pair = self._pair(direction, 6, source="real", destination="real")
        return self._traffic(direction, departure=pair, arrival=pair)

    def _traffic(
        self, direction: Direction, *, departure: AddressPair, arrival: AddressPair
    ) -> Traffic:
        near, far = _ends(direction)
        traffic = self.testbed.traffic
        ports = traffic.forward if direction == "forward" else traffic.reverse
        self._check_next_hop(near, departure.ip_version)
        return Traffic(
            departure=departure,
            arrival=arrival,
            selection="independent",
            source_port=ports.source_port,
            destination_port=ports.destination_port,
            source_field=traffic.field(near).series,
            destination_field=traffic.field(far).series,
            networks=traffic.networks(far),
            hop_limit=traffic.hop_limit,
            dont_fragment=traffic.dont_fragment,
            hop_limit_drop=traffic.hop_limit_drop,
            avoid_zero_checksum=traffic.avoid_zero_checksum,
            dscp_kept=traffic.dscp == "kept",
            udp_checksum_required=traffic.udp_checksum == "required",
        )

    def _pair(
        self, direction: Direction, version: IpVersion, *, source: str, destination: str
    ) -> AddressPair:
        near, far = _ends(direction)
        numbered = self.testbed.traffic.networks(far) > 1
        return AddressPair(
            ip_version=version,
            source=self._pattern(near, version, source, numbered=False),
            destination=self._pattern(far, version, destination, numbered=numbered),
        )

    def _pattern(
        self, side: Side, version: IpVersion, seen: str, *, numbered: bool
    ) -> AddressPattern:
        field = self.testbed.traffic.field(side)
        offset = field.ipv4_offset if version == 4 else field.ipv6_offset
        byte = IPV4_NETWORK_BYTE if version == 4 else IPV6_NETWORK_BYTE
        return AddressPattern(
            address=self._address(side, f"ipv{version}_{seen}"),
            network_byte=byte if numbered else None,
            field_byte=offset if field.mode != "fixed" else None,
        )

    def _address(self, side: Side, key: str) -> str:
        if key.endswith("_learned"):
            return self._placeholder(side, key.removesuffix("_learned"))
        address: str | None = getattr(self.testbed.tester.port(side), key)
        if address is None:
            asks = f"{self._asks_for()} asks for it; an address is right"
            self.source.refuse(("tester", side, key), f"is missing: {asks}")
        return address

    def _placeholder(self, side: Side, version: str) -> str:
        """Of an address that the gateway chooses: what a testbed gives where it is known, since
        `avoid_zero_checksum` reads it, else anything."""
        port = self.testbed.tester.port(side)
        given: str | None = getattr(port, f"{version}_virtual") or getattr(port, f"{version}_real")
        return given or ("0.0.0.0" if version == "ipv4" else "::")

    def _check_next_hop(self, side: Side, version: IpVersion) -> None:
        if not self._side(side).next_hop.knows(version):
            asks = f"frames leave there as IPv{version}; it, or next_hop_mac, is right"
            self.source.refuse(("tester", side, f"next_hop_ipv{version}"), f"is missing: {asks}")

    def _asks_for(self) -> str:
        traffic = self.testbed.traffic
        mix = ", with background traffic" if traffic.has_background else ""
        return (
            f"traffic from IPv{traffic.left_ip_version} on the left to "
            f"IPv{traffic.right_ip_version} on the right{mix}"
        )


def _ends(direction: Direction) -> tuple[Side, Side]:
    return ("left", "right") if direction == "forward" else ("right", "left")
