"""Changes of a testbed's content: sections and keys that replace others."""

from collections.abc import Mapping
from typing import Any


def merged(testbed: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Returns the testbed's tables with those of `changes` on top; a [dut] of another kind
    replaces the whole section, whose keys depend on the kind."""
    result = dict(testbed)
    for key, value in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not _other_kind(old, value):
            result[key] = merged(old, value)
        else:
            result[key] = value
    return result


def _other_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" in new and new["kind"] != old.get("kind")


def nested(path: str, value: Any) -> dict[str, Any]:
    """Returns the change of one key, by its path: "traffic.n"."""
    for key in reversed(path.split(".")):
        value = {key: value}
    tables: dict[str, Any] = value
    return tables


def value_at(testbed: Mapping[str, Any], path: str) -> Any:
    """Returns the value of a key, by its path; None if the tables do not have it."""
    found: Any = testbed
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
