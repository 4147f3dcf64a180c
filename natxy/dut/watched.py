"""Lists the CPUs of a lab's gateway, with the threads there that belong to the gateway."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from natxy.model.trial_spec import WatchedCpu


def watched_cpus(cpus: Sequence[int], own: Iterable[int]) -> tuple[WatchedCpu, ...]:
    """Returns each CPU with the gateway's own threads and the CPU's softirq thread."""
    softirq = _softirq_threads()
    return tuple(
        WatchedCpu(cpu=cpu, threads=tuple(sorted({*own, *softirq.get(cpu, ())}))) for cpu in cpus
    )


@cache
def _softirq_threads() -> dict[int, tuple[int, ...]]:
    """Returns `ksoftirqd/N` by CPU, which runs softirqs that take longer than an interrupt may."""
    found: dict[int, tuple[int, ...]] = {}
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            name, _, cpu = path.read_text().strip().partition("/")
        except OSError:  # the process ended meanwhile
            continue
        if name == "ksoftirqd" and cpu.isdigit():
            found[int(cpu)] = (int(path.parent.name),)
    return found
