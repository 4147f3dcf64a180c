"""Makes the streams of a trial from a testbed.

A foreground frame is sent from its side's real address to the address under which its side sees the
other side: the virtual address if the IP versions differ, else the real one. It arrives at the
other side's real address. Its source address is then the virtual address if the versions differ,
else the real one. Background frames are IPv6, from real address to real address.
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
IPV4_SAVES_BYTES = 20  # by which an IPv4 frame is smaller than the same frame as IPv6


def frames_of(rate_fps: int, duration_s: Fraction) -> int:
    """Returns the exact count of frames of a trial; at least one, so that it has a verdict."""
    return max(1, int(rate_fps * duration_s))


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """The ranges of ports and address fields whose combinations are the connections of a trial."""

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
        """Counts of source ports, destination ports, and of each side's addresses if they vary."""
        ports = self.source_port.values, self.destination_port.values
        fields = self.source_field.values, self.destination_field.values
        return (*ports, *(values for values in fields if values > 1))

    def swapped(self) -> "Ranges":
        """Returns the ranges of the responder's frames: source and destination swapped."""
        return Ranges(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_field=self.destination_field,
            destination_field=self.source_field,
        )


def _range(series: Series) -> Series:
    """Returns the series as a plain range: the enumeration decides the order of its values."""
    return series if series.mode == "fixed" else series.model_copy(update={"mode": "increasing"})


@dataclass(frozen=True, kw_only=True)
class TrafficPlan:
    """A resolved testbed: if there is a lab, its addresses are filled in."""

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
        """Returns the stream of phase 1, in which each frame creates a connection."""
        asked = self.required_connections
        order: Order = "repeating" if asked.order == "repeating" else "linear"
        return self._stream(asked.outward, segments, Connections(role="establish", order=order))

    def initiate(self, segments: tuple[Segment, ...], order: Order) -> Stream:
        """Returns a stream of the initiator that uses the connections in this order."""
        outward = self.required_connections.outward
        return self._stream(outward, segments, Connections(role="initiate", order=order))

    def respond(self, segments: tuple[Segment, ...], order: Order) -> Stream:
        """Returns a stream of the responder that uses the connections in this order."""
        inward: Direction = (
            "reverse" if self.required_connections.outward == "forward" else "forward"
        )
        return self._stream(inward, segments, Connections(role="respond", order=order))

    def connections_among(self, frames: int) -> int:
        """Returns how many connections so many frames of phase 1, background included, create."""
        traffic = self.testbed.traffic
        whole, rest = divmod(frames, traffic.n)
        return whole * traffic.m + min(rest, traffic.m)

    @property
    def required_connections(self) -> ConnectionsSection:
        """The testbed's `[connections]`; ConfigurationError if it has none."""
        if self.testbed.connections is None:
            self.source.refuse(
                ("connections",),
                "is missing: a stateful gateway needs it (expected, for example, count = 10000)",
            )
        return self.testbed.connections

    def _use(self, direction: Direction) -> Connections | None:
        """Returns how a direction's stream of phase 2 uses connections; None if stateless."""
        asked = self.connections
        if asked is None:
            return None
        if direction == asked.outward:
            return Connections(role="initiate", order=asked.initiator_order)
        return Connections(role="respond", order=asked.responder_order)

    def sides(self) -> Sides:
        return Sides(left=self._side("left"), right=self._side("right"))

    def check(self) -> None:
        """Refuses a testbed that lacks something for its traffic, or contradicts itself."""
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
                f"octets (expected at most {mtu_bytes + ETHERNET_BYTES})",
            )

    def _check_connections(self, asked: ConnectionsSection) -> None:
        traffic = self.testbed.traffic
        if traffic.m == 0:
            self.source.refuse(
                ("traffic", "m"), "0 leaves no frame for connections (expected 1 or more)"
            )
        for side, networks in (("left", traffic.left_networks), ("right", traffic.right_networks)):
            if networks > 1:
                self.source.refuse(
                    ("traffic", f"{side}_networks"),
                    f"{networks} is not possible with connections (expected 1)",
                )
        combinations = self.ranges.combinations
        connections = self.connections_among(asked.count)
        if asked.order != "repeating" and connections > combinations:
            self.source.refuse(
                ("connections", "count"),
                f"{asked.count} asks for {connections} connections, but the initiator's ports and "
                f"address fields have {combinations} combinations (expected fewer connections, or "
                "wider ranges)",
            )
        if combinations > MAX_CONNECTIONS:
            self.source.refuse(
                ("traffic", asked.outward),
                f"the ranges have {combinations} combinations (expected at most {MAX_CONNECTIONS})",
            )

    @property
    def ranges(self) -> Ranges:
        """The ranges of the initiator's frames; ConfigurationError without `[connections]`."""
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
        """Returns the octets of the largest frame on that side's link, FCS included."""
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
            sentence = f"is missing: {self._traffic_text()} needs it (expected an address)"
            self.source.refuse(("tester", side, key), sentence)
        return address

    def _placeholder(self, side: Side, version: str) -> str:
        """Returns a placeholder for an address that the gateway chooses.

        It is the testbed's address if there is one, since `avoid_zero_checksum` computes with it,
        else an unspecified address.
        """
        port = self.testbed.tester.port(side)
        given: str | None = getattr(port, f"{version}_virtual") or getattr(port, f"{version}_real")
        return given or ("0.0.0.0" if version == "ipv4" else "::")

    def _check_next_hop(self, side: Side, version: IpVersion) -> None:
        if not self._side(side).next_hop.knows(version):
            sentence = (
                f"is missing: this side sends IPv{version} frames (expected it or next_hop_mac)"
            )
            self.source.refuse(("tester", side, f"next_hop_ipv{version}"), sentence)

    def _traffic_text(self) -> str:
        traffic = self.testbed.traffic
        mix = ", with background traffic" if traffic.has_background else ""
        return (
            f"traffic from IPv{traffic.left_ip_version} on the left to "
            f"IPv{traffic.right_ip_version} on the right{mix}"
        )


def _ends(direction: Direction) -> tuple[Side, Side]:
    return ("left", "right") if direction == "forward" else ("right", "left")
