"""The interface of the software that is the gateway in a guest, and where it runs."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from natxy.dut.addresses import LEFT, RIGHT, AddressPlan, SideAddresses
from natxy.dut.config import GuestConfig
from natxy.dut.gateway import Software
from natxy.dut.links import QUIET_IPV6, addresses_and_routes

MTU_BYTES = 1500  # of virtio-net without merged receive buffers
FORWARDING = ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding")


class Run(Protocol):
    def __call__(self, command: str, within_s: float = ...) -> str:
        """Executes a bash command in the guest and returns what it prints; else DutError."""


@dataclass(frozen=True, kw_only=True)
class GuestSite:
    """A guest that has booted: how commands run in it, and the addresses that it gets."""

    run: Run
    plan: AddressPlan
    config: GuestConfig

    def end(self, side: SideAddresses) -> str:
        """Returns the name of the guest's interface on this side."""
        return "eth0" if side is LEFT else "eth1"

    def route(self, mtu_bytes: int) -> None:
        """Sets the interfaces up and makes the guest forward, without frames of its own."""
        quiet = [f"net/ipv6/conf/default/{name}={value}" for name, value in QUIET_IPV6.items()]
        links = ["link set lo up"]
        for side in (LEFT, RIGHT):
            end = self.end(side)
            quiet += [f"net/ipv6/conf/{end}/{name}={value}" for name, value in QUIET_IPV6.items()]
            links.append(f"link set {end} mtu {mtu_bytes} up")
            links += addresses_and_routes(self.plan, side, end)
        if (asked := self.plan.subscribers) is not None:
            inside = self.plan.inside
            via = f"via {inside.tester_ipv6} dev {self.end(inside)} onlink"
            links.append(f"route add {asked.ipv6_prefix} {via}")
        self.run("\n".join(_set(setting) for setting in quiet))
        self.run(fed("ip -batch -", "\n".join(links)))
        self.forward(on=True)

    def forward(self, *, on: bool) -> None:
        self.run("\n".join(_set(f"{name}={int(on)}") for name in FORWARDING))

    def spread_frames(self, cores: int) -> None:
        """Lets each of the guest's CPUs take its share of the flows (receive packet steering)."""
        mask = (1 << cores) - 1 if cores > 1 else 0
        for side in (LEFT, RIGHT):
            self.run(f"echo {mask:x} >/sys/class/net/{self.end(side)}/queues/rx-0/rps_cpus")


class GuestGateway(Software):
    """A gateway in a guest; at `start` links are up and routes are set, and the kernel forwards."""

    title: ClassVar[str]  # what it is, in a few words
    packages: ClassVar[tuple[str, ...]]  # Debian's packages that it is
    outward: ClassVar[tuple[tuple[int, int], ...]]  # IP versions of the initiator's side and other

    def __init__(self, site: GuestSite) -> None:
        self._site = site

    def renew(self) -> None:
        """Restores the state after `start`: an empty table with the sizes and timeout of then."""


def fed(command: str, text: str) -> str:
    """Returns a bash command that gives a text to a command's standard input."""
    return f"{command} <<'NATXY'\n{text}\nNATXY"


def timed(command: str) -> str:
    """Returns a bash command that prints when another began and ended, by the guest's clock."""
    return f'b=$EPOCHREALTIME && {command} && e=$EPOCHREALTIME && echo "$b $e"'


def seconds_of(printed: str) -> float:
    """Returns the time between the two moments that `timed` prints last."""
    begin, end = printed.split()[-2:]
    return float(end) - float(begin)


def _set(setting: str) -> str:
    name, value = setting.split("=")
    return f"echo {value} >/proc/sys/{name}"
