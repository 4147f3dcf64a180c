"""The places where the gateway of a lab runs: a network namespace of this machine, or a guest."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from natxy.dut.addresses import LEFT, RIGHT, AddressPlan, SideAddresses
from natxy.dut.config import GuestConfig, LabConfig, NamespaceConfig
from natxy.dut.daemons import Job, Process
from natxy.dut.execution import TIMEOUT_S, execute, in_namespace
from natxy.dut.ledger import Ledger
from natxy.dut.links import FORWARDING, QUIET_IPV6, SWITCHES, LabLinks, addresses_and_routes
from natxy.dut.recipe_keys import Daemon

GUEST_MTU_BYTES = 1500  # of virtio-net without merged receive buffers


@dataclass(frozen=True, kw_only=True)
class Site(ABC):
    plan: AddressPlan
    config: LabConfig
    folder: Path  # for the gateway's own files
    forwarding: ClassVar[Mapping[str, int]] = FORWARDING  # kernel parameters of a router

    @abstractmethod
    def run(self, command: str, *, feed: str = "", within_s: float = TIMEOUT_S) -> str:
        """Runs a command with this input, and returns what it prints; DutError if it fails.

        A guest has bash. In a namespace there is no shell: `&&`, `|` and `>` are plain words.
        """

    def ip(self, lines: Iterable[str]) -> None:
        """Runs many `ip` commands in one process."""
        self.run("ip -batch -", feed="\n".join(lines))

    def set_sysctls(self, settings: Mapping[str, int]) -> None:
        """Sets kernel parameters; names as in /proc/sys, with slashes."""
        assignments = (f"{name}={value}" for name, value in settings.items())
        self.run(" ".join(["sysctl -q -w", *assignments]))

    def sysctl(self, name: str) -> str:
        """Returns a kernel parameter."""
        return self.run(f"cat /proc/sys/{name}")

    def write(self, path: Path, text: str) -> None:
        """Writes a file of the gateway."""
        path.write_text(text)

    @abstractmethod
    def end(self, side: SideAddresses) -> str:
        """Returns the name of the gateway's interface on this side."""

    @property
    @abstractmethod
    def inner_mtu_bytes(self) -> int:
        """The MTU of what translates."""

    @abstractmethod
    def daemon(self, daemon: Daemon, words: Sequence[str]) -> Process | Job:
        """Returns a program of the gateway, not started yet; `words` are its command."""

    @property
    def front(self) -> "Site":
        """The place of the first one of two gateways in a row."""
        raise NotImplementedError

    def load(self, modules: Sequence[str]) -> None:
        """Loads modules of the kernel, if the place has a kernel of its own."""
        return

    def version(self, command: str) -> str:
        """Returns what a program says of itself; empty if the place says so by itself."""
        return self.run(command).strip()

    def restart_forwarding(self) -> str:
        """Restarts forwarding; interfaces stay up, because the tester's ends would go down as well.

        Switching it resets what depends on it.
        """
        self.set_sysctls(dict.fromkeys(SWITCHES, 0))
        self.set_sysctls(self.forwarding)
        return "software reset: forwarding of IPv4 and IPv6 switched off and on again"


@dataclass(frozen=True, kw_only=True)
class NamespaceSite(Site):
    """A namespace with links, and a CPU; what changes the machine is noted in the ledger."""

    config: NamespaceConfig
    links: LabLinks
    cpu: int | None
    ledger: Ledger
    is_front: bool = False  # the first one of two gateways in a row

    @property
    def namespace(self) -> str:
        return self.links.front_gateway if self.is_front else self.links.gateway

    def run(self, command: str, *, feed: str = "", within_s: float = TIMEOUT_S) -> str:
        arguments = in_namespace(self.namespace, shlex.split(command))
        return execute(arguments, feed=feed, timeout_s=within_s)

    def end(self, side: SideAddresses) -> str:
        return self.links.gateway_end(side)

    @property
    def front(self) -> "NamespaceSite":
        return replace(self, is_front=True)

    def daemon(self, daemon: Daemon, words: Sequence[str]) -> Process:
        pinned = self.pinned(["stdbuf", "-oL", *words])  # so that its lines are read at once
        return Process(daemon, self.folder, pinned, first=self.cpu is not None)

    @property
    def inner_mtu_bytes(self) -> int:
        return self.links.inner_mtu_bytes

    def pinned(self, arguments: list[str]) -> list[str]:
        """Returns the command that runs the program on the gateway's CPU, if it has one."""
        cpu = [] if self.cpu is None else ["taskset", "-c", str(self.cpu)]
        return in_namespace(self.namespace, [*cpu, *arguments])


@dataclass(frozen=True, kw_only=True)
class GuestSite(Site):
    """A guest that has booted: how commands run in it, and the addresses that it gets."""

    config: GuestConfig
    ask: Callable[[str, float], str]  # executes a bash command in this time
    folder: Path = Path("/tmp")
    inner_mtu_bytes: int = GUEST_MTU_BYTES
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
            links.append(f"link set {end} mtu {GUEST_MTU_BYTES} up")
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
