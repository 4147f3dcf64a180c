"""The folder of files that live no longer than their process: locks, and the records of labs."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

SYSTEM = Path("/run/natxy")


def runtime_folder() -> Path | None:
    """Returns /run/natxy or, if this user cannot write there, a folder of the user, which processes
    of other users do not look into. The folder exists. None: neither can be written.

    A folder that another user has made is not used: it could name what a lab's end removes.
    """
    if is_made(SYSTEM):
        return SYSTEM
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    temporary = Path(tempfile.gettempdir()) / f"natxy-{os.getuid()}"
    own = Path(runtime) / "natxy" if runtime else temporary
    return own if is_made(own) and own.stat().st_uid == os.getuid() else None


def is_made(folder: Path) -> bool:
    """Makes a folder if it is missing; returns False if this user cannot write there."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def lock_now(file: IO[str]) -> bool:
    """Locks a file; returns False if another process has locked it, or removed it meanwhile."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    except (BlockingIOError, FileNotFoundError):
        return False
