"""`--records`: every frame's record to a Parquet file, with packages that are an extra."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from natxy.errors import ConfigurationError
from natxy.procedure.setup import FrameRecords

RecordsOption = Annotated[
    Path | None,
    typer.Option("--records", help="A Parquet file for every frame's delay.", metavar="FILE"),
]


@contextmanager
def records_to(path: Path | None) -> Iterator[FrameRecords | None]:
    """None where none are asked for."""
    if path is None:
        yield None
        return
    try:
        from natxy.records.parquet_file import RecordsFile
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            f"--records: needs the Python package {missing.name}; `make records`, or "
            'pip install "natxy[records]", installs it'
        ) from None
    with RecordsFile(path) as records:
        yield records
