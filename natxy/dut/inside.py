"""Reads in network namespaces from this process: one thread enters them, and ends.

A program in the namespace would take some milliseconds, and the CPU of somebody.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from threading import Thread

from natxy.dut.namespaces import FOLDER

CLONE_NEWNET = 0x40000000  # linux/sched.h
LIBC = ctypes.CDLL(None, use_errno=True)  # os.setns exists since Python 3.12


def read_inside(reads: Mapping[str, Callable[[], None]]) -> None:
    """Calls each function in the network namespace with its name; not where there is none."""

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
