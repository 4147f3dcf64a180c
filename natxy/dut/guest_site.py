"""A guest as the place of a gateway."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses
from natxy.dut.config import GuestConfig
from natxy.dut.daemons import Job
from natxy.dut.execution import TIMEOUT_S
from natxy.dut.gateway import Site
from natxy.dut.links import QUIET_IPV6, SWITCHES, addresses_and_routes
from natxy.dut.recipe_keys import Daemon

MTU_BYTES = 1500  # of virtio-net without merged receive buffers


@dataclass(frozen=True, kw_only=True)
class GuestSite(Site):
    """A guest that has booted: how commands run in it, and the addresses that it gets."""

    config: GuestConfig
    ask: Callable[[str, float], str]  # executes a bash command in this time
    folder: Path = Path("/tmp")
    inner_mtu_bytes: int = MTU_BYTES
    forwarding: ClassVar[Mapping[str, int]] = dict.fromkeys(SWITCHES, 1)

    def run(self, command: str, *, feed: str = "", within_s: float = TIMEOUT_S) -> str:
        """Runs a bash command."""
        return self.ask(fed(command, feed) if feed else command, within_s)

    def set_sysctls(self, settings: Mapping[str, int]) -> None:
        self.run(" &&\n".join(f"echo {value} >/proc/sys/{n}" for n, value in settings.items()))

    def sysctl(self, name: str) -> str:
        return self.run(f"read -r n </proc/sys/{name}; echo $n")  # starts no program

    def write(self, path: Path, text: str) -> None:
        self.run(f"cat >{path}", feed=text)

    def end(self, side: SideAddresses) -> str:
        return "eth0" if side is LEFT else "eth1"

    def daemon(self, daemon: Daemon, words: Sequence[str]) -> Job:
        return Job(daemon, self.folder, shlex.join(words), self.run)

    def load(self, modules: Sequence[str]) -> None:
        for module in modules:
            self.run(f"modprobe {module}")

    def version(self, command: str) -> str:
        return ""  # the result has the versions of the guest's packages

    def route(self) -> None:
        """Sets the interfaces up and makes the guest forward, without frames of its own."""
        ends = {side: self.end(side) for side in (LEFT, RIGHT)}
        links = ["link set lo up"]
        for side, end in ends.items():
            links.append(f"link set {end} mtu {MTU_BYTES} up")
            links += addresses_and_routes(self.plan, side, end)
        if (asked := self.plan.subscribers) is not None:
            inside = self.plan.inside
            via = f"via {inside.tester_ipv6} dev {self.end(inside)} onlink"
            links.append(f"route add {asked.ipv6_prefix} {via}")
        self.set_sysctls(
            {
                f"net/ipv6/conf/{of}/{name}": value
                for of in ("default", *ends.values())
                for name, value in QUIET_IPV6.items()
            }
        )
        self.ip(links)
        self.set_sysctls(self.forwarding)

    def spread_frames(self, cores: int) -> None:
        """Lets each of the guest's CPUs take its share of the flows (receive packet steering)."""
        mask = (1 << cores) - 1 if cores > 1 else 0
        for side in (LEFT, RIGHT):
            self.run(f"echo {mask:x} >/sys/class/net/{self.end(side)}/queues/rx-0/rps_cpus")


def fed(command: str, text: str) -> str:
    """Returns a bash command that gives a text to a command's standard input."""
    return f"{command} <<'NATXY'\n{text}\nNATXY"


def timed(command: str) -> str:
    """Returns a bash command that prints when another began and ended, by the guest's clock."""
    return f'b=$EPOCHREALTIME && {command} && e=$EPOCHREALTIME && echo "$b $e"'


def seconds_of(printed: str) -> float:
    """Returns the time between the two moments that `timed` prints last."""
    begin, end = printed.replace(",", ".").split()[-2:]  # a comma where the locale has one
    return float(end) - float(begin)
