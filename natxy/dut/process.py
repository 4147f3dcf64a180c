"""A process that may have ended, and whose number may have been given to another one."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from natxy.errors import DutError

PATIENCE_S = 2.0
PF_KTHREAD = 0x0020_0000  # linux/sched.h: a thread of the kernel


class Process(NamedTuple):
    """A process, identified by its number and its start time in clock ticks since boot."""

    pid: int
    start_ticks: int

    @staticmethod
    def of(pid: int) -> "Process":
        return Process(pid=pid, start_ticks=_start_ticks(pid) or 0)

    def lives(self) -> bool:
        return _start_ticks(self.pid) == self.start_ticks

    def end(self) -> None:
        """Terminates the process, then kills it; DutError if it still runs."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.lives():
                with suppress(ProcessLookupError):
                    os.kill(self.pid, number)
            if within(PATIENCE_S, lambda: not self.lives()):
                return
        raise DutError(f"Process {self.pid} could not be ended.")


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Waits until the condition holds; False if it does not in that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def kernel_threads(prefix: str, proc: Path = Path("/proc")) -> list[tuple[str, int]]:
    """Returns the kernel's threads whose names begin so: what follows, and number.

    Any user can give a process such a name, but not the flag (field 9 of /proc/PID/stat).
    """
    found: list[tuple[str, int]] = []
    for path in proc.glob("[0-9]*/stat"):
        with suppress(OSError):  # the process ended meanwhile
            name, flags = _name_and_flags(path)
            if name.startswith(prefix) and flags & PF_KTHREAD:
                found.append((name.removeprefix(prefix), int(path.parent.name)))
    return found


def program_threads(proc: Path = Path("/proc")) -> list[int]:
    """Returns the numbers of the threads of all programs, without those of the kernel."""
    found: list[int] = []
    for path in proc.glob("[0-9]*/stat"):
        with suppress(OSError):  # the process ended meanwhile
            _, flags = _name_and_flags(path)
            if not flags & PF_KTHREAD:
                found += [int(each.name) for each in path.with_name("task").iterdir()]
    return found


def threads_of(process: int, proc: Path = Path("/proc")) -> list[int]:
    """Returns the numbers of a process's threads; none if it has ended."""
    with suppress(OSError):
        return [int(path.name) for path in (proc / str(process) / "task").iterdir()]
    return []


def cpu_time_ns(thread: int, proc: Path = Path("/proc")) -> int:
    """Returns for how long a thread has run; 0 if it has ended, or the kernel does not count."""
    with suppress(OSError):
        return int((proc / str(thread) / "schedstat").read_text().split()[0])
    return 0


def allowed_cpus(thread: int) -> set[int]:
    """Returns the CPUs on which a thread may run; none if it has ended."""
    with suppress(OSError):
        return os.sched_getaffinity(thread)
    return set()


def _name_and_flags(stat: Path) -> tuple[str, int]:
    before, _, after = stat.read_text(errors="replace").rpartition(")")
    return before.partition("(")[2], int(after.split()[6])


def _start_ticks(pid: int) -> int | None:
    """Returns field 22 of /proc/PID/stat; None if the process has ended or is a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # a program's name may hold blanks
    return None if fields[0] in "ZX" else int(fields[19])
