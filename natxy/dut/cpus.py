"""The CPUs of a lab's gateway: which they are, what of it runs there, and that it runs first."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

from natxy.dut.execution import execute, in_namespace, write_file
from natxy.dut.ledger import Ledger
from natxy.dut.process import kernel_threads, within
from natxy.errors import ConfigurationError, DutError
from natxy.model.trial_spec import WatchedCpu

NAPI_APPEARS_WITHIN_S = 2.0
THROTTLING = "/proc/sys/kernel/sched_rt_runtime_us"
NOT_THROTTLED = "-1"

# NAPI threads and the translator have the same rank. With a higher one, a NAPI thread interrupts
# the translator for each frame, which costs more than half of its rate; with a lower one, it waits
# for the translator, and one direction starves under overload.
RANK = 3
NICE = -20  # used where the real-time policy is refused, as in some containers


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


def put_first(pid: int) -> None:
    """Raises a process's priority; OSError if it has ended or belongs to another user.

    A frame must not wait for another program's time slice: a veth holds 256 frames, which is 1 ms
    at 256,000 fps, and a slice is 3 ms or more. Measurements on a busy machine showed that the best
    nice value is not enough.
    """
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(RANK))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)


def without_throttling(ledger: Ledger) -> None:
    """Switches real-time throttling off until the lab is removed.

    It would stop a gateway that needs more than 95 % of its CPU for 50 ms of each second. It would
    stop a tester and a calibration gateway as well, which spin in each trial, where one trial
    follows another within milliseconds. Some containers refuse this; a trial that the kernel
    throttles is then INVALID.
    """
    if os.access(THROTTLING, os.W_OK):
        with suppress(OSError):
            ledger.change_setting(THROTTLING, NOT_THROTTLED)


def thread_napi(namespace: str, interface: str, cpu: int) -> tuple[int, ...]:
    """Gives the interface NAPI threads on the CPU and returns their process numbers.

    A plain veth runs the whole kernel gateway inside the tester's send call, on the tester's CPU,
    where an overload never causes loss. The interface's name must be unique on the machine.
    """
    execute(in_namespace(namespace, ["ethtool", "-K", interface, "gro", "on"]))  # veth: NAPI on
    write_file(namespace, f"/sys/class/net/{interface}/threaded", "1")
    if not within(NAPI_APPEARS_WITHIN_S, lambda: bool(napi_threads(interface))):
        raise DutError(
            f"{interface}: there is no NAPI thread (expected Linux 5.12 or newer, and in a "
            "container the host's PID namespace)"
        )
    threads = tuple(napi_threads(interface))
    for pid in threads:
        os.sched_setaffinity(pid, {cpu})
        put_first(pid)
    return threads


def napi_threads(interface: str) -> list[int]:
    """Returns process numbers of the interface's NAPI threads, `napi/INTERFACE-NUMBER`."""
    return [number for _, number in kernel_threads(f"napi/{interface}-")]
