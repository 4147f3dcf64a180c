"""Results of a campaign's cells in the style of FD.io CSIT's model, version 0.2.0.

The model (docs/model/current of the CSIT project) describes a test case: what it is, when it ran,
and one of a few kinds of results. docs/how-to/campaigns.md says what is mapped to what.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from natxy.model.measurement import Figure, Measurement
from natxy.report.cell_figures import CellResult, rate_words
from natxy.statistics import summary

VERSION = "0.2.0"
UNITS = {"fps": "pps", "cps": "cps"}
LONGEST_NAME = 120  # of a file, without its number
SEARCHES = ("throughput", "establishment")


def document_of(title: str, cell: CellResult, *, quick: bool) -> dict[str, Any]:
    """Returns the document of one cell; one of a `quick` campaign has a tag that says so."""
    start, end = map(datetime.fromisoformat, (cell.started, cell.ended or cell.started))
    name = " ".join(part for part in (cell.measure, cell.column, f"round {cell.round}") if part)
    return {
        "version": VERSION,
        "test_id": ".".join(map(_identifier, (title, name))),
        "test_name": name,
        "test_documentation": title,
        "tags": [*(result.procedure for result in cell.results), *(["quick"] if quick else [])],
        "start_time": _utc(start),
        "end_time": _utc(end),
        "duration": (end - start).total_seconds(),
        "status": "FAIL" if cell.error else "PASS",
        "message": cell.error or _message(cell),
        "log": [],
        **_results(cell.results),
    }


def _results(results: Sequence[Measurement]) -> dict[str, Any]:
    for result in results:
        figure = next(
            (each for each in result.figures if each.unit in UNITS and each.primary), None
        )
        if result.procedure in SEARCHES and figure is not None and figure.values:
            return {"test_type": "ndrpdr", "results": {"ndrpdr": {"ndr": _bounds(result, figure)}}}
    return {"results": {}}


def _bounds(result: Measurement, figure: Figure) -> dict[str, Any]:
    """Returns the median as the lower bound, and the rate that fails by the search's error as the
    upper one, if there is such a rate; all directions together."""
    both = result.conditions.direction == "both" and figure.unit == "fps"
    factor = 2 if both and figure.direction is None else 1
    median = summary(figure.values).median
    search = result.conditions.search
    error = None if search is None else search.error_fps
    found = {"lower": median}
    if error is not None and figure.bound(median) == "exact":
        found["upper"] = median + error
    return {
        name: {"rate": {"value": factor * value, "unit": UNITS[figure.unit]}}
        for name, value in found.items()
    }


def _message(cell: CellResult) -> str:
    figures = {
        " ".join(filter(None, (figure.name, figure.at, figure.direction, series))): {
            "unit": figure.unit,
            **_rates(result, figure),
            "values": list(figure.values),
            **({"found": figure.found} if figure.found else {}),
            **({"missing": figure.missing} if figure.missing else {}),
            **({"uncertain": True} if figure.uncertain else {}),
        }
        for series, result in cell.told
        for figure in result.figures
    }
    return json.dumps(figures, ensure_ascii=False)


def _rates(result: Measurement, figure: Figure) -> dict[str, str]:
    words = rate_words(result.conditions, figure, summed=False)
    return {"rates": words} if words else {}


def _identifier(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _utc(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def documents(title: str, cells: Sequence[CellResult], *, quick: bool) -> Iterator[tuple[str, str]]:
    """Yields a file name and a text for each cell; labels may be equal but for their signs."""
    known: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        document = document_of(title, cell, quick=quick)
        if document["test_id"] in known:
            document["test_id"] += f"_{number}"
        known.add(document["test_id"])
        name = f"{number:04}-{_identifier(document['test_name'])[:LONGEST_NAME]}.json"
        yield name, json.dumps(document, indent=2, ensure_ascii=False) + "\n"
