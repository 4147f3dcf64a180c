"""The example specs: valid ones, and the patches (RFC 6902) that make invalid ones of them."""

import copy
import json
from functools import reduce
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "schemas" / "examples" / "spec"
VALID = {path.stem: path for path in sorted((FOLDER / "valid").glob("*.json"))}
_LISTS = json.loads((FOLDER / "invalid.json").read_text())
REFUSED_BY_BOTH = {entry["name"]: entry for entry in _LISTS["refused_by_both"]}
REFUSED_BY_THE_ENGINE = {entry["name"]: entry for entry in _LISTS["refused_by_the_engine"]}


def valid(name: str) -> Any:
    return json.loads(VALID[name].read_text())


def invalid(name: str) -> Any:
    entry = (REFUSED_BY_BOTH | REFUSED_BY_THE_ENGINE)[name]
    return patched(valid(entry["of"]), entry["patch"])


def patched(spec: Any, patch: list[dict[str, Any]]) -> Any:
    """Returns a copy of the spec to which the patch was applied.

    Of RFC 6902, this is what the examples use. It is too little to be worth a package.
    """
    spec = copy.deepcopy(spec)
    for step in patch:
        new = step.get("value")
        if step["op"] == "copy":
            parent, key = _place(spec, step["from"])
            new = copy.deepcopy(parent[key])
        parent, key = _place(spec, step["path"])
        if step["op"] in ("remove", "replace"):
            del parent[key]
        if step["op"] == "remove":
            continue
        if isinstance(parent, list):
            parent.insert(key, new)
        else:
            parent[key] = new
    return spec


def _place(spec: Any, pointer: str) -> tuple[Any, Any]:
    """Returns the parent of what the pointer (RFC 6901) names, and the key in it."""
    *above, last = pointer.removeprefix("/").split("/")
    parent = reduce(lambda node, key: node[_key(node, key)], above, spec)
    return parent, _key(parent, last)


def _key(node: Any, text: str) -> int | str:
    return int(text) if isinstance(node, list) else text
