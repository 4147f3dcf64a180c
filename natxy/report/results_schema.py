"""The JSON Schema of results.json: `python -m natxy.report.results_schema [FOLDER]` writes it.

An entry is made of the models of a result, and so is its schema.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from natxy.model.base import Model
from natxy.model.deviation import Deviation
from natxy.model.measurement import (
    Bound,
    Conditions,
    Figure,
    SearchConditions,
    Statistic,
    TrialCounts,
)
from natxy.model.remark import Remark
from natxy.model.schemas import FOLDER, head_of
from natxy.report.results_csv import STATISTICS
from natxy.report.results_json import OF_SEARCH, SCALED_DOWN

NAME = "results"
Schema = dict[str, Any]
TEXT, NUMBER, WHOLE, TRUTH = ({"type": name} for name in ("string", "number", "integer", "boolean"))
# Of an entry that is not one of a campaign, of a gateway that was not searched for its rate, ...
OPTIONAL = {
    "command": TEXT,
    "started": {**TEXT, "format": "date-time"},
    "natxy_version": TEXT,
    "column": TEXT,
    "measure": TEXT,
    "round": WHOLE,
    SCALED_DOWN: TRUTH,
    "rate_fps_per_direction": NUMBER,
    "bound": {"enum": list(get_args(Bound))},
}


def results_schema() -> Schema:
    """Returns the schema of the file, which has a list of entries."""
    defs: Schema = {}
    search = _of(SearchConditions, defs)
    conditions, counts = _of(Conditions, defs), _of(TrialCounts, defs)
    known = {name: search["properties"][name] for name in sorted(OF_SEARCH)}
    in_search = {name: of for name, of in search["properties"].items() if name not in OF_SEARCH}
    defs["SearchConditions"] = _object(in_search, in_search)
    needed = {
        "procedure": TEXT,
        "reference": TEXT,
        **conditions["properties"],
        "foreground_percent": NUMBER,
        "conforms": TRUTH,
        "deviations": _list_of(_said(Deviation, defs)),
        "standing_deviations": _list_of(_said(Deviation, defs)),
        "remarks": _list_of(_said(Remark, defs)),
        "repetitions": WHOLE,
        "figures": _list_of(_figure(defs)),
        **counts["properties"],
        "worst_lateness_us": NUMBER,
    }
    entry = _object({**needed, **known, **OPTIONAL}, needed)
    return {**head_of(NAME), "title": "results.json", **_list_of(entry), "$defs": defs}


def _of(model: type[Model], defs: Schema) -> Schema:
    """Returns the schema of a model as it is written; what it refers to is added to `defs`."""
    schema = model.model_json_schema(mode="serialization")
    defs.update(schema.pop("$defs", {}))
    return schema


def _object(members: Mapping[str, Any], needed: Iterable[str]) -> Schema:
    return {
        "type": "object",
        "properties": dict(members),
        "required": sorted(needed),
        "additionalProperties": False,
    }


def _list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _said(model: type[Model], defs: Schema) -> Schema:
    """Returns the schema of a statement with its sentence for a person."""
    members = {**_of(model, defs)["properties"], "text": TEXT}
    return _object(members, members)


def _figure(defs: Schema) -> Schema:
    figure = _of(Figure, defs)["properties"]
    same = ("at", "at_value", "at_unit", "rate_fps", "found", "unit", "statistic", "missing")
    members = {
        "figure": TEXT,
        "direction": {"enum": ["", "forward", "reverse"]},
        **{name: figure[name] for name in same},
        "uncertain": {"enum": ["yes", "no"]},
        "rates": TEXT,
        "statistic": {"enum": list(get_args(Statistic))},
        "benchmark": {"type": ["number", "null"]},
        "bound": {"enum": [*get_args(Bound), None]},
        "largest_error": {"anyOf": [NUMBER, {"const": ""}]},
        **{name: {"type": ["number", "null"]} for name in STATISTICS},
        "n": WHOLE,
        "values": _list_of(NUMBER),
    }
    return _object(members, members)


def schema_text() -> str:
    return json.dumps(results_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    (folder / f"{NAME}.schema.json").write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
