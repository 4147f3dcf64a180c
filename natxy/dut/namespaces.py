"""Makes network namespaces, reads in them, and removes them with the processes in them."""

import ctypes
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread

from natxy.dut.capabilities import lacking_for_a_lab
from natxy.dut.execution import execute
from natxy.dut.process import Process
from natxy.errors import DutError

FOLDER = Path("/run/netns")
CLONE_NEWNET = 0x40000000  # linux/sched.h
LIBC = ctypes.CDLL(None, use_errno=True)  # os.setns exists since Python 3.12


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
