"""DS-Lite in two gateways in a row in the guest: a B4, and the AFTR behind it (RFC 6333).

    initiator ── IPv4 ── B4 ── IPv4 in IPv6 ── AFTR ── IPv4 ── responder

It is the dual DUT setup of RFC 8219 section 4.2, with encapsulation. The B4 has a network namespace
of its own. The link between the two has room for the outer header, so that no packet is fragmented.
"""

from collections.abc import Iterator
from typing import ClassVar

from natxy.dut.addresses import BACK_IPV6, FRONT_IPV6
from natxy.dut.gateway import Site
from natxy.dut.guest_aftr import tunnel_lines
from natxy.dut.guest_site import MTU_BYTES
from natxy.dut.links import QUIET_IPV6, TO_BACK, TO_FRONT, addresses_and_routes
from natxy.dut.nat44 import Nat44
from natxy.model.encapsulations import tunnel_bytes

B4 = "b4"
TUNNEL = "softwire"
LINK_MTU_BYTES = MTU_BYTES + tunnel_bytes("ip", 6)


class DsLite(Nat44):
    """Both gateways, of which the AFTR has the connection tracking table."""

    before: ClassVar[str] = "a B4 and an AFTR: IPv6 tunnels (RFC 2473), and "

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
    yield f"link set {TUNNEL} mtu {MTU_BYTES}"
    yield f"route add {ipv4} dev {TUNNEL}"
