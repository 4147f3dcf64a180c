"""Makes network namespaces, and removes them with the processes in them."""

import os
from pathlib import Path

from natxy.dut.execution import execute
from natxy.dut.process import Process
from natxy.errors import DutError

FOLDER = Path("/run/netns")


def need_root() -> None:
    if os.geteuid() != 0:
        raise DutError("A lab makes network namespaces, which only root may do (expected sudo).")


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
