"""Which CPUs a lab's gateway has, and which threads there are the gateway."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from natxy.model.trial_spec import WatchedCpu


def watched_cpus(cpus: Sequence[int], own: Iterable[int]) -> tuple[WatchedCpu, ...]:
    """Names the gateway's own threads, and with them each CPU's softirq thread."""
    softirq = _softirq_threads()
    return tuple(
        WatchedCpu(cpu=cpu, threads=tuple(sorted({*own, *softirq.get(cpu, ())}))) for cpu in cpus
    )


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
