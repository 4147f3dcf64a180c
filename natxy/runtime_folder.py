"""The folder of files that live no longer than their process: locks, and the records of labs."""

import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import IO

SYSTEM = Path("/run/natxy")
UNUSABLE = f"{SYSTEM} and the temporary folder: cannot be written"  # or others can, too


def runtime_folder() -> Path | None:
    """Returns /run/natxy or, if this user cannot write there, a folder of the user, which processes
    of other users do not look into. The folder exists. None: none can be used.

    A folder in which another user can replace files is not used: it would name what a lab's end
    removes.
    """
    for folder in (SYSTEM, _own_folder()):
        if is_made(folder) and _is_safe(folder):
            return folder
    return None


def _own_folder() -> Path:
    user, given = os.getuid(), os.environ.get("XDG_RUNTIME_DIR")
    of_login = Path(given or f"/run/user/{user}")
    if given or of_login.is_dir():
        return of_login / "natxy"
    return Path(tempfile.gettempdir()) / f"natxy-{user}"


def _is_safe(folder: Path) -> bool:
    """Returns whether it is a folder, no link to one, whose files only root and this user replace.

    In a folder with the sticky bit, others can make files, but not replace them.
    """
    found = folder.lstat()
    own = found.st_uid == os.getuid() or folder == SYSTEM  # only root makes that one
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    closed = not others_write or found.st_mode & stat.S_ISVTX
    return bool(stat.S_ISDIR(found.st_mode) and own and closed)


def opened(path: Path, mode: str) -> IO[str]:
    """Opens a file of the folder; OSError if it is a link, which another user may have made."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, 0o644)

    # A command line, with which a lock is signed, may hold octets that are no UTF-8.
    return open(path, mode, encoding="utf-8", errors="backslashreplace", opener=opener)


def is_made(folder: Path) -> bool:
    """Makes a folder if it is missing; returns False if this user cannot write there."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def remove_dpdk_folder(pid: int) -> None:
    """Removes the folder that DPDK made for an engine, or a calibration gateway, that has ended.

    The program itself removes it, unless it was killed.
    """
    for name in (f"natxy-{pid}", f"natxy-gateway-{pid}"):
        shutil.rmtree(_of_dpdk() / name, ignore_errors=True)  # also does not follow a link


def sweep_dpdk_folders() -> None:
    """Removes DPDK's folders of processes that ended together with those that started them."""
    for path in _of_dpdk().glob("natxy-*"):
        number = path.name.rpartition("-")[2]
        if number.isdecimal() and not Path("/proc", number).exists():
            remove_dpdk_folder(int(number))


def _of_dpdk() -> Path:
    """Returns where DPDK makes folders, as its eal_create_runtime_dir decides it."""
    given = os.environ.get("RUNTIME_DIRECTORY")
    if not given:
        given = "/var/run" if os.getuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")
    return Path(given) / "dpdk"


def lock_now(file: IO[str]) -> bool:
    """Locks a file; returns False if another process has locked it, or removed it meanwhile."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    except (BlockingIOError, FileNotFoundError):
        return False
