"""Writes a file completely or not at all, so that no reader sees a part of it."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from natxy.errors import StorageError


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields a temporary file, which takes the path's place if what is done with it succeeds."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        os.close(descriptor)
        yield Path(temporary)
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise StorageError(f"{path}: cannot be written: {error.strerror}") from None
        raise
