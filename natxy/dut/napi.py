"""Moves the gateway's side of a veth out of the tester's send call.

A plain veth runs the whole kernel gateway inside the sending call, on the tester's CPU, where an
overload never causes loss. Threaded NAPI gives it a kernel thread, which is pinned to its own CPU.
"""

import os

from natxy.dut.execution import execute, in_namespace, write_file
from natxy.dut.priority import put_first
from natxy.dut.process import kernel_threads, within
from natxy.errors import DutError

APPEARS_WITHIN_S = 2.0


def thread_napi(namespace: str, interface: str, cpu: int) -> tuple[int, ...]:
    """Gives the interface NAPI threads on the CPU and returns their process numbers.

    The interface's name must be unique on the machine.
    """
    execute(in_namespace(namespace, ["ethtool", "-K", interface, "gro", "on"]))  # veth: NAPI on
    write_file(namespace, f"/sys/class/net/{interface}/threaded", "1")
    if not within(APPEARS_WITHIN_S, lambda: bool(napi_threads(interface))):
        raise DutError(
            f"The kernel made no NAPI thread for {interface} (expected Linux 5.12 or newer)."
        )
    threads = tuple(napi_threads(interface))
    for pid in threads:
        os.sched_setaffinity(pid, {cpu})
        put_first(pid)
    return threads


def napi_threads(interface: str) -> list[int]:
    """Returns process numbers of the interface's NAPI threads, `napi/INTERFACE-NUMBER`."""
    return [number for _, number in kernel_threads(f"napi/{interface}-")]
