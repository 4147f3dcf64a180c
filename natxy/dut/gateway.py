"""The interface of the software that is the gateway of a lab, and of the place where it runs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from natxy.dut.addresses import AddressPlan, SideAddresses
from natxy.dut.base import ConnectionTable
from natxy.dut.config import LabConfig
from natxy.dut.execution import TIMEOUT_S
from natxy.dut.links import FORWARDING, SWITCHES
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


class GatewayOfParts(Gateway):
    """A gateway of several parts, of which the last one alone has a state, in its table."""

    def __init__(self, site: Site, *parts: Gateway) -> None:
        super().__init__(site)
        self._parts = parts
        self.table = parts[-1].table

    def start(self) -> None:
        for part in self._parts:
            part.start()

    def stop(self) -> None:
        for part in reversed(self._parts):
            part.stop()

    def check(self) -> None:
        for part in self._parts:
            part.check()

    def reset(self) -> None:
        self._parts[-1].reset()

    def restart(self) -> str:
        return "; ".join(part.restart() for part in self._parts)

    def recover(self) -> None:
        for part in self._parts:
            part.recover()

    def renew(self) -> None:
        self._parts[-1].renew()

    def describe(self) -> dict[str, str]:
        each = [part.describe() for part in self._parts]
        described = {key: value for part in each for key, value in part.items()}
        for key in ("software", "configuration"):
            described[key] = "; ".join(part[key] for part in each)
        return described

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(pid for part in self._parts for pid in part.processes)

    def fault(self) -> Reason | None:
        return self._parts[-1].fault()
