"""A report's files: the data of its charts, and the list by which a new report leaves none of an
earlier one.

The data are CSV and, where pyarrow is installed, Parquet.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from natxy.report.charts import Chart
from natxy.report.results_csv import FILE_NAME as RESULTS_CSV
from natxy.report.results_csv import csv_text
from natxy.report.results_json import SCALED_DOWN
from natxy.whole_file import is_stream, whole_file, write_whole

LIST = ".natxy-report"
HEAD = "# The files of a report by Natxy; the next report in this folder removes them."
FOLDERS = ((), ("data",))  # that a report writes
ENDINGS = {  # of what it writes
    *(".txt", ".md", ".csv", ".tex", ".xml", ".html"),
    *(".parquet", ".svg", ".pdf", ".hgrm"),
}


def keep_only(written: Sequence[Path], folder: Path) -> None:
    """Removes the files of the folder that an earlier report has listed and this one has not
    written, and lists those that it has. Other files stay."""
    names = sorted({path.relative_to(folder).as_posix() for path in written if path.exists()})
    for name in sorted(set(_listed(folder)) - set(names)):
        with contextlib.suppress(OSError, ValueError):  # a name that no file can have
            _remove(folder / name, folder)
    write_whole(folder / LIST, "".join(f"{line}\n" for line in (HEAD, *names)))


def _remove(old: Path, folder: Path) -> None:
    inside = old.resolve().is_relative_to(folder.resolve())
    if inside and old.is_file() and not is_stream(old):
        old.unlink()


def _listed(folder: Path) -> list[str]:
    """Returns the names of the list that a report may have written; a list is only text."""
    path = folder / LIST
    try:
        head, *lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else ("",)
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if _is_of_a_report(line)] if head == HEAD else []


def _is_of_a_report(line: str) -> bool:
    name = PurePosixPath(line)
    is_listed_as_written = line == name.as_posix() and name.parent.parts in FOLDERS
    return is_listed_as_written and name.suffix in ENDINGS and name.name != RESULTS_CSV


def write_data(charts: Sequence[Chart], folder: Path, *, scaled_down: bool) -> list[Path]:
    """Writes the data of each plot, and returns the files; a plot that has none has no file.

    The last column says whether the campaign was scaled down by --quick.
    """
    written = []
    for chart in (each for each in charts if each.rows):
        rows = [{**row, SCALED_DOWN: scaled_down} for row in chart.rows]
        text, table = (folder / f"{chart.key}.{ending}" for ending in ("csv", "parquet"))
        write_whole(text, rows_csv(rows))
        written += [text, table] if write_parquet(rows, table) else [text]
    return written


def rows_csv(rows: Sequence[dict[str, Any]]) -> str:
    return csv_text(_names(rows), rows)


def write_parquet(rows: Sequence[dict[str, Any]], path: Path) -> bool:
    """Writes a Parquet file and returns True; where pyarrow is missing, it writes none, since the
    CSV file has it all."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return False
    columns = {name: [_whole(row.get(name)) for row in rows] for name in _names(rows)}
    # Not by its name, which need not be UTF-8.
    with whole_file(path) as temporary, temporary.open("wb") as file:
        pq.write_table(pa.table(columns), file)
    return True


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _whole(value: Any) -> Any:
    """Returns a text without half characters, which a Parquet file cannot have."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
