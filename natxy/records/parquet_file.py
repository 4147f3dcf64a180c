"""A Parquet file of every received frame, written whole or not at all."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from natxy.errors import ConfigurationError, StorageError
from natxy.model.testbed import TrafficSection
from natxy.model.trial_record import TrialRecord
from natxy.records.pipe import RecordsPipe
from natxy.whole_file import whole_file

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
