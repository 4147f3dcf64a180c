"""The guest's Linux kernel as the AFTR of DS-Lite (RFC 6333): softwires, and a NAT44 behind them.

All B4s have the same IPv4 address, and connection tracking does not see the softwires. So each
softwire is a tunnel device. Before connection tracking, a packet from a B4 gets a source that
stands for its device. A packet to that source is routed to the device, and gets the B4s' address
back after connection tracking.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network
from typing import ClassVar

from natxy.dut.guest_site import GuestSite
from natxy.dut.masquerade import TABLE, NftablesRules, nftables_rules
from natxy.dut.nat44 import Nat44
from natxy.model.subscribers import SubscribersSection

STANDING_FOR_B4S = IPv4Network("100.64.0.0/10")  # RFC 6598
MADE_WITHIN_S = 600.0  # 4,096 devices, in an emulated guest
NO_IPV6 = "net/ipv6/conf/default/disable_ipv6"  # a device would send frames of its own


@dataclass(frozen=True)
class AftrRules(NftablesRules):
    """Rules that also change the B4s' addresses."""

    asked: SubscribersSection

    @property
    def text(self) -> str:
        return aftr_rules(self.asked, self.outside)


class Aftr(Nat44):
    before: ClassVar[str] = "IPv6 tunnels (RFC 2473), and "

    def __init__(self, site: GuestSite) -> None:
        assert site.plan.subscribers is not None, "checked where the driver is chosen"
        self._asked = site.plan.subscribers
        super().__init__(site, partial(AftrRules, asked=self._asked))

    def start(self) -> None:
        self._site.set_sysctls({NO_IPV6: 1})
        try:
            lines = "\n".join(softwire_lines(self._asked))
            self._site.run("ip -batch -", feed=lines, within_s=MADE_WITHIN_S)
        finally:
            self._site.set_sysctls({NO_IPV6: 0})
        super().start()

    def describe(self) -> dict[str, str]:
        """Describes the rules with the first B4 only: the others are like it."""
        first = self._asked.model_copy(update={"count": 1})
        return super().describe() | {
            "configuration": aftr_rules(first, self._rules.outside),
            "softwires": str(self._asked.count),
        }


def softwire_lines(asked: SubscribersSection) -> Iterator[str]:
    """Yields `ip` lines that make a device for each softwire, with the route to its B4."""
    yield f"addr add {asked.gateway}/128 dev lo"
    for name, standing_for, ipv6 in _b4s(asked):
        yield from tunnel_lines(name, str(asked.gateway), ipv6)
        yield f"route add {standing_for}/32 dev {name}"


def tunnel_lines(name: str, own: str, other: str) -> Iterator[str]:
    """Yields `ip` lines that make an end of a softwire.

    Linux would put a destination option into each packet (the encapsulation limit of RFC 2473)
    where the other end expects the IPv4 header.
    """
    yield f"link add {name} type ip6tnl mode ipip6 local {own} remote {other} encaplimit none"
    yield f"link set {name} up"


def aftr_rules(asked: SubscribersSection, outside: str) -> str:
    """Returns the rules of the NAT44, and those that change B4s' addresses before and after it."""
    elements = ", ".join(f'"{name}" : {standing_for}' for name, standing_for, _ in _b4s(asked))
    return (
        f"table ip {TABLE} {{\n"
        "  map b4s {\n"
        f"    type ifname : ipv4_addr; elements = {{ {elements} }}\n"
        "  }\n"
        "  chain from_b4s {\n"
        "    type filter hook prerouting priority raw\n"
        "    ip saddr set iifname map @b4s\n"
        "  }\n"
        "  chain to_b4s {\n"
        "    type filter hook postrouting priority srcnat + 1\n"
        f"    ip daddr {STANDING_FOR_B4S} ip daddr set {asked.private_ipv4}\n"
        "  }\n"
        "}\n"
    ) + nftables_rules(str(STANDING_FOR_B4S), outside)


def _b4s(asked: SubscribersSection) -> Iterator[tuple[str, str, str]]:
    """Yields each B4's device, the address that stands for it, and its IPv6 address."""
    for number, b4 in enumerate(asked.subscribers()):
        yield f"b{number}", str(STANDING_FOR_B4S[number]), b4.ipv6
