"""The journal: one record a line, as JSON, on the disk before the next trial starts.

The first line describes the campaign, each further one a trial or a result. Lines that are written
together are read together, or not at all (gzip_lines.py).

The provenance of a result is in it: all that another person needs to repeat it.
"""

import errno
import json
import os
import platform
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

import natxy
from natxy.campaign.bucket_columns import pack_buckets, unpack_buckets, widen
from natxy.campaign.fewer_runs import shorten
from natxy.campaign.gzip_lines import GzipLines, groups
from natxy.errors import ConfigurationError, StorageError
from natxy.model.base import Model
from natxy.model.refusal import first_refusal, path_text
from natxy.model.trial_record import Collapse, TrialRecord
from natxy.trial.observer import Observer
from natxy.trial.session import Session

FILE_NAME = "journal.jsonl.gz"
VERSION = 5
MAX_BYTES = 2**30
GZIP = b"\x1f\x8b"  # the first octets of a gzip file (RFC 1952 section 2.3.1)


class Records(Observer):
    """An observer of a procedure that keeps a record of every trial that is run, here as JSON."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, *records: Model) -> None:
        """Keeps the records together, so that there are all or none of them."""
        self.records += [record.model_dump(mode="json") for record in records]

    def trial_ended(self, trial: TrialRecord) -> None:
        self.append(trial)

    def trial_read(self, trial: TrialRecord) -> None:
        """Keeps nothing: the journal has the trial."""

    def collapsed(self, collapse: Collapse) -> None:
        self.append(collapse)


class Journal(Records):
    """Writes records to the journal."""

    _tick_hz = 0  # rate of the engine's clock, from the last provenance; 0: unknown

    def __init__(self, path: Path, header: Mapping[str, Any], *, replace: bool = False) -> None:
        super().__init__()
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK  # a pipe refuses
        flags |= os.O_TRUNC if replace else os.O_EXCL
        _make_folder(path.parent)
        try:
            self._file = os.open(path, flags, 0o666)
        except FileExistsError:
            _refuse_existing(path)
            raise
        except OSError as error:
            raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise ConfigurationError(f"{path}: is not a file (expected a new one, or a journal)")
        self._lines = GzipLines(self._file)
        self.append_written([{"record": "campaign", "version": VERSION, **header}])

    @classmethod
    def reopened(cls, path: Path) -> Self:
        """Returns a journal that goes on; a last line without an end is cut off first."""
        journal = cls.__new__(cls)
        journal.path = path
        try:
            size, ending = 0, b""
            for group in groups(_octets_of(path)):
                size, ending = group.end, group.ending
            journal._file = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.ftruncate(journal._file, size)
            journal._lines = GzipLines(journal._file, ending)
        except OSError as error:
            raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from None
        except zlib.error as error:
            raise ConfigurationError(f"{path}: cannot be read as a journal: {error}") from None
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            with suppress(OSError):  # it can be read without its end
                self._lines.end()
            os.close(self._file)
            self._file = -1

    def append(self, *records: Model) -> None:
        """Writes the records as one group, so that the file holds all or none of them."""
        self.append_written([record.model_dump(mode="json") for record in records])

    def append_written(self, records: list[dict[str, Any]]) -> None:
        """Writes records that are JSON already, as one group."""
        text = "".join(map(self._text, records))
        try:
            self._lines.append(text.encode(errors="backslashreplace"))
        except OSError as error:
            raise StorageError(
                f"{self.path}: cannot be written: {error.strerror}; the journal holds the trials "
                "before this one"
            ) from None

    def _text(self, record: dict[str, Any]) -> str:
        self._tick_hz = _tick_hz(record) or self._tick_hz
        if record["record"] == "trial":
            widen(record)
            shorten(record)
        pack_buckets(record, self._tick_hz)
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def check_new(path: Path) -> None:
    """Raises ConfigurationError if no journal can be made there; makes nothing."""
    _refuse_existing(path)
    above = next(parent for parent in path.parents if parent.exists())
    if not above.is_dir():
        raise _no_folder(path.parent)
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigurationError(f"{path.parent}: cannot be created in {above}: Permission denied")


def _no_folder(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: is not a folder (expected a folder for the journal and the results)"
    )


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise ConfigurationError(
            f"{path}: already exists and is not overwritten (expected a folder without one)"
        ) from None


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise _no_folder(path) from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be created: {error.strerror}") from None


def _tick_hz(record: Mapping[str, Any]) -> int:
    """Returns the rate of the engine's clock if the record has a tester's provenance, else 0."""
    provenance = record.get("provenance", record)
    rate: int = provenance.get("tester", {}).get("tsc_hz", 0)
    return rate


def read_journal(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yields the records; each bucket of a distribution is [lower_ns, upper_ns, count].

    Skips a last line without an end, which a power cut leaves. Raises ConfigurationError if the
    file cannot be read, after the lines before the place of the fault.
    """
    try:
        for line in _lines(_octets_of(Path(path))):
            record = json.loads(line)
            _check_version(record)
            with as_journal(Path(path)):
                unpack_buckets(record)
            yield record
    except (OSError, zlib.error, ValueError, RecursionError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise ConfigurationError(f"{path}: cannot be read as a journal: {reason}") from None


@contextmanager
def as_journal(path: Path) -> Iterator[None]:
    """Refuses records of a stranger's file that are not as a journal's are."""
    try:
        yield
    except ValidationError as error:
        place, sentence = first_refusal(error, Any)
        raise _not_as_written(path, f"{path_text(place)} {sentence}") from None
    except KeyError as error:
        raise _not_as_written(path, f"{error.args[0]} is missing") from None
    except (TypeError, AttributeError, IndexError, ValueError, ArithmeticError) as error:
        raise _not_as_written(path, str(error)) from None


def _not_as_written(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: cannot be read as a journal: a record is not as Natxy writes it: {why}"
    )


def _octets_of(path: Path) -> bytes:
    """Returns what the file holds: reading a pipe waits, and reading a device may not end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is not a file")
    if found.st_size > MAX_BYTES:
        raise OSError(errno.EFBIG, f"is too large (expected at most {MAX_BYTES:,} octets)")
    return path.read_bytes()


def _check_version(record: Any) -> None:
    if not isinstance(record, dict) or "record" not in record:
        raise ValueError("a line is no record")
    if record["record"] == "campaign" and (version := record.get("version")) != VERSION:
        raise ValueError(f"its version is {version} (expected {VERSION})")


def _lines(data: bytes) -> Iterator[bytes]:
    texts = (group.text for group in groups(data)) if data.startswith(GZIP) else iter([data])
    torn = b""
    for text in texts:
        *lines, torn = (torn + text).split(b"\n")
        yield from lines


def provenance(session: Session, *, seed: int | None, command: Sequence[str]) -> dict[str, Any]:
    return {
        "natxy_version": natxy.__version__,
        "command": list(command),
        "seed": seed,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": _host(),
        "testbed": session.testbed.model_dump(mode="json"),
        "dut": session.dut.describe(),
        "tester": session.hello.model_dump(mode="json"),
    }


def _host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "load_average": list(os.getloadavg()),
    }
