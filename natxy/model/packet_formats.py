"""Makes the packet formats of a testbed's frames: what they are at each end of a stream.

A foreground frame is sent from its side's real address to the address under which its side sees the
other side: the virtual address if the IP versions differ, else the real one. It arrives at the
other side's real address. Its source address is then the virtual address if the versions differ,
else the real one. Background frames are IPv6, from real address to real address. Subscribers of
IPv4-as-a-Service have addresses that follow from their numbers.
"""

from dataclasses import dataclass
from typing import Literal

from natxy.model.addresses import IpVersion
from natxy.model.frame_sizes import IPV4_SAVES_BYTES
from natxy.model.source import Source
from natxy.model.testbed import IPV4_NETWORK_BYTE, IPV6_NETWORK_BYTE, Testbed
from natxy.model.traffic_spec import (
    EXTENSION_HEADER_BYTES,
    AddressPattern,
    PacketFormat,
    Transport,
    Tunnel,
)
from natxy.model.trial_spec import Direction, Side

# How an end knows the addresses of a host: its own, or the one that the gateway shows the other
# side; one that the gateway chooses; or the address of a host of the background, which is native.
Seen = Literal["real", "virtual", "learned", "native"]


def ends(direction: Direction) -> tuple[Side, Side]:
    """Returns the side from which the frames of a direction leave, and the other one."""
    return ("left", "right") if direction == "forward" else ("right", "left")


@dataclass(frozen=True, kw_only=True)
class PacketFormats:
    testbed: Testbed
    source: Source

    def format(
        self,
        direction: Direction,
        side: Side,
        versions: tuple[IpVersion, IpVersion],
        *,
        source: Seen,
        destination: Seen,
        size_bytes: int,
        transport: Transport = "udp",
    ) -> PacketFormat:
        """Returns the format of frames at one end, which is on this side.

        `versions` has the IP version in which the frames leave the tester, and that of this end.
        `size_bytes` is the size of the frames as IPv6. A translator copies the traffic class, and
        removes what only IPv6 has (RFC 7915).
        """
        near, far = ends(direction)
        sent, version = versions
        traffic = self.testbed.traffic
        numbered = traffic.networks(far) > 1
        headers = traffic.extension_headers if sent == 6 else ()
        kept = headers if version == 6 else ()
        tunnel = None if source == "native" else self._tunnel(direction, side)
        removed_bytes = EXTENSION_HEADER_BYTES * (len(headers) - len(kept))
        ipv4_bytes = -IPV4_SAVES_BYTES if version == 4 else 0
        return PacketFormat(
            ip_version=version,
            source=self._pattern(near, version, source, numbered=False),
            destination=self._pattern(far, version, destination, numbered=numbered),
            frame_size_bytes=size_bytes
            - removed_bytes
            + ipv4_bytes
            + (tunnel.bytes if tunnel else 0),
            traffic_class=traffic.sent_dscp << 2,
            flow_label=traffic.flow_label if sent == version == 6 else 0,
            extension_headers=kept,
            tunnel=tunnel,
            transport=transport,
        )

    def _tunnel(self, direction: Direction, side: Side) -> Tunnel | None:
        """Returns the outer header of the packets on this side, if it has softwires or a tunnel."""
        subscribers = self.testbed.subscribers_on(side)
        asked = self.testbed.tester.port(side).tunnel
        if subscribers is not None and subscribers.gateway is not None:
            near, far = subscribers.ipv6_pattern(), AddressPattern(address=subscribers.gateway)
            tunnel = Tunnel(source=near, destination=far)
        elif asked is not None:
            tunnel = Tunnel(
                encapsulation=asked.encapsulation,
                ip_version=asked.ip_version,
                source=AddressPattern(address=asked.address),
                destination=AddressPattern(address=asked.gateway),
            )
        else:
            return None
        return tunnel if ends(direction)[0] == side else tunnel.swapped()

    def _pattern(
        self, side: Side, version: IpVersion, seen: Seen, *, numbered: bool
    ) -> AddressPattern:
        """Returns the addresses of a side's hosts, as the other hosts see them."""
        if seen in ("real", "virtual") and (subscribed := self._subscribed(side, version, seen)):
            return subscribed
        byte = IPV4_NETWORK_BYTE if version == 4 else IPV6_NETWORK_BYTE
        return AddressPattern(
            address=self._address(side, f"ipv{version}_{'real' if seen == 'native' else seen}"),
            network_byte=byte if numbered else None,
            field=self.testbed.traffic.field(side).bits(version),
        )

    def _subscribed(self, side: Side, version: IpVersion, seen: Seen) -> AddressPattern | None:
        """Returns addresses of subscribers, or those under which they see the other side's."""
        subscribers = self.testbed.subscribers
        if subscribers is None:
            return None
        if side == subscribers.side:
            return subscribers.ipv6_pattern() if version == 6 else subscribers.ipv4_pattern()
        if version == 4 or seen == "real":
            return None
        return AddressPattern(address=subscribers.embedded(self._address(side, "ipv4_real")))

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

    def _traffic_text(self) -> str:
        traffic = self.testbed.traffic
        mix = ", with background traffic" if traffic.has_background else ""
        return (
            f"traffic from IPv{traffic.left_ip_version} on the left to "
            f"IPv{traffic.right_ip_version} on the right{mix}"
        )
