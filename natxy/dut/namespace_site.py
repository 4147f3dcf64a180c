"""A network namespace of this machine as the place of a gateway."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from natxy.dut.addresses import SideAddresses
from natxy.dut.config import NamespaceConfig
from natxy.dut.daemons import Process
from natxy.dut.execution import TIMEOUT_S, execute, in_namespace
from natxy.dut.gateway import Site
from natxy.dut.ledger import Ledger
from natxy.dut.links import LabLinks
from natxy.dut.recipe_keys import Daemon


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
