"""The veth pairs of a lab: t0 and t1 at the tester, d0-LABEL and d1-LABEL at the gateway.

With two gateways in a row (RFC 8219 section 4.2, dual DUT), each has one of these ends, and a third
pair connects the two: to-back at the front gateway, to-front at the back one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from natxy.dut.addresses import (
    BACK_IPV6,
    CLAT_PREFIX,
    FRONT_IPV6,
    LEFT,
    NAT64_PREFIX,
    RIGHT,
    AddressPlan,
    SideAddresses,
)
from natxy.dut.execution import execute, in_namespace, ip_batch, set_sysctls, write_file
from natxy.dut.namespaces import namespace_exists
from natxy.errors import DutError
from natxy.model.frame_sizes import IPV4_SAVES_BYTES

QUEUES = "numtxqueues 1 numrxqueues 1"  # a second queue loses half of AF_XDP's frames
TO_BACK, TO_FRONT = "to-back", "to-front"
QUIET_IPV6 = {"accept_dad": 0, "accept_ra": 0, "autoconf": 0, "router_solicitations": 0}

SWITCHES = ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding")
FORWARDING = {
    **dict.fromkeys(SWITCHES, 1),
    "net/ipv4/conf/all/rp_filter": 0,
    "net/ipv4/conf/all/send_redirects": 0,
}


def send_whole_frames(namespace: str, interface: str) -> None:
    """Switches checksum offload off, without which the kernel sends incomplete checksums."""
    execute(in_namespace(namespace, ["ethtool", "-K", interface, "tx", "off"]))


def spread_frames(links: "LabLinks", cpus: list[int]) -> None:
    """Sets receive packet steering: the NAPI thread hands each flow to one of these CPUs.

    With one CPU, it does all the work itself.
    """
    mask = sum(1 << cpu for cpu in cpus) if len(cpus) > 1 else 0
    for side in (LEFT, RIGHT):
        path = f"/sys/class/net/{links.gateway_end(side)}/queues/rx-0/rps_cpus"
        write_file(links.gateway_of(side), path, f"{mask:x}")


@dataclass(frozen=True, kw_only=True)
class LabLinks:
    """Names of a lab's namespaces and interfaces.

    The gateway's ends have names that are unique on the machine, because only the name of a NAPI
    thread shows to which lab it belongs.
    """

    label: str
    mtu_bytes: int  # of the tester's links
    front: SideAddresses | None = None  # the side of the front one of two gateways; None: one

    @property
    def tester(self) -> str:
        return f"natxy-t-{self.label}"

    @property
    def gateway(self) -> str:
        return f"natxy-g-{self.label}"

    @property
    def front_gateway(self) -> str:
        return f"natxy-f-{self.label}"

    @property
    def gateways(self) -> tuple[str, ...]:
        return (self.gateway,) if self.front is None else (self.front_gateway, self.gateway)

    @property
    def inner_mtu_bytes(self) -> int:
        """The MTU of what translates, and of the link between two gateways.

        What arrives at the front one as IPv4 leaves it as IPv6, and must fit this link.
        """
        return self.mtu_bytes + (0 if self.front is None else IPV4_SAVES_BYTES)

    def gateway_of(self, side: SideAddresses) -> str:
        """Returns the namespace that has the gateway's end of the side's link."""
        return self.front_gateway if side is self.front else self.gateway

    def tester_end(self, side: SideAddresses) -> str:
        return "t0" if side is LEFT else "t1"

    def gateway_end(self, side: SideAddresses) -> str:
        return f"d0-{self.label}" if side is LEFT else f"d1-{self.label}"

    def make(self) -> None:
        """Makes the links and sets them up, without addresses or offloads that change frames."""
        # The kernel sends no frames of its own, from when the links are there.
        quiet = {f"net/ipv6/conf/default/{name}": value for name, value in QUIET_IPV6.items()}
        for gateway in self.gateways:
            set_sysctls(gateway, quiet | {"net/ipv4/conf/default/rp_filter": 0})
        lines = [
            veth_line(self.tester_end(s), self.gateway_end(s), self.gateway_of(s), self.mtu_bytes)
            for s in (LEFT, RIGHT)
        ]
        ip_batch(self.tester, lines)
        if self.front is not None:
            line = veth_line(TO_BACK, TO_FRONT, self.gateway, self.inner_mtu_bytes)
            ip_batch(self.front_gateway, [line])
        tester_ends = [self.tester_end(side) for side in (LEFT, RIGHT)]
        all_ends = {self.tester: tester_ends, **self._gateway_ends}
        for namespace, ends in all_ends.items():
            for end in ends:
                send_whole_frames(namespace, end)
        for namespace, ends in all_ends.items():
            loopback = [] if namespace == self.tester else ["lo"]
            ip_batch(namespace, [f"link set {end} up" for end in (*loopback, *ends)])

    def check(self) -> None:
        """Raises DutError if a part of the lab was removed.

        An interface that is down still exists; the engine reports its port.
        """
        for namespace in (self.tester, *self.gateways):
            if not namespace_exists(namespace):
                raise DutError(f"The lab is gone: namespace {namespace} has been removed.")
        for gateway, ends in self._gateway_ends.items():
            listed = execute(["ip", "-n", gateway, "-o", "link", "show"])
            for end in ends:
                if f" {end}@" not in listed:
                    raise DutError(
                        f"The lab is gone: interface {end} of namespace {gateway} has been removed."
                    )

    @property
    def _gateway_ends(self) -> dict[str, list[str]]:
        """The interfaces of each gateway's namespace."""
        ends: dict[str, list[str]] = {gateway: [] for gateway in self.gateways}
        for side in (LEFT, RIGHT):
            ends[self.gateway_of(side)].append(self.gateway_end(side))
        if self.front is not None:
            ends[self.front_gateway].append(TO_BACK)
            ends[self.gateway].append(TO_FRONT)
        return ends

    def route(self, plan: AddressPlan) -> None:
        """Makes the gateway's namespace forward, with routes for each side's networks."""
        for gateway in self.gateways:
            set_sysctls(gateway, FORWARDING)
        for side in (LEFT, RIGHT):
            lines = addresses_and_routes(plan, side, self.gateway_end(side))
            ip_batch(self.gateway_of(side), lines)
        if self.front is not None:
            # Native IPv6, and what one of the two gateways has translated.
            outwards = [plan.outside.ipv6_prefix, NAT64_PREFIX]
            inwards = [plan.inside.ipv6_prefix, CLAT_PREFIX]
            ip_batch(self.front_gateway, _middle(TO_BACK, FRONT_IPV6, BACK_IPV6, outwards))
            ip_batch(self.gateway, _middle(TO_FRONT, BACK_IPV6, FRONT_IPV6, inwards))


def veth_line(end: str, peer: str, peer_namespace: str, mtu_bytes: int) -> str:
    """Returns the `ip` line that makes a veth pair, with its peer in a namespace."""
    mtu = f"mtu {mtu_bytes}"
    return (
        f"link add {end} {mtu} {QUEUES} type veth "
        f"peer name {peer} netns {peer_namespace} {mtu} {QUEUES}"
    )


def _middle(end: str, own: str, next_hop: str, prefixes: Sequence[str]) -> list[str]:
    """Returns `ip` lines for an end of the link between two gateways, which has IPv6 alone."""
    return [
        f"addr add {own}/128 dev {end} nodad",
        *(f"route add {prefix} via {next_hop} dev {end} onlink" for prefix in prefixes),
    ]


def addresses_and_routes(plan: AddressPlan, side: SideAddresses, end: str) -> list[str]:
    """Returns `ip` lines for the gateway's interface `end` on this side.

    The gateway's own addresses are /32 and /128, others are routed.
    """
    lines = [
        f"addr add {side.gateway_ipv6}/128 dev {end} nodad",
        f"route add {side.ipv6_prefix} via {side.tester_ipv6} dev {end} onlink",
    ]
    if plan.has_ipv4(side):
        lines += [
            f"addr add {side.gateway_ipv4}/32 dev {end}",
            f"route add {side.ipv4_prefix} via {side.tester_ipv4} dev {end} onlink",
        ]
    return lines
