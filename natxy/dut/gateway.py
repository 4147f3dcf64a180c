"""The interface of the software that is the gateway of a lab."""

from dataclasses import dataclass
from pathlib import Path

from natxy.dut.addresses import AddressPlan
from natxy.dut.base import ConnectionTable
from natxy.dut.execution import in_namespace
from natxy.dut.ledger import Ledger
from natxy.dut.links import LabLinks


@dataclass(frozen=True, kw_only=True)
class Site:
    """The place where the gateway runs: links that are up, addresses, a CPU, a temporary folder."""

    links: LabLinks
    plan: AddressPlan
    cpu: int | None
    ledger: Ledger
    folder: Path
    is_front: bool = False  # the first one of two gateways in a row

    @property
    def namespace(self) -> str:
        return self.links.front_gateway if self.is_front else self.links.gateway

    def pinned(self, arguments: list[str]) -> list[str]:
        """Returns the command that runs the program on the gateway's CPU, if it has one."""
        cpu = [] if self.cpu is None else ["taskset", "-c", str(self.cpu)]
        return in_namespace(self.namespace, [*cpu, *arguments])


class Software:
    """What is the gateway in a lab: by default the kernel, without state."""

    table: ConnectionTable | None = None  # the connection tracking table; None: stateless

    def start(self) -> None:
        """Starts the gateway, or raises DutError."""

    def check(self) -> None:
        """Raises DutError if the gateway has ended."""

    def reset(self) -> None:
        """Removes the state that a trial leaves behind."""

    def restart(self) -> str:
        """Resets the gateway while frames arrive, and describes what was done."""
        raise NotImplementedError

    def describe(self) -> dict[str, str]:
        raise NotImplementedError


class Gateway(Software):
    """A kernel or a program; at `start` the links are up and have no addresses."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def start(self) -> None:
        self._site.links.route(self._site.plan)
        self.translate()

    def translate(self) -> None:
        """Starts what changes frames on their way; addresses and routes exist."""

    def stop(self) -> None:
        """Stops what `start` started; the lab removes namespaces and folder."""

    def recover(self) -> None:
        """Restores the state after `start`; links, addresses and routes still exist."""
        raise NotImplementedError

    @property
    def processes(self) -> tuple[int, ...]:
        """Process numbers of programs that translate, beside the kernel's own threads."""
        return ()

    def fault(self) -> str | None:
        """Returns a sentence if the last trial is invalid because the gateway was disturbed."""
        return None
