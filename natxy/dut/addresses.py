"""The addresses of a lab: RFC 2544 appendix C's for IPv4, RFC 5180's for IPv6.

A side has a link to the tester. All networks and addresses that traffic may use are behind the
tester's real address, so there is one next hop whatever varies. The other side, which uses the
other IP version, sees a side under its virtual addresses.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal

from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import Port
from natxy.model.trial_spec import VlanTags

VIRTUAL_IPV6 = "2001:2:0:1000::2"
VIRTUAL_IPV6_PREFIX = "2001:2:0:1000::/56"
NAT64_PREFIX = "2001:2:0:1000::/96"  # IPv4 addresses embedded in it (RFC 6052)
# A CLAT shows the IPv4 hosts behind it under this prefix (RFC 6877). The words of both prefixes add
# up to ffff (RFC 6052 section 4.1), so that translation does not change the UDP checksum. Without
# this, one packet in 65,536 would leave the first tayga with a checksum of 0000, and be dropped by
# the second one; avoid_zero_checksum knows only the checksums of IPv4, and would not avoid it.
CLAT_PREFIX = "2001:2:0:aff9::/96"
FRONT_IPV6 = "2001:2:0:4000::1"  # of two gateways in a row, on the link between them
BACK_IPV6 = "2001:2:0:4000::2"


@dataclass(frozen=True, kw_only=True)
class SideAddresses:
    """Addresses of one side: `gateway_*` are the gateway's own, `tester_*` its next hops."""

    name: str
    gateway_ipv4: str
    gateway_ipv6: str
    tester_ipv4: str
    tester_ipv6: str
    ipv4_prefix: str
    ipv6_prefix: str


LEFT = SideAddresses(
    name="left",
    gateway_ipv4="198.18.0.1",
    gateway_ipv6="2001:2::1",
    tester_ipv4="198.18.0.2",
    tester_ipv6="2001:2::2",
    ipv4_prefix="198.18.0.0/16",
    ipv6_prefix="2001:2::/56",
)
RIGHT = SideAddresses(
    name="right",
    gateway_ipv4="198.19.0.1",
    gateway_ipv6="2001:2:0:8000::1",
    tester_ipv4="198.19.0.2",
    tester_ipv6="2001:2:0:8000::2",
    ipv4_prefix="198.19.0.0/16",
    ipv6_prefix="2001:2:0:8000::/56",
)


def looped_port(near: SideAddresses, far: SideAddresses, device: str | None) -> Port:
    """Returns a port that is connected to the tester's other port, which is its next hop."""
    return Port(
        device=device,
        ipv4_real=near.tester_ipv4,
        ipv6_real=near.tester_ipv6,
        next_hop_ipv4=far.tester_ipv4,
        next_hop_ipv6=far.tester_ipv6,
        own_addresses=(near.tester_ipv4, near.tester_ipv6),
    )


@dataclass(frozen=True, kw_only=True)
class AddressPlan:
    """The real and virtual addresses of both sides, from the foreground's IP versions.

    Both sides have real IPv6 addresses, because background traffic needs them. A side has real IPv4
    addresses unless its IPv4 addresses are the virtual ones of IPv6 hosts.
    """

    left_ip_version: int
    right_ip_version: int
    networks: int = 1  # destination networks of each side
    stateful: bool = False  # IPv4 hosts then have IPv6 addresses of NAT64_PREFIX
    initiator: Literal["left", "right"] = "left"  # the side inside, which creates connections
    subscribers: SubscribersSection | None = None
    left_vlans: VlanTags = ()
    right_vlans: VlanTags = ()

    @property
    def translates(self) -> bool:
        return self.left_ip_version != self.right_ip_version

    def ip_version(self, side: SideAddresses) -> int:
        return self.left_ip_version if side is LEFT else self.right_ip_version

    @property
    def inside(self) -> SideAddresses:
        return LEFT if self.initiator == "left" else RIGHT

    @property
    def outside(self) -> SideAddresses:
        return RIGHT if self.initiator == "left" else LEFT

    def has_ipv4(self, side: SideAddresses) -> bool:
        return not self.translates or self.ip_version(side) == 4

    def tester_port(self, side: SideAddresses, device: str) -> Port:
        """Returns the tester's port on this side, with its addresses and next hops."""
        ipv4, is_ipv6_side = self.has_ipv4(side), self.ip_version(side) == 6
        virtual_ipv6 = embedded(side.tester_ipv4) if self.stateful else VIRTUAL_IPV6
        return Port(
            device=device,
            ipv4_real=side.tester_ipv4 if ipv4 else None,
            ipv4_virtual=side.tester_ipv4 if self.translates and is_ipv6_side else None,
            ipv6_real=side.tester_ipv6,
            ipv6_virtual=virtual_ipv6 if self.translates and not is_ipv6_side else None,
            next_hop_ipv4=side.gateway_ipv4 if ipv4 else None,
            next_hop_ipv6=side.gateway_ipv6,
            own_addresses=(*((side.tester_ipv4,) if ipv4 else ()), side.tester_ipv6),
        )

    def mappings(self) -> list[tuple[str, str]]:
        """Returns the translator's explicit address mappings (RFC 7757): IPv4 and IPv6 prefixes.

        With one network, the last 16 bits of an address may vary. With more, the network's number
        is in bits 16-23 of IPv4 and 56-63 of IPv6, and the last 8 bits may vary.
        """
        four, six = (LEFT, RIGHT) if self.left_ip_version == 4 else (RIGHT, LEFT)
        pairs = [
            (six.ipv4_prefix.removesuffix(".0.0/16"), six.ipv6_prefix.removesuffix("::/56")),
            (four.ipv4_prefix.removesuffix(".0.0/16"), VIRTUAL_IPV6_PREFIX.removesuffix("::/56")),
        ]
        if self.stateful:
            (ipv4, ipv6), _ = pairs
            return [
                (f"{ipv4}.0.0/16", f"{_network(ipv6, 0)}/112"),
                (four.ipv4_prefix, _embedded_network(four.ipv4_prefix, NAT64_PREFIX)),
            ]
        if self.networks == 1:
            return [(f"{ipv4}.0.0/16", f"{_network(ipv6, 0)}/112") for ipv4, ipv6 in pairs]
        return [
            (f"{ipv4}.{number}.0/24", f"{_network(ipv6, number)}/120")
            for ipv4, ipv6 in pairs
            for number in range(self.networks)
        ]

    def double_mappings(self) -> list[tuple[str, str]]:
        """Returns the mappings of a CLAT, which are also those of its PLAT (RFC 6877).

        Between the two, hosts inside have addresses of the CLAT's prefix, and hosts outside have
        addresses of the PLAT's.
        """
        prefixes = ((self.inside, CLAT_PREFIX), (self.outside, NAT64_PREFIX))
        return [
            (side.ipv4_prefix, _embedded_network(side.ipv4_prefix, prefix))
            for side, prefix in prefixes
        ]


def embedded(ipv4: str, prefix: str = NAT64_PREFIX) -> str:
    """Returns the IPv4-embedded IPv6 address under which a translator shows a host (RFC 6052)."""
    return str(IPv6Network(prefix)[int(IPv4Address(ipv4))])


def _embedded_network(ipv4_prefix: str, prefix: str) -> str:
    network = IPv4Network(ipv4_prefix)
    address = embedded(str(network.network_address), prefix)
    return f"{address}/{96 + network.prefixlen}"


def _network(prefix: str, number: int) -> str:
    """Returns a network of a prefix; its number is the last octet of the fourth group.

    The prefix `2001:2` is short for `2001:2:0:0`.
    """
    groups = [*prefix.split(":"), "0", "0"][:4]
    groups[3] = f"{int(groups[3], 16) + number:x}"
    return str(IPv6Address(":".join(groups) + "::"))
