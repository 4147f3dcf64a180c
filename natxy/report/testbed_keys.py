"""Values of a testbed's keys, by their paths."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from natxy.model.testbed import Testbed


def at(testbed: Mapping[str, Any], path: str) -> Any:
    """Returns the value of a key, or its default where the testbed does not set it; None if there
    is neither. Keys of [dut] have no default here, since they depend on the kind of device."""
    found = _at(testbed, path)
    return _at(_with_defaults(testbed), path) if found is None else found


def _at(testbed: Mapping[str, Any], path: str) -> Any:
    found: Any = testbed
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _with_defaults(testbed: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the testbed with all defaults; nothing of one that this release refuses."""
    sections = {name: testbed[name] for name in Testbed.model_fields if name in testbed}
    try:
        known = Testbed.model_validate_json(json.dumps(sections, default=str))
    except ValidationError:
        return {}
    return known.model_dump(mode="json")
