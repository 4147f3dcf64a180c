"""A plot as a Vega-Lite specification with its data, and what all plots share.

https://vega.github.io/vega-lite/docs/: a specification says what is drawn; the library that draws
it, in a browser or as a file, is vl-convert's (`pip install natxy[report]`). No specification has a
legend: the report writes it as HTML, which wraps on a narrow screen and cuts no long name.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
LONGEST_NAME_BYTES = 120  # of a file, with room for -2 and .parquet
LONGEST_LABEL_PX = 300  # of an axis; Vega would cut it at 180
Rows = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    key: str  # of its data in files: "throughput"
    title: str
    spec: dict[str, Any]
    rows: Rows  # what is drawn, one mapping a point


def file_name(words: str) -> str:
    """Returns a label as a part of a file's name: never hidden, empty, or too long for a disk."""
    name = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", words))
    return _cut(name.strip("-.")).rstrip("-.") or "plot"


def _cut(name: str) -> str:
    return name.encode()[:LONGEST_NAME_BYTES].decode(errors="ignore")


def named_apart(charts: Sequence[Chart]) -> list[Chart]:
    """Returns the charts with keys of which no two are one name of a file, also where a file system
    does not tell capital letters. The second of a name gets -2; the first charts keep theirs."""
    taken: set[str] = set()
    named = []
    for each in charts:
        keys = chain([each.key], (f"{each.key}-{number}" for number in count(2)))
        key = next(key for key in keys if _folded(key) not in taken)
        taken.add(_folded(key))
        named.append(replace(each, key=key))
    return named


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def chart(key: str, title: str, rows: Rows, **parts: Any) -> Chart:
    spec = {
        "$schema": SCHEMA,
        "width": "container",
        "height": 280,
        # Laid out anew whenever what is shown changes, with room for half of the last label of the
        # x axis, so that no label is cut.
        "autosize": {"type": "fit-x", "contains": "padding", "resize": True},
        "padding": {"left": 5, "top": 5, "right": 16, "bottom": 5},
        "config": {"axis": {"labelLimit": LONGEST_LABEL_PX}},
        **parts,
    }
    return Chart(key=key, title=title, spec=spec, rows=rows)


def colour(field: str, **more: Any) -> dict[str, Any]:
    """Returns the encoding that gives each value of a field a colour of its own."""
    return {"field": field, "type": "nominal", "legend": None, **more}


def number(field: str, title: str | None, **more: Any) -> dict[str, Any]:
    """Returns the encoding of a field with numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def choice(name: str, rows: Rows) -> dict[str, Any]:
    """Returns the parameter with which a reader chooses one value of a field."""
    values = list(dict.fromkeys(row[name] for row in rows))
    bind = {"input": "select", "options": values, "name": "Show "}
    return {"name": name, "value": values[0] if values else "", "bind": bind}


ZOOM = {"name": "zoom", "select": "interval", "bind": "scales"}
