"""Which CPUs a lab's gateway has, and which threads there are the gateway."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from natxy.dut.napi import napi_threads
from natxy.model.trial_spec import WatchedCpu


def watched_cpus(
    cpus: Sequence[int], interfaces: Iterable[str], processes: Iterable[int]
) -> tuple[WatchedCpu, ...]:
    """Names the NAPI threads, each CPU's softirq thread and the programs that translate."""
    own = [*processes, *(pid for name in interfaces for pid in _napi_threads(name))]
    softirq = _softirq_threads()
    return tuple(
        WatchedCpu(cpu=cpu, threads=tuple(sorted({*own, *softirq.get(cpu, ())}))) for cpu in cpus
    )


@cache  # they live as long as the interface, whose name is never used again
def _napi_threads(interface: str) -> tuple[int, ...]:
    return tuple(napi_threads(interface))


@cache
def _softirq_threads() -> dict[int, tuple[int, ...]]:
    """By CPU: `ksoftirqd/N` goes on where softirqs take longer than an interrupt may."""
    found: dict[int, tuple[int, ...]] = {}
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            name, _, cpu = path.read_text().strip().partition("/")
        except OSError:  # it ended while we looked
            continue
        if name == "ksoftirqd" and cpu.isdigit():
            found[int(cpu)] = (int(path.parent.name),)
    return found
