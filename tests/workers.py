"""The processes of a campaign on several testbeds: its workers, and where they listen."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

PATIENCE_S = 240  # the machine may be busy


@contextmanager
def started(
    command: Sequence[str], *, output: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Yields a process, which has ended afterwards with its descendants; it writes to `output`."""
    process = subprocess.Popen(command, stdout=output)
    try:
        yield process
    finally:
        for pid in reversed(list(family_of(process.pid))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def family_of(pid: int) -> Iterator[int]:
    """Yields a process and its descendants."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # it has ended
            for child in (thread / "children").read_text().split():
                yield from family_of(int(child))


def awaited(pid: int, program: str) -> int:
    """Returns the first descendant that runs this program."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for each in family_of(pid):
            with suppress(OSError):
                if program in Path(f"/proc/{each}/cmdline").read_text():
                    return each
        time.sleep(0.02)
    raise AssertionError(f"{program} has not started")


def parent_of(pid: int) -> int:
    """Returns the parent of an engine, which is a worker."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_parent_of(pid: int) -> None:
    """Kills the parent of an engine, which is a worker."""
    os.kill(parent_of(pid), signal.SIGKILL)


class Place(NamedTuple):
    """An address at which a process listens, by TCP or UDP."""

    ip: str
    port: int


def listening(pid: int) -> set[Place]:
    """Returns where a process and its descendants listen, as `ss -lntup` shows it."""
    import psutil  # comes with the extra `distributed`

    found: set[Place] = set()
    for each in family_of(pid):
        with suppress(psutil.NoSuchProcess):
            found |= {
                Place(*one.laddr)
                for one in psutil.Process(each).net_connections(kind="inet")
                if one.status == psutil.CONN_LISTEN
                or (one.status == psutil.CONN_NONE and one.laddr)
            }
    return found
