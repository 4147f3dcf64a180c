"""The pipe that the engine writes records into, and the thread that empties it into a file.

While a trial runs, records are only copied to a file without a name, the spool; it is read after
the trial.
"""

import contextlib
import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from natxy.errors import ProtocolError, StorageError

CHUNK_BYTES = 1 << 20  # also the length of the pipe: the largest that a user may set
MARK = b"natxy: the end of this trial".ljust(32, b"\0")  # has a record's length, but is not one
MARK_LIMIT_S = 60.0


class RecordsPipe:
    """The engine writes to `fd`; after a trial, `batches` yields the records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spool: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._read_fd, self.fd = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        self._marked = threading.Semaphore(0)
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._read, name="natxy-records", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)  # the last copy, since the engine has ended: the thread reads the end
        self._thread.join(MARK_LIMIT_S)
        os.close(self._read_fd)
        with contextlib.suppress(OSError):  # a full disk, which was reported before
            self._spool.close()

    def batches(self, record_bytes: int, records: int) -> Iterator[bytes]:
        """Yields the trial's records, so many at once; for use after the engine sent the result."""
        length = self._settled()
        if length % record_bytes:
            raise ProtocolError(
                f"natxy-engine wrote {length} octets of records (expected a multiple of "
                f"{record_bytes})"
            )
        self._spool.seek(0)
        for begin in range(0, length, record_bytes * records):
            yield self._spool.read(min(record_bytes * records, length - begin))
        self.drop()

    def drop(self) -> None:
        """Discards the records and frees the spool's space on the disk."""
        self._settled()
        self._spool.seek(0)
        self._spool.truncate()

    def _settled(self) -> int:
        """Waits until all that was written is in the spool, and returns its length in octets."""
        os.write(self.fd, MARK)
        if not self._marked.acquire(timeout=MARK_LIMIT_S):
            raise StorageError(
                f"{self._folder}: the disk did not write the records of a trial within "
                f"{MARK_LIMIT_S:g} s after its end"
            )
        if self._failure is not None:
            raise StorageError(
                f"{self._folder}: records cannot be written: {self._failure.strerror}"
            )
        return self._spool.seek(0, os.SEEK_END)

    def _read(self) -> None:
        """Copies the pipe to the spool until its end; a full disk does not stop the engine."""
        tail = b""
        while data := os.read(self._read_fd, CHUNK_BYTES):
            tail = (tail + data)[-len(MARK) :]
            self._spool_up(data)
            if tail == MARK:
                self._take_back(len(MARK))
                self._marked.release()

    def _spool_up(self, data: bytes) -> None:
        if self._failure is not None:
            return
        try:
            self._spool.write(data)
            self._spool.flush()
        except OSError as failure:
            self._failure = failure

    def _take_back(self, octets: int) -> None:
        if self._failure is None:
            self._spool.truncate(self._spool.seek(-octets, os.SEEK_END))
