"""Opens the file of records; its Python packages are an extra that only records need."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from natxy.errors import ConfigurationError
from natxy.setting import Setting
from natxy.trial.session import FrameRecords

RECORDS = Setting(
    "records",
    "New Parquet file for a record of every received frame, with its delay",
    "FILE",
    default="none",
    panel="Output",
    short="New Parquet file for a record of every frame",
)


@contextmanager
def records_to(path: Path | None) -> Iterator[FrameRecords | None]:
    """Yields the file for records, None without a path; it is written whole or not at all."""
    if path is None:
        yield None
        return
    try:
        from natxy.records.parquet_file import RecordsFile
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            RECORDS,
            f": the Python package {missing.name} is not installed (`make records` or pip install "
            '"natxy[records]" installs it)',
        ) from None
    with RecordsFile(path) as records:
        yield records
