"""Reads what the kernel counts, from files of /proc and /sys below a root.

A file that is missing or cannot be read gives None, or nothing: no kernel has all of them.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.links import LabLinks
from natxy.dut.namespaces import read_inside
from natxy.model.telemetry import CpuTime, Snapshot

SLABS = "the kernel's objects of connections on this machine"
PROCESSES = "the gateway's processes"
ROOT = Path("/")
OWN_NET = "proc/thread-self/net"  # of the network namespace of the thread that reads
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICK_HZ = os.sysconf("SC_CLK_TCK")
CONNTRACK_DROPS = ("drop", "early_drop", "insert_failed")  # columns of stat/nf_conntrack
SOFTNET_DROPPED, SOFTNET_CPU = 1, 12  # columns of softnet_stat; the last one since Linux 5.10
# Columns of net/dev, which `ip -s link` shows.
LINK_DROPS = {"rx errors": 2, "rx dropped": 3, "rx fifo": 4, "tx errors": 10, "tx dropped": 11}


def cpu_times(cpus: Collection[int], root: Path = ROOT) -> tuple[CpuTime, ...]:
    """Returns the times of these CPUs since the machine started; of all CPUs if there are none."""
    return cpu_times_in(_lines(root / "proc/stat"), cpus)


def cpu_times_in(stat: Iterable[str], cpus: Collection[int] = ()) -> tuple[CpuTime, ...]:
    """Returns what lines of /proc/stat say of these CPUs; of all CPUs if there are none.

    The lines may be those of a guest: on x86, the ticks of /proc/stat are always of 10 ms.
    """
    lines = (line.split() for line in stat if line.startswith("cpu"))
    each = ((name[3:], times) for name, *times in lines)
    return tuple(
        _cpu_time(int(cpu), [int(time) / TICK_HZ for time in times])
        for cpu, times in each
        if cpu.isdigit() and (not cpus or int(cpu) in cpus)
    )


def _cpu_time(cpu: int, times: Sequence[float]) -> CpuTime:
    user, nice, system, _, _, irq, softirq, steal, *_ = times  # proc(5)
    return CpuTime(
        cpu=cpu,
        busy_s=user + nice + system + irq + softirq,
        softirq_s=softirq,
        irq_s=irq,
        steal_s=steal,
    )


def resident_bytes(processes: Collection[int], root: Path = ROOT) -> int | None:
    """Returns the resident memory of processes; None if one of them has ended."""
    fields = [_words(root / f"proc/{pid}/statm") for pid in processes]
    return sum(int(each[1]) for each in fields) * PAGE_BYTES if fields and all(fields) else None


def conntrack_bytes(root: Path = ROOT) -> int | None:
    """Returns the memory of the kernel's objects that hold connections, of the whole machine.

    A connection is an object of nf_conntrack, and one of 128 octets with what NAT and others add to
    it. Room that is free in their slabs does not count: the kernel keeps it for new objects.
    /proc/slabinfo has the same numbers, but takes a millisecond.
    """
    slabs = root / "sys/kernel/slab"
    sizes = [_object_bytes(slabs / name) for name in ("nf_conntrack", *_of_extensions(slabs))]
    return None if None in sizes else sum(size for size in sizes if size is not None)


@cache
def _of_extensions(slabs: Path) -> tuple[str, ...]:
    """Returns the names of the caches of 128 octets; hardened kernels have several."""
    return ("kmalloc-128", *sorted(path.name for path in slabs.glob("kmalloc-rnd-*-128")))


def _object_bytes(cache_of: Path) -> int | None:
    objects, size = _words(cache_of / "objects"), _words(cache_of / "slab_size")
    return int(objects[0]) * int(size[0]) if objects and size else None


def conntrack_count(root: Path = ROOT) -> int | None:
    """Returns how many connections the namespace's table has."""
    words = _words(root / "proc/sys/net/netfilter/nf_conntrack_count")
    return int(words[0]) if words else None


def link_drops(names: Mapping[str, str], root: Path = ROOT) -> dict[str, int]:
    """Returns what the namespace's links dropped, by the names that they have here."""
    return {
        f"{names.get(link, link)} {cause}": int(counters[column])
        for link, counters in _links(root)
        for cause, column in LINK_DROPS.items()
    }


def ring_drops(names: Mapping[str, str], root: Path = ROOT) -> dict[str, int]:
    """Returns what a link could not send, because the ring at its other end was full."""
    column = LINK_DROPS["tx dropped"]
    return {
        f"{names[link]} ring": int(counters[column])
        for link, counters in _links(root)
        if link in names
    }


def _links(root: Path) -> Iterator[tuple[str, list[str]]]:
    for line in _lines(root / OWN_NET / "dev")[2:]:
        link, _, counters = line.partition(":")
        if link.strip() != "lo":
            yield link.strip(), counters.split()


def conntrack_drops(root: Path = ROOT) -> dict[str, int]:
    """Returns what connection tracking dropped in the namespace, summed over the CPUs."""
    heads, *rows = [line.split() for line in _lines(root / OWN_NET / "stat/nf_conntrack")] or [[]]
    return {
        f"conntrack {cause}": sum(int(row[heads.index(cause)], 16) for row in rows)
        for cause in CONNTRACK_DROPS
        if cause in heads
    }


def backlog_drops(cpus: Collection[int], root: Path = ROOT) -> dict[str, int]:
    """Returns what was dropped because the queue of a CPU was full; of all CPUs if none is given.

    The kernel counts it for each CPU, not for each namespace.
    """
    lines = _lines(root / OWN_NET / "softnet_stat")
    rows = [[int(word, 16) for word in line.split()] for line in lines]
    counted = [
        row[SOFTNET_DROPPED]
        for row in rows
        if not cpus or len(row) <= SOFTNET_CPU or row[SOFTNET_CPU] in cpus
    ]
    return {"CPU queue": sum(counted)} if counted else {}


def local_snapshot(
    cpus: tuple[int, ...],
    *,
    processes: tuple[int, ...] = (),
    links: LabLinks | None = None,
    tracks: bool = False,
    root: Path = ROOT,
) -> Snapshot:
    """Returns what is known of a gateway on this machine, whose CPUs these are; none: all.

    `processes` are its programs, `links` those of its network namespace, if it has one. `tracks`
    says whether the kernel tracks its connections.
    """
    drops: dict[str, int] = {}
    connections: int | None = None
    if links is not None:
        drops, connections = _read_links(links, cpus, tracks, root)
    memory = [
        (words, size)
        for words, size in (
            (SLABS, conntrack_bytes(root) if tracks else None),
            (PROCESSES, resident_bytes(processes, root)),
        )
        if size is not None
    ]
    return Snapshot(
        at_s=time.monotonic(),
        cpus=cpu_times(cpus, root),
        memory_bytes=sum(size for _, size in memory) if memory else None,
        memory_of=" and ".join(words for words, _ in memory),
        connections=connections,
        drops=drops or None,
    )


def _read_links(
    links: LabLinks, cpus: tuple[int, ...], tracks: bool, root: Path
) -> tuple[dict[str, int], int | None]:
    """Returns what was dropped in the namespaces of a lab, and the number of connections."""
    ends = {links.gateway_end(side): side.name for side in (LEFT, RIGHT)}
    opposite = {links.tester_end(side): side.name for side in (LEFT, RIGHT)}
    drops: dict[str, int] = {}
    counts: list[int | None] = [None]

    def at_each_gateway() -> None:
        drops.update(link_drops(ends, root))

    def at_gateway() -> None:
        at_each_gateway()
        drops.update(backlog_drops(cpus, root))
        if tracks:
            drops.update(conntrack_drops(root))
            counts.append(conntrack_count(root))

    def at_tester() -> None:
        drops.update(ring_drops(opposite, root))

    each = dict.fromkeys(links.gateways, at_each_gateway)
    read_inside({**each, links.gateway: at_gateway, links.tester: at_tester})
    return drops, counts[-1]


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb", buffering=0) as file:  # a third of the time of a buffered one
            return file.readall().decode().splitlines()
    except OSError:
        return []


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()
