"""The sizes of frames on the links of the two sides, and whether they are possible."""

from dataclasses import dataclass

from natxy.model.address_checks import SIDES
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic_spec import (
    EXTENSION_HEADER_BYTES,
    MAX_FRAME_SIZE_BYTES,
    SMALLEST_FRAME_BYTES,
    TCP_MORE_BYTES,
    VLAN_TAG_BYTES,
)
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES, Side

ETHERNET_BYTES = 18  # header and FCS
# By how much an IPv4 frame is smaller than the IPv6 frame with the same data.
IPV4_SAVES_BYTES = SMALLEST_FRAME_BYTES[6] - SMALLEST_FRAME_BYTES[4]

# RFC 8219 section 5.1.1, with 84 in place of 64, which is too small for IPv6.
RFC8219_SIZES_BYTES = (84, 128, 256, 512, 768, 1024, 1280, 1518, 1522, 2048, 4096, 8192, 9216)
# Sizes name the IPv6 frame, so IPv4 alone has the RFC's sizes on the wire, 64 included, if they
# are 20 octets larger here. 9216 is left out: it would exceed the largest size.
RFC8219_IPV4_SIZES_BYTES = (
    MIN_FRAME_SIZE_BYTES,
    *(
        size + IPV4_SAVES_BYTES
        for size in RFC8219_SIZES_BYTES[1:]
        if size + IPV4_SAVES_BYTES <= MAX_FRAME_SIZE_BYTES
    ),
)


def rfc8219_sizes(*, ipv4_alone: bool) -> tuple[int, ...]:
    """Returns the sizes of RFC 8219 for traffic that is all IPv4, or that is not."""
    return RFC8219_IPV4_SIZES_BYTES if ipv4_alone else RFC8219_SIZES_BYTES


@dataclass(frozen=True, kw_only=True)
class FrameSizes:
    testbed: Testbed
    source: Source

    def on(self, side: Side, foreground_bytes: int | None = None) -> int:
        """Returns the octets of the largest frame on that side's link: with FCS, without tags.

        `foreground_bytes` is the IPv6 size of foreground frames; None: as in the testbed.
        """
        traffic = self.testbed.traffic
        plain_bytes = traffic.frame_size_bytes
        if traffic.m == 0:
            return plain_bytes
        saved_bytes = IPV4_SAVES_BYTES if traffic.ip_version(side) == 4 else 0
        ipv6_bytes = plain_bytes if foreground_bytes is None else foreground_bytes
        size_bytes = ipv6_bytes - saved_bytes + self.testbed.tunnel_bytes_on(side)
        return max(size_bytes, plain_bytes) if traffic.has_background else size_bytes

    def tags_on(self, side: Side) -> int:
        """Returns the octets of the VLAN tags of each frame on that side's link."""
        return VLAN_TAG_BYTES * len(self.testbed.tester.port(side).vlans)

    @property
    def fit_mtu(self) -> bool:
        return self._largest_bytes <= self.testbed.tester.mtu_bytes + ETHERNET_BYTES

    @property
    def hold_headers(self) -> bool:
        """Tells whether frames have room for their headers.

        Those that leave as IPv6 also need room for extension headers, and TCP needs more than UDP.
        """
        testbed, traffic = self.testbed, self.testbed.traffic
        # Connections are made, and tested, from both sides.
        left = testbed.connections is not None or "forward" in traffic.directions
        right = testbed.connections is not None or "reverse" in traffic.directions
        sending = [side for side, sends in zip(SIDES, (left, right), strict=True) if sends]
        sends_ipv6 = traffic.has_background or 6 in map(traffic.ip_version, sending)
        if traffic.frame_size_bytes >= self.smallest_bytes:
            return True
        return not sends_ipv6 and traffic.frame_size_bytes >= self._without_extensions_bytes

    def check_mtu(self) -> None:
        """Raises ConfigurationError if a frame is larger than the MTU allows."""
        if self.fit_mtu:
            return
        size_bytes, mtu_bytes = self.testbed.traffic.frame_size_bytes, self.testbed.tester.mtu_bytes
        grows_bytes = self._largest_bytes - size_bytes
        self.source.refuse(
            ("traffic", "frame_size_bytes"),
            f"{size_bytes} does not fit the MTU of {mtu_bytes} octets (expected at most "
            f"{mtu_bytes + ETHERNET_BYTES - grows_bytes})",
        )

    def check_headers(self) -> None:
        """Raises ConfigurationError if frames are too small for their headers."""
        if self.hold_headers:
            return
        traffic = self.testbed.traffic
        headers = len(traffic.extension_headers)
        extensions = f"{headers} extension header{'s' if headers > 1 else ''}" if headers else ""
        tcp = "a TCP header" if self._is_tcp else ""
        self.source.refuse(
            ("traffic", "frame_size_bytes"),
            f"{traffic.frame_size_bytes} is too small for "
            f"{' and '.join(filter(None, (tcp, extensions)))} (expected at least "
            f"{self.smallest_bytes})",
        )

    @property
    def smallest_bytes(self) -> int:
        """The size of the smallest IPv6 frame; of TCP, that of a segment without data."""
        headers = len(self.testbed.traffic.extension_headers)
        return self._without_extensions_bytes + EXTENSION_HEADER_BYTES * headers

    @property
    def connecting_bytes(self) -> int:
        """The IPv6 size of the frames that make or close connections; TCP's have no data."""
        return self.smallest_bytes if self._is_tcp else self.testbed.traffic.frame_size_bytes

    @property
    def _without_extensions_bytes(self) -> int:
        return SMALLEST_FRAME_BYTES[6] + (TCP_MORE_BYTES if self._is_tcp else 0)

    @property
    def _is_tcp(self) -> bool:
        connections = self.testbed.connections
        return connections is not None and connections.is_tcp

    @property
    def _largest_bytes(self) -> int:
        return max(self.on(side) for side in SIDES)
