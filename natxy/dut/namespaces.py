"""Makes network namespaces, reads in them, and removes them with the processes in them.

This needs capabilities (capabilities(7)), as all else that a lab does.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread

from natxy.dut.execution import execute
from natxy.dut.process import Process
from natxy.errors import DutError

FOLDER = Path("/run/netns")
CLONE_NEWNET = 0x40000000  # linux/sched.h
LIBC = ctypes.CDLL(None, use_errno=True)  # os.setns exists since Python 3.12
CAPABILITIES = {  # linux/capability.h
    "CAP_DAC_OVERRIDE": 1,
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_SYS_NICE": 23,
}
# Namespaces and their mounts; links, routes and settings; the tester's ports, and their memory; the
# CPUs of the gateway's threads.
OF_A_LAB = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_SYS_NICE")
# Of other users than root, whom /run/netns and /sys do not belong to.
OF_OTHERS = ("CAP_DAC_OVERRIDE",)
STATUS = Path("/proc/self/status")


def needed_for_a_lab() -> tuple[str, ...]:
    """Returns the capabilities that a lab of this user needs."""
    return OF_A_LAB if os.geteuid() == 0 else (*OF_A_LAB, *OF_OTHERS)


def lacking_for_a_lab() -> tuple[str, ...]:
    """Returns the capabilities that a lab needs and this process has not."""
    lines = STATUS.read_text().splitlines()
    (held,) = (int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return tuple(name for name in needed_for_a_lab() if not held >> CAPABILITIES[name] & 1)


def need_capabilities() -> None:
    """Raises DutError if this process may not do what a lab needs."""
    if lacking := lacking_for_a_lab():
        raise DutError(
            f"A lab needs {', '.join(lacking)}, which this process has not (expected root, for "
            "example by sudo; docs/privileges.md has what each is for)."
        )


def make_namespace(name: str) -> None:
    execute(["ip", "netns", "add", name])


def namespace_exists(name: str) -> bool:
    return (FOLDER / name).exists()


def remove_namespace(name: str) -> None:
    """Ends the namespace's processes, which would keep it alive, and removes it."""
    if not namespace_exists(name):
        return
    end_processes(name)
    execute(["ip", "netns", "del", name])


def end_processes(name: str) -> None:
    """Ends the namespace's processes; DutError if new ones keep starting."""
    for _ in range(3):
        pids = execute(["ip", "netns", "pids", name]).split()
        if not pids:
            return
        for pid in pids:
            Process.of(int(pid)).end()
    raise DutError(
        f"New processes keep starting in namespace {name}: end them, then remove the namespace."
    )


def read_inside(reads: Mapping[str, Callable[[], None]]) -> None:
    """Calls each function in the network namespace with its name; not where there is none.

    One thread of this process enters them, and ends. A program in the namespace would take some
    milliseconds, and the CPU of somebody.
    """

    def work() -> None:
        for name, read in reads.items():
            if _enter(name):
                read()

    thread = Thread(target=work)
    thread.start()
    thread.join()


def _enter(name: str) -> bool:
    """Moves this thread, and nothing else of the process, into the namespace."""
    try:
        descriptor = os.open(FOLDER / name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return int(LIBC.setns(descriptor, CLONE_NEWNET)) == 0
    finally:
        os.close(descriptor)
