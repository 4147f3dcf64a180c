"""The interface of the software that is the gateway of a lab, and of the place where it runs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from natxy.dut.addresses import AddressPlan, SideAddresses
from natxy.dut.base import ConnectionTable
from natxy.dut.config import LabConfig
from natxy.dut.daemons import Running
from natxy.dut.execution import TIMEOUT_S
from natxy.dut.links import FORWARDING, SWITCHES
from natxy.dut.recipe_keys import Daemon
from natxy.model.reason import Reason


@dataclass(frozen=True, kw_only=True)
class Site(ABC):
    """The place where a gateway runs: a network namespace of this machine, or a guest."""

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
    def daemon(self, daemon: Daemon, words: Sequence[str]) -> Running:
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


class Gateway:
    """A kernel or a program; at `start` the links are up, with addresses and routes."""

    table: ConnectionTable | None = None  # the connection tracking table; None: stateless

    def __init__(self, site: Site) -> None:
        self._site = site

    def start(self) -> None:
        """Starts what changes frames on their way, or raises DutError."""

    def stop(self) -> None:
        """Stops what `start` started; the lab removes the place with all that is in it."""

    def check(self) -> None:
        """Raises DutError if the gateway has ended."""

    def reset(self) -> None:
        """Removes the state that a trial leaves behind; a gateway with a table must do so."""
        assert self.table is None, f"{type(self).__name__} has a table, and no reset()"

    def restart(self) -> str:
        """Resets the gateway while frames arrive, and describes what was done."""
        raise NotImplementedError

    def recover(self) -> None:
        """Restores the state after `start` in a namespace; links, addresses and routes exist."""
        raise NotImplementedError

    def renew(self) -> None:
        """Restores the state after `start` in a guest: an empty table as it was then."""
        assert self.table is None, f"{type(self).__name__} has a table, and no renew()"

    def describe(self) -> dict[str, str]:
        raise NotImplementedError

    @property
    def processes(self) -> tuple[int, ...]:
        """Process numbers of programs that translate, beside the kernel's own threads."""
        return ()

    def fault(self) -> Reason | None:
        """Returns a reason if the last trial is invalid because the gateway was disturbed."""
        return None
