"""Takes a snapshot of a gateway on this machine, by reading files of /proc and /sys alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.links import LabLinks
from natxy.dut.namespaces import read_inside
from natxy.dut.proc_files import (
    ROOT,
    backlog_drops,
    conntrack_bytes,
    conntrack_count,
    conntrack_drops,
    cpu_times,
    link_drops,
    resident_bytes,
    ring_drops,
)
from natxy.model.telemetry import Snapshot

SLABS = "the kernel's objects of connections on this machine"
PROCESSES = "the gateway's processes"


@dataclass(frozen=True, kw_only=True)
class Local:
    """The place where a gateway runs on this machine."""

    cpus: tuple[int, ...]  # empty: all CPUs
    processes: tuple[int, ...] = ()  # its programs
    tracks: bool = False  # the kernel tracks its connections
    links: LabLinks | None = None  # None: it has no network namespace
    root: Path = ROOT
    inside: Callable[..., None] = read_inside

    def snapshot(self) -> Snapshot:
        drops: dict[str, int] = {}
        counts: list[int | None] = []
        if self.links is not None:
            self._read_links(self.links, drops, counts)
        memory = [
            (words, size)
            for words, size in (
                (SLABS, conntrack_bytes(self.root) if self.tracks else None),
                (PROCESSES, resident_bytes(self.processes, self.root)),
            )
            if size is not None
        ]
        return Snapshot(
            at_s=time.monotonic(),
            cpus=cpu_times(self.cpus, self.root),
            memory_bytes=sum(size for _, size in memory) if memory else None,
            memory_of=" and ".join(words for words, _ in memory),
            connections=counts[0] if counts else None,
            drops=drops or None,
        )

    def _read_links(self, links: LabLinks, drops: dict[str, int], counts: list[int | None]) -> None:
        sides = (LEFT, RIGHT)
        ends = {links.gateway_end(side): side.name for side in sides}
        opposite = {links.tester_end(side): side.name for side in sides}

        def at_each_gateway() -> None:
            drops.update(link_drops(ends, self.root))

        def at_gateway() -> None:
            at_each_gateway()
            drops.update(backlog_drops(self.cpus, self.root))
            if self.tracks:
                drops.update(conntrack_drops(self.root))
                counts.append(conntrack_count(self.root))

        def at_tester() -> None:
            drops.update(ring_drops(opposite, self.root))

        each = dict.fromkeys(links.gateways, at_each_gateway)
        self.inside({**each, links.gateway: at_gateway, links.tester: at_tester})
