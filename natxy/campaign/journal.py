"""The journal: one record a line, as JSON, on the disk before the next trial starts.

The first line describes the campaign, each further one a trial or a result. A line that could not
be written whole is removed again, so that every line can be read.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from natxy.errors import ConfigurationError, StorageError
from natxy.model.base import Model
from natxy.model.trial_record import TrialRecord
from natxy.trial.observer import Observer

FILE_NAME = "journal.jsonl"


class Journal(Observer):
    """An observer of a procedure that writes every trial to the journal."""

    def __init__(self, path: Path, header: Mapping[str, Any], *, replace: bool = False) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if replace else os.O_EXCL)
        _make_folder(path.parent)
        try:
            self._file = os.open(path, flags, 0o644)
        except FileExistsError:
            raise ConfigurationError(
                f"{path}: already exists and is not overwritten (expected a folder without one)"
            ) from None
        except OSError as error:
            raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from None
        self._append({"record": "campaign", "version": 1, **header})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def trial_ended(self, trial: TrialRecord) -> None:
        self.append(trial)

    def append(self, record: Model) -> None:
        self._append(record.model_dump(mode="json"))

    def _append(self, record: Mapping[str, Any]) -> None:
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        whole_bytes = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, whole_bytes)
            raise StorageError(
                f"{self.path}: cannot be written: {error.strerror}; the journal holds the trials "
                "before this one"
            ) from None


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigurationError(
            f"{path}: is not a folder (expected a folder for the journal and the results)"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be created: {error.strerror}") from None


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the records; it skips a last line without an end, which a power cut leaves."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)
