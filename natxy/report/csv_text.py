"""CSV that a spreadsheet reads as text and numbers: no label or message becomes a formula."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from natxy.report.one_line import one_line

# Spreadsheets take a cell for a formula that begins so; those of East Asia know wide signs.
FORMULA = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d*)?|\.\d+|inf|nan)([eE][+-]?\d+)?( (ns|µs|ms|s|%))?")


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns a line of heads, and one for each row."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Returns a number as it is, and a text that would be a formula behind an apostrophe."""
    if not isinstance(value, str):
        return value
    shown = one_line(value)
    return shown if NUMBER.fullmatch(shown) or not FORMULA.match(shown) else f"'{shown}"
