"""Chooses the CPUs of a lab's gateway, and lists the threads there that belong to it."""

import os
from collections.abc import Iterable, Sequence
from functools import cache

from natxy.dut.process import kernel_threads
from natxy.errors import ConfigurationError, DutError
from natxy.model.trial_spec import WatchedCpu


def gateway_cpu(given: int | None, tester_cpus: tuple[int, ...]) -> int | None:
    """Returns the given CPU, or the last one that the tester leaves free; None if there is none."""
    allowed = sorted(os.sched_getaffinity(0))
    if given is None:
        free = [cpu for cpu in allowed if cpu not in tester_cpus]
        return free[-1] if free else None
    if given not in allowed:
        cpus = ", ".join(map(str, allowed))
        raise ConfigurationError(
            f"dut.gateway_cpu: this process may not use CPU {given} (expected one of {cpus})"
        )
    return given


def gateway_cpus(first: int, tester_cpus: tuple[int, ...], count: int) -> list[int]:
    """Returns `count` CPUs that the tester leaves free, `first` among them."""
    allowed = sorted(os.sched_getaffinity(0))
    free = [first, *(cpu for cpu in allowed if cpu not in tester_cpus and cpu != first)]
    if not 1 <= count <= len(free):
        raise DutError(
            f"The gateway cannot use {count} cores: the tester leaves {len(free)} of this "
            f"machine's {len(allowed)} (expected 1 to {len(free)})."
        )
    return free[:count]


def watched_cpus(cpus: Sequence[int], own: Iterable[int]) -> tuple[WatchedCpu, ...]:
    """Returns each CPU with the gateway's own threads and the CPU's softirq thread."""
    softirq = _softirq_threads()
    return tuple(
        WatchedCpu(cpu=cpu, threads=tuple(sorted({*own, *softirq.get(cpu, ())}))) for cpu in cpus
    )


@cache
def _softirq_threads() -> dict[int, tuple[int, ...]]:
    """Returns `ksoftirqd/N` by CPU, which runs softirqs that take longer than an interrupt may."""
    return {int(cpu): (number,) for cpu, number in kernel_threads("ksoftirqd/") if cpu.isdecimal()}
