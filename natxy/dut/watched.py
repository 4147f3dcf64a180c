"""Lists the CPUs of a lab's gateway, with the threads there that belong to the gateway."""

from collections.abc import Iterable, Sequence
from functools import cache

from natxy.dut.process import named
from natxy.model.trial_spec import WatchedCpu


def watched_cpus(cpus: Sequence[int], own: Iterable[int]) -> tuple[WatchedCpu, ...]:
    """Returns each CPU with the gateway's own threads and the CPU's softirq thread."""
    softirq = _softirq_threads()
    threads = {cpu: {*own, softirq.get(str(cpu), 0)} - {0} for cpu in cpus}
    return tuple(WatchedCpu(cpu=cpu, threads=tuple(sorted(threads[cpu]))) for cpu in cpus)


@cache
def _softirq_threads() -> dict[str, int]:
    """Returns `ksoftirqd/N` by CPU, which runs softirqs that take longer than an interrupt may."""
    return named("ksoftirqd/")
