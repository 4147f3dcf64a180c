"""Claims ports and CPUs, because two testers on the same one disturb each other's trials.

A claim is a locked file that holds its owner's process number and command. The kernel releases the
lock when the process ends, however it ends. The files are in /run/natxy, or, if that cannot be
written, in a folder of the user, where testers of other users are not seen.
"""

import fcntl
import hashlib
import os
import shlex
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from natxy.errors import InUse
from natxy.model.testbed import TesterSection
from natxy.model.trial_spec import Side
from natxy.runtime_folder import SYSTEM, is_made, runtime_folder
from natxy.tester.port_identity import port_identity

VARIABLE = "NATXY_LOCKS"
PATIENCE_S = 0.5  # a process that sweeps the folder holds each lock for a moment
SHOWN_CHARACTERS = 80
SIDES: tuple[Side, ...] = ("left", "right")


class Claims:
    """The claims of one tester, a context manager that gives them back at its end.

    Testers of one process share its CPUs: its author decides how.
    """

    def __init__(self) -> None:
        self._folder = lock_folder()
        self._ports: dict[str, IO[str]] = {}
        self._cpus: list[int] = []

    def __enter__(self) -> Self:
        _sweep(self._folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._ports.values():
            _give_back(file)
        _OWN_CPUS.give_back(self._cpus)

    def take_cpus(self, numbers: Iterable[int]) -> None:
        """Claims CPUs; raises InUse, which names the owner, if one is taken."""
        for number in numbers:
            _OWN_CPUS.take(self._folder, number)
            self._cpus.append(number)

    def take_ports(self, tester: TesterSection, namespace: str | None) -> None:
        """Claims the ports that other processes could use; InUse if one is taken.

        `namespace` is the network namespace of the engine.
        """
        for side in SIDES:
            device = tester.port(side).device
            port = port_identity(device, namespace) if device else None
            if port is not None and port.key not in self._ports:
                digest = hashlib.sha256(port.key.encode()).hexdigest()[:16]
                path = self._folder / f"port-{digest}.lock"
                self._ports[port.key] = _take(path, f"tester.{side}.device: {port.name}", "port")


class _OwnCpus:
    """The claimed CPUs of all testers of this process, with one lock each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[int, IO[str]] = {}
        self._uses: Counter[int] = Counter()

    def take(self, folder: Path, number: int) -> None:
        with self._lock:
            if number not in self._files:
                path = folder / f"cpu-{number}.lock"
                self._files[number] = _take(path, f"tester.cores: CPU {number}", "CPU")
            self._uses[number] += 1

    def give_back(self, numbers: Iterable[int]) -> None:
        with self._lock:
            for number in numbers:
                self._uses[number] -= 1
                if not self._uses[number]:
                    _give_back(self._files.pop(number))


_OWN_CPUS = _OwnCpus()


def lock_folder() -> Path:
    """Returns the folder of the lock files, which exists.

    NATXY_LOCKS names another folder, for testers that are separated by other means.
    """
    given = os.environ.get(VARIABLE)
    if given and is_made(Path(given)):
        return Path(given)
    folder = None if given else runtime_folder()
    if folder is None:
        where = f"{VARIABLE}: {given}" if given else f"{SYSTEM} and the temporary folder"
        raise InUse(f"{where}: cannot be written (expected a writable folder for the lock files)")
    return folder


def _take(path: Path, what: str, kind: str) -> IO[str]:
    end = time.monotonic() + PATIENCE_S
    while True:
        file = path.open("a+")
        if _lock_now(file):
            _sign(file)
            return file
        file.seek(0)
        owner = file.read().strip()
        file.close()
        if time.monotonic() > end:
            raise InUse(
                f"{what} is in use by {owner or 'another process'} (expected a free {kind})"
            )
        time.sleep(PATIENCE_S / 20)


def _lock_now(file: IO[str]) -> bool:
    """Returns False if another process has locked the file, or has removed it meanwhile."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    except FileNotFoundError:
        return False


def _sign(file: IO[str]) -> None:
    program, *arguments = sys.argv
    name = "python" if program in ("", "-c", "-m") else Path(program).name
    command = shlex.join([name, *arguments])
    if len(command) > SHOWN_CHARACTERS:
        command = command[: SHOWN_CHARACTERS - 3] + "..."
    file.truncate(0)
    file.write(f"process {os.getpid()} ({command})\n")
    file.flush()


def _give_back(file: IO[str]) -> None:
    """Removes the file while it is locked, so that a process that opened it sees that it went."""
    Path(file.name).unlink(missing_ok=True)
    file.close()


def _sweep(folder: Path) -> None:
    """Removes the files of killed processes, whose locks the kernel has released."""
    for path in folder.glob("*.lock"):
        try:
            file = path.open("r+")
        except OSError:
            continue
        if _lock_now(file):
            _give_back(file)
        else:
            file.close()
