"""What a lab expects of the software that is the gateway in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from natxy.dut.addresses import AddressPlan
from natxy.dut.base import ConnectionTable
from natxy.dut.execution import in_namespace
from natxy.dut.ledger import Ledger
from natxy.dut.links import LabLinks


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where the software runs: links that are up, addresses, a CPU, a temporary folder."""

    links: LabLinks
    plan: AddressPlan
    cpu: int | None
    ledger: Ledger
    folder: Path

    @property
    def namespace(self) -> str:
        return self.links.gateway

    def pinned(self, arguments: list[str]) -> list[str]:
        """The program, run on the gateway's CPU where it has one."""
        cpu = [] if self.cpu is None else ["taskset", "-c", str(self.cpu)]
        return in_namespace(self.namespace, [*cpu, *arguments])


class Gateway(Protocol):
    """Kernel or program. `start` finds the links up and without addresses."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """Ends what `start` started; the lab removes namespaces and folder."""

    def reset(self) -> None: ...

    def restart(self) -> str:
        """Resets it while frames come; what was done, in words."""

    @property
    def table(self) -> ConnectionTable | None:
        """None: a stateless gateway."""

    def recover(self) -> None:
        """Brings it back as after `start`; links, addresses and routes are there."""

    def check(self) -> None:
        """DutError if it has ended."""

    @property
    def processes(self) -> tuple[int, ...]:
        """Programs that translate, beside the kernel's own threads."""

    def fault(self) -> str | None:
        """A sentence if it was not in order in the last trial, through no fault of its own."""

    def describe(self) -> dict[str, str]: ...
