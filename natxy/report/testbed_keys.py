"""Values of a testbed's keys, by their paths."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from natxy.model.testbed import Testbed
from natxy.model.testbed_changes import value_at

# Keys whose values options of a measurement may replace, such as --frame-size.
OF_OPTIONS = {
    "traffic.direction",
    "traffic.frame_size_bytes",
    "traffic.n",
    "traffic.m",
    "traffic.left_networks",
    "traffic.right_networks",
}


def at(testbed: Mapping[str, Any], path: str) -> Any:
    """Returns the value of a key, or its default where the testbed does not set it; None if there
    is neither. No default is known of [dut] and [tester], which depend on the kind of gateway, and
    of what an option may have replaced.
    """
    found = value_at(testbed, path)
    if found is not None or path.startswith("tester.") or path in OF_OPTIONS:
        return found
    return value_at(_with_defaults(testbed), path)


def _with_defaults(testbed: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the testbed with all defaults; nothing of one that this release refuses."""
    sections = {name: testbed[name] for name in Testbed.model_fields if name in testbed}
    try:
        known = Testbed.model_validate_json(json.dumps(sections, default=str))
    except ValidationError:
        return {}
    return known.model_dump(mode="json")
