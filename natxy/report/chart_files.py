"""The data of charts as files: CSV and, where pyarrow is installed, Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from natxy.report.charts import Chart
from natxy.report.csv_text import csv_text
from natxy.report.results_json import SCALED_DOWN
from natxy.whole_file import whole_file, write_whole


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
