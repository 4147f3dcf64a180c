"""From a testbed to the streams of a trial: which addresses each frame leaves and arrives with.

A foreground frame goes from its side's real address to the other side's address as this side sees
it: virtual where the IP versions differ, real where they agree. It arrives at the other side's real
address, and there its source is seen as the virtual one where the versions differ. Background
frames are IPv6, from real to real.
"""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.addresses import IpVersion
from natxy.model.source import Source
from natxy.model.testbed import IPV4_NETWORK_BYTE, IPV6_NETWORK_BYTE, Testbed
from natxy.model.trial_spec import (
    AddressPair,
    AddressPattern,
    Direction,
    Mix,
    NextHop,
    Segment,
    Side,
    Sides,
    SideSpec,
    Stream,
    Traffic,
)

ETHERNET_BYTES = 18  # header and FCS
IPV4_SAVES_BYTES = 20  # an IPv4 frame is that much smaller than the IPv6 frame


def frames_of(rate_fps: int, duration_s: Fraction) -> int:
    """Exact; at least one, or there would be nothing to judge."""
    return max(1, int(rate_fps * duration_s))


@dataclass(frozen=True, kw_only=True)
class TrafficPlan:
    """A resolved testbed: one with the addresses that a lab made, if there is a lab."""

    testbed: Testbed
    source: Source

    def streams(self, segments: tuple[Segment, ...]) -> tuple[Stream, ...]:
        return tuple(self._stream(d, segments) for d in self.testbed.traffic.directions)

    def sides(self) -> Sides:
        return Sides(left=self._side("left"), right=self._side("right"))

    def check(self) -> None:
        """Refuses a testbed in which something is missing for its traffic, or does not fit."""
        for direction in self.testbed.traffic.directions:
            self._stream(direction, (Segment(frames=1, rate_fps=1, pause_ns=0),))
        if not self.fits_mtu:
            mtu_bytes = self.testbed.tester.mtu_bytes
            self.source.refuse(
                ("traffic", "frame_size_bytes"),
                f"{self.testbed.traffic.frame_size_bytes} does not fit the MTU of {mtu_bytes} "
                f"octets, at most {mtu_bytes + ETHERNET_BYTES} is right",
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

    def _stream(self, direction: Direction, segments: tuple[Segment, ...]) -> Stream:
        traffic = self.testbed.traffic
        return Stream(
            direction=direction,
            frame_size_bytes=traffic.frame_size_bytes,
            mix=Mix(n=traffic.n, m=traffic.m),
            segments=segments,
            foreground=self._foreground(direction) if traffic.m > 0 else None,
            background=self._background(direction) if traffic.has_background else None,
        )

    def _foreground(self, direction: Direction) -> Traffic:
        near, far = _ends(direction)
        traffic = self.testbed.traffic
        out, back = traffic.ip_version(near), traffic.ip_version(far)
        seen = "real" if out == back else "virtual"
        return self._traffic(
            direction,
            departure=self._pair(direction, out, source="real", destination=seen),
            arrival=self._pair(direction, back, source=seen, destination="real"),
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
            hop_limit_drop=traffic.hop_limit_drop,
            avoid_zero_checksum=traffic.avoid_zero_checksum,
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
        address: str | None = getattr(self.testbed.tester.port(side), key)
        if address is None:
            asks = f"{self._asks_for()} asks for it; an address is right"
            self.source.refuse(("tester", side, key), f"is missing: {asks}")
        return address

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
