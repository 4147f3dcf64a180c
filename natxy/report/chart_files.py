"""The data of charts as files: CSV and, where pyarrow is installed, Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from natxy.report.charts import Chart
from natxy.report.csv_text import csv_text
from natxy.report.results_json import SCALED_DOWN
from natxy.whole_file import is_stream, whole_file, write_whole


def write_data(charts: Sequence[Chart], folder: Path, *, scaled_down: bool) -> None:
    """Writes the data of each plot; one that has none is not drawn, and has no file.

    The last column says whether the campaign was scaled down by --quick.
    """
    for chart in charts:
        if not chart.rows:
            for ending in ("csv", "parquet"):  # of an earlier report
                old = folder / f"{chart.key}.{ending}"
                if not is_stream(old):
                    old.unlink(missing_ok=True)
            continue
        rows = [{**row, SCALED_DOWN: scaled_down} for row in chart.rows]
        write_whole(folder / f"{chart.key}.csv", rows_csv(rows))
        write_parquet(rows, folder / f"{chart.key}.parquet")


def rows_csv(rows: Sequence[dict[str, Any]]) -> str:
    return csv_text(_names(rows), rows)


def write_parquet(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Writes a Parquet file; nothing where pyarrow is missing, since the CSV file has it all."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    columns = {name: [_whole(row.get(name)) for row in rows] for name in _names(rows)}
    # Not by its name, which need not be UTF-8.
    with whole_file(path) as temporary, temporary.open("wb") as file:
        pq.write_table(pa.table(columns), file)


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _whole(value: Any) -> Any:
    """Returns a text without half characters, which a Parquet file cannot have."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
