"""The two veth pairs of a lab: t0 and t1 at the tester, d0-LABEL and d1-LABEL at the gateway."""

from dataclasses import dataclass

from natxy.dut.addresses import LEFT, RIGHT, AddressPlan, SideAddresses
from natxy.dut.execution import execute, in_namespace, ip_batch, set_sysctls, write_file
from natxy.dut.namespaces import namespace_exists
from natxy.errors import DutError

QUEUES = "numtxqueues 1 numrxqueues 1"  # a second queue loses half of AF_XDP's frames
QUIET_IPV6 = {"accept_dad": 0, "accept_ra": 0, "autoconf": 0, "router_solicitations": 0}


FORWARDING = {
    "net/ipv4/ip_forward": 1,
    "net/ipv6/conf/all/forwarding": 1,
    "net/ipv4/conf/all/rp_filter": 0,
    "net/ipv4/conf/all/send_redirects": 0,
}


def forwarding_restarted(namespace: str) -> str:
    """Restarts forwarding; interfaces stay up, because the tester's ends would go down as well."""
    set_sysctls(namespace, {"net/ipv4/ip_forward": 0, "net/ipv6/conf/all/forwarding": 0})
    set_sysctls(namespace, FORWARDING)  # switching it resets what depends on it
    return "software reset: forwarding of IPv4 and IPv6 switched off and on again"


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
        write_file(links.gateway, path, f"{mask:x}")


@dataclass(frozen=True, kw_only=True)
class LabLinks:
    """Names of a lab's namespaces and interfaces.

    The gateway's ends have names that are unique on the machine, because only the name of a NAPI
    thread shows to which lab it belongs.
    """

    label: str
    mtu_bytes: int

    @property
    def tester(self) -> str:
        return f"natxy-t-{self.label}"

    @property
    def gateway(self) -> str:
        return f"natxy-g-{self.label}"

    def tester_end(self, side: SideAddresses) -> str:
        return "t0" if side is LEFT else "t1"

    def gateway_end(self, side: SideAddresses) -> str:
        return f"d0-{self.label}" if side is LEFT else f"d1-{self.label}"

    def make(self) -> None:
        """Makes the links and sets them up, without addresses or offloads that change frames."""
        self._quieten()
        ip_batch(self.tester, [self._veth(LEFT), self._veth(RIGHT)])
        for side in (LEFT, RIGHT):
            send_whole_frames(self.tester, self.tester_end(side))
            send_whole_frames(self.gateway, self.gateway_end(side))
        self._set_up(self.tester, [self.tester_end(side) for side in (LEFT, RIGHT)])
        self._set_up(self.gateway, ["lo", *(self.gateway_end(side) for side in (LEFT, RIGHT))])

    def check(self) -> None:
        """Raises DutError if a part of the lab was removed.

        An interface that is down still exists; the engine reports its port.
        """
        for namespace in (self.tester, self.gateway):
            if not namespace_exists(namespace):
                raise DutError(f"The lab is gone: namespace {namespace} has been removed.")
        listed = execute(["ip", "-n", self.gateway, "-o", "link", "show"])
        for side in (LEFT, RIGHT):
            if f" {self.gateway_end(side)}@" not in listed:
                raise DutError(
                    f"The lab is gone: interface {self.gateway_end(side)} of namespace "
                    f"{self.gateway} has been removed."
                )

    def _veth(self, side: SideAddresses) -> str:
        mtu = f"mtu {self.mtu_bytes}"
        return (
            f"link add {self.tester_end(side)} {mtu} {QUEUES} type veth "
            f"peer name {self.gateway_end(side)} netns {self.gateway} {mtu} {QUEUES}"
        )

    def _quieten(self) -> None:
        """Keeps the kernel from sending frames of its own; called before the links are made.

        IPv6 is off at the tester's kernel, because its addresses are the engine's.
        """
        gateway = {f"net/ipv6/conf/default/{name}": value for name, value in QUIET_IPV6.items()}
        set_sysctls(self.gateway, gateway | {"net/ipv4/conf/default/rp_filter": 0})
        set_sysctls(self.tester, {"net/ipv6/conf/default/disable_ipv6": 1})

    @staticmethod
    def _set_up(namespace: str, interfaces: list[str]) -> None:
        ip_batch(namespace, [f"link set {interface} up" for interface in interfaces])

    def route(self, plan: AddressPlan) -> None:
        """Makes the gateway's namespace forward, with routes for each side's networks."""
        set_sysctls(self.gateway, FORWARDING)
        for side in (LEFT, RIGHT):
            lines = addresses_and_routes(plan, side, self.gateway_end(side))
            ip_batch(self.gateway, lines)


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
