"""Writes a file completely or not at all, so that no reader sees a part of it.

A device, a pipe or an open file such as /dev/stdout is written into; nothing takes its place.
"""

import contextlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from natxy.errors import ConfigurationError, StorageError


def write_whole(path: Path, text: str, *, new: bool = False) -> None:
    with whole_file(path, new=new) as temporary:
        # Half characters, of a folder's name that is no UTF-8, get JSON's notation.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextlib.contextmanager
def whole_file(path: Path, *, new: bool = False) -> Iterator[Path]:
    """Yields a temporary file, which takes the path's place if what is done with it succeeds.

    With `new`, raises ConfigurationError if there is a file already. A link is kept: its target is
    written.
    """
    try:
        if is_stream(path):
            with tempfile.NamedTemporaryFile() as temporary:
                yield Path(temporary.name)
                _pour(Path(temporary.name), path)
            return
        _refuse_existing(path, new=new)
        with _beside(Path(os.path.realpath(path))) as temporary_path:
            yield temporary_path
            _refuse_existing(path, new=new)  # another program may have made it meanwhile
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise StorageError(f"{path}: cannot be written: {reason}") from None


def is_stream(path: Path) -> bool:
    """Tells whether the path is no name of a regular file, so that it can only be written into."""
    if _descriptor(path) is not None:
        return True
    try:
        kind = path.stat().st_mode
    except OSError:  # what is done with it says why
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _descriptor(path: Path) -> int | None:
    """Returns the number of the open file that a path such as /dev/stdout names; None: of none."""
    for _ in range(40):  # as many links as the kernel follows
        if Path(os.path.realpath(path.parent)) == Path(f"/proc/{os.getpid()}/fd"):
            return int(path.name) if path.name.isdecimal() else None
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _refuse_existing(path: Path, *, new: bool) -> None:
    if new and path.exists():
        raise ConfigurationError(
            f"{path}: already exists and is not overwritten (expected the name of a new file)"
        )


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yields a file in the same folder, and renames it; it has the owner and the mode of the file
    that it replaces, else those that the umask gives."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".natxy-{secrets.token_hex(8)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.closing(os.fdopen(descriptor, "wb")) as file:
            _like(file.fileno(), path)
            yield temporary
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _like(descriptor: int, path: Path) -> None:
    """Gives a new file the owner and the mode of the one at the path, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        known = path.stat()
        with contextlib.suppress(OSError):  # only root gives a file to somebody else
            os.fchown(descriptor, known.st_uid, known.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(known.st_mode))


def _pour(source: Path, path: Path) -> None:
    """Writes what a file holds into a device, a pipe or an open file."""
    number = _descriptor(path)
    if number is None and stat.S_ISBLK(path.stat().st_mode):
        raise StorageError(f"{path}: is a disk and is not overwritten (expected a file)")
    if sys.stdout is not None:
        sys.stdout.flush()  # what was printed before comes first
    into = os.open(path, os.O_WRONLY | os.O_NOCTTY) if number is None else os.dup(number)
    with source.open("rb") as whole, os.fdopen(into, "wb") as target:
        shutil.copyfileobj(whole, target)
