"""Writes a file completely or not at all, so that no reader sees a part of it."""

import contextlib
import os
import tempfile
from pathlib import Path

from natxy.errors import StorageError


def write_whole(path: Path, text: str) -> None:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from None
