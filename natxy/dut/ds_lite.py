"""DS-Lite in a guest (RFC 6333): an AFTR, and a B4 in front of one.

An AFTR is the guest's kernel with softwires, and a NAT44 behind them. All B4s have the same IPv4
address, and connection tracking does not see the softwires. So each softwire is a tunnel device.
Before connection tracking, a packet from a B4 gets a source that stands for its device. A packet to
that source is routed to the device, and gets the B4s' address back after connection tracking.

Two gateways in a row are the dual DUT setup of RFC 8219 section 4.2, with encapsulation:

    initiator ── IPv4 ── B4 ── IPv4 in IPv6 ── AFTR ── IPv4 ── responder

The B4 has a network namespace of its own. The link between the two has room for the outer header,
so that no packet is fragmented.
"""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import ClassVar

from natxy.dut.addresses import BACK_IPV6, FRONT_IPV6
from natxy.dut.gateway import Gateway
from natxy.dut.links import QUIET_IPV6, TO_BACK, TO_FRONT, addresses_and_routes
from natxy.dut.site import GUEST_MTU_BYTES, Site
from natxy.model.subscribers import SubscribersSection
from natxy.model.traffic_spec import tunnel_bytes

STANDING_FOR_B4S = IPv4Network("100.64.0.0/10")  # RFC 6598
MADE_WITHIN_S = 600.0  # 4,096 devices, in an emulated guest
NO_IPV6 = "net/ipv6/conf/default/disable_ipv6"  # a device would send frames of its own
B4 = "b4"
TUNNEL = "softwire"
LINK_MTU_BYTES = GUEST_MTU_BYTES + tunnel_bytes("ip", 6)


class Aftr(Gateway):
    sets_up_within_s: ClassVar[float] = MADE_WITHIN_S  # rules with an element for each B4

    @property
    def _asked(self) -> SubscribersSection:
        asked = self._site.plan.subscribers
        assert asked is not None, "checked where the driver is chosen"
        return asked

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
            "configuration": "".join(self._rules(first).values()),
            "softwires": str(self._asked.count),
        }

    def _files(self) -> dict[str, str]:
        return self._rules(self._asked)

    def _rules(self, asked: SubscribersSection) -> dict[str, str]:
        """Returns the recipe's rules, after those that change the B4s' addresses."""
        return {name: rules_of_b4s(asked) + text for name, text in super()._files().items()}


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


def rules_of_b4s(asked: SubscribersSection) -> str:
    """Returns the rules that change the B4s' addresses before and after the NAT44."""
    elements = ", ".join(f'"{name}" : {standing_for}' for name, standing_for, _ in _b4s(asked))
    return (
        "table ip natxy {\n"
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
    )


def _b4s(asked: SubscribersSection) -> Iterator[tuple[str, str, str]]:
    """Yields each B4's device, the address that stands for it, and its IPv6 address."""
    for number, b4 in enumerate(asked.subscribers()):
        yield f"b{number}", str(STANDING_FOR_B4S[number]), b4.ipv6


class DsLite(Gateway):
    """Both gateways, of which the AFTR has the connection tracking table."""

    def start(self) -> None:
        site = self._site
        settings = {f"net/ipv6/conf/default/{name}": n for name, n in QUIET_IPV6.items()}
        settings |= site.forwarding
        written = "; ".join(f"echo {value} >/proc/sys/{name}" for name, value in settings.items())
        site.run(f"ip netns add {B4} && ip netns exec {B4} bash -c '{written}'")
        site.ip(aftr_lines(site))
        site.run(f"ip -n {B4} -batch -", feed="\n".join(b4_lines(site)))
        super().start()


def aftr_lines(site: Site) -> Iterator[str]:
    """Yields `ip` lines that make the link between the two gateways, and the AFTR's side of it."""
    inside = site.plan.inside
    mtu = f"mtu {LINK_MTU_BYTES}"
    yield f"link add {TO_FRONT} {mtu} type veth peer name {TO_BACK} netns {B4} {mtu}"
    yield f"link set {site.end(inside)} netns {B4}"
    yield f"link set {TO_FRONT} up"
    yield from _side(TO_FRONT, BACK_IPV6, FRONT_IPV6, inside.ipv4_prefix, inside.ipv6_prefix)


def b4_lines(site: Site) -> Iterator[str]:
    plan = site.plan
    inside, outside = plan.inside, plan.outside
    for name in ("lo", TO_BACK, site.end(inside)):
        yield f"link set {name} up"
    yield from addresses_and_routes(plan, inside, site.end(inside))
    yield from _side(TO_BACK, FRONT_IPV6, BACK_IPV6, outside.ipv4_prefix, outside.ipv6_prefix)


def _side(end: str, own: str, other: str, ipv4: str, ipv6: str) -> Iterator[str]:
    """Yields `ip` lines for an end of the link: IPv4 goes through the tunnel, IPv6 beside it."""
    yield f"addr add {own}/128 dev {end} nodad"
    yield f"route add {other}/128 dev {end}"
    yield f"route add {ipv6} via {other} dev {end} onlink"
    yield from tunnel_lines(TUNNEL, own, other)
    yield f"link set {TUNNEL} mtu {GUEST_MTU_BYTES}"
    yield f"route add {ipv4} dev {TUNNEL}"
