"""A Parquet file of every received frame, written whole or not at all.

The engine writes records into a pipe, which a thread empties into a file. While a trial runs, they
are only copied to a file without a name, the spool; it is read after the trial.
"""

import contextlib
import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from natxy.errors import ConfigurationError, ProtocolError, StorageError
from natxy.model.testbed import TrafficSection
from natxy.model.trial_record import TrialRecord
from natxy.whole_file import whole_file

CHUNK_BYTES = 1 << 20  # also the length of the pipe: the largest that a user may set
MARK = b"natxy: the end of this trial".ljust(32, b"\0")  # has a record's length, but is not one
MARK_LIMIT_S = 60.0
# A frame's record as the engine writes it (docs/reference/engine-protocol.md).
RECORD = np.dtype(
    [
        ("number", "<u8"),
        ("departure_ns", "<f8"),  # since the phase's start
        ("delay_ns", "<f8"),
        ("phase", "u1"),
        ("direction", "u1"),
        ("kind", "u1"),
        ("status", "u1"),
        ("nonce", "<u4"),
    ]
)
DIRECTIONS = ("forward", "reverse")
KINDS = ("foreground", "background")
STATUSES = ("received", "late", "duplicate")
ROW_GROUP_RECORDS = 1 << 20
WORD = pa.dictionary(pa.int8(), pa.string())
SCHEMA = pa.schema(
    [
        ("trial", pa.int32()),  # as in the journal
        ("repetition", pa.int32()),
        ("frame_size_bytes", pa.int32()),
        ("foreground_percent", pa.float64()),
        ("phase", WORD),
        ("direction", WORD),
        ("kind", WORD),
        ("number", pa.uint64()),
        ("departure_ns", pa.float64()),
        ("delay_ns", pa.float64()),
        ("status", WORD),
    ]
)


class RecordsFile:
    """A context manager around the tester, whose engine gets `fd`; if it fails, no file is left."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        try:
            with contextlib.ExitStack() as opened:
                temporary = opened.enter_context(whole_file(self.path, new=True))
                self._pipe = opened.enter_context(RecordsPipe(temporary.parent))
                file = opened.enter_context(temporary.open("wb"))  # its name need not be UTF-8
                writer = pq.ParquetWriter(file, SCHEMA, compression="zstd")
                self._writer = opened.enter_context(writer)
                self._opened = opened.pop_all()
        except StorageError as error:  # before anything is measured
            raise ConfigurationError(*error.args) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    @property
    def fd(self) -> int:
        return self._pipe.fd

    def keep(self, trial: TrialRecord, traffic: TrafficSection) -> None:
        """Writes the records of the trial that has just ended."""
        try:
            for octets in self._pipe.batches(RECORD.itemsize, ROW_GROUP_RECORDS):
                records = np.frombuffer(octets, dtype=RECORD)
                own = records[records["nonce"] == trial.result.nonce]
                self._writer.write_batch(_batch(own, trial, traffic, trial.phases))
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {_why(error)}") from None

    def drop(self) -> None:
        """Discards the records of an invalid trial."""
        self._pipe.drop()


def _batch(
    records: Any, trial: TrialRecord, traffic: TrafficSection, phases: Sequence[str]
) -> pa.RecordBatch:
    def all_of(value: float, kind: pa.DataType) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind), len(records))

    def words(column: str, names: Sequence[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(
            pa.array(records[column].astype(np.int8)), pa.array(names, pa.string())
        )

    columns = {
        "trial": all_of(trial.number, pa.int32()),
        "repetition": all_of(trial.repetition, pa.int32()),
        "frame_size_bytes": all_of(traffic.frame_size_bytes, pa.int32()),
        "foreground_percent": all_of(traffic.m / traffic.n * 100, pa.float64()),
        "phase": words("phase", phases),
        "direction": words("direction", DIRECTIONS),
        "kind": words("kind", KINDS),
        "number": pa.array(np.ascontiguousarray(records["number"])),
        "departure_ns": pa.array(np.ascontiguousarray(records["departure_ns"])),
        "delay_ns": pa.array(np.ascontiguousarray(records["delay_ns"])),
        "status": words("status", STATUSES),
    }
    return pa.RecordBatch.from_pydict(columns, schema=SCHEMA)


def _why(error: OSError) -> str:
    """Returns the system's message, which is shorter than Arrow's."""
    return os.strerror(error.errno) if error.errno else str(error)


class RecordsPipe:
    """The engine writes to `fd`; after a trial, `batches` yields the records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spool: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by close)
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
