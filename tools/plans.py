"""Makes docs/reference/plans.md: the fields of all plans, as their classes have them."""

import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import natxy
from natxy.setting import Setting, settings_of

MEANINGS = Path(__file__).parent / "plan_fields.toml"
PARTS = (
    *("Timing", "SearchError", "LossTolerance", "Bursts", "MlrGoal", "CapacityGoal"),
    *("Column", "Size", "PortRange"),
)
UNITS = {
    "fps": "frames a second per direction",
    "cps": "connections a second",
    "s": "seconds",
    "bytes": "octets",
    "frames": "frames",
}
# Their unit does not show in their names.
UNITS_OF = {
    ("CapacityGoal", "error"): "connections",
    ("CapacityGoal", "c0"): "connections",
    ("CapacityGoal", "most"): "connections",
    ("CapacityGoal", "told"): "connections",
    ("LatencyPlan", "tags"): "frames",
    ("FrameLossPlan", "step"): "share of the maximum",
}
TYPES = {int: "integer", float: "number", Fraction: "number", bool: "`bool`", str: "string"}
FIRST = ("timing", "seed", "repetitions")  # of every plan
LEFT_OUT = {"outward", "starts_low", "made_cps", "told"}  # a measurement sets them


def plans_page(generated: str) -> str:
    meanings = tomllib.loads(MEANINGS.read_text())
    plans = sorted(name for name in natxy.__all__ if name.endswith("Plan"))
    lines = [
        "# Plans",
        "",
        generated,
        "",
        "This page lists the fields of the plans, with which you [measure from Python]"
        "(../how-to/python.md), and of the values in them. All fields are given by name. A field "
        "without a default is optional unless the table says *required*. A number may be an `int`, "
        "a `float` or a `Fraction`. The unit is in the name: `_fps` is frames a second per "
        "direction, `_cps` connections a second, `_s` seconds.",
    ]
    for name in (*plans, *PARTS):
        lines += ["", f"## {name}", "", *rows(name, getattr(natxy, name), meanings)]
    return "\n".join(lines) + "\n"


def rows(name: str, kind: type[Any], meanings: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield from ("| field | value | unit | default | meaning |", "|---|---|---|---|---|")
    declared = {field.name: meaning_of(setting, field) for field, setting in settings_of(kind)}
    known = {**meanings["every"], **meanings.get(name, {}), **declared}
    fields = [each for each in dataclasses.fields(kind) if each.name not in LEFT_OUT]
    for field in sorted(fields, key=lambda each: each.name not in FIRST):
        unit = UNITS_OF.get((name, field.name)) or UNITS.get(field.name.rpartition("_")[2], "")
        cells = (type_of(field.type), unit, default_of(field), known[field.name])
        yield f"| `{field.name}` | {' | '.join(cells)} |"


def meaning_of(setting: Setting, field: dataclasses.Field[Any]) -> str:
    """Returns the meaning in words; those of a default explain None, 0 and an empty tuple."""
    said, words = (marked(parts) for parts in (setting.help, setting.default))
    said = said if ":" in said.split()[0] else said[0].lower() + said[1:]
    return said if field.default or not words else f"{said}; default: {words}"


def marked(parts: str | tuple[str | Setting, ...]) -> str:
    listed = (parts,) if isinstance(parts, str) else parts
    return "".join(f"`{part}`" if isinstance(part, Setting) else part for part in listed)


def type_of(kind: Any) -> str:
    """Returns the type as a person reads it; that a value may be None follows from its default."""
    if hasattr(kind, "__metadata__"):
        return type_of(kind.__origin__)
    if get_origin(kind) is UnionType:
        kinds = [type_of(each) for each in get_args(kind) if each is not type(None)]
        return " or ".join(kinds)
    if get_origin(kind) is Literal:
        return " or ".join(f'`"{value}"`' for value in get_args(kind))
    if get_origin(kind) is tuple:
        return f"tuple of {plural(type_of(get_args(kind)[0]))}"
    return TYPES.get(kind) or linked(kind.__name__)


def plural(word: str) -> str:
    return f"{word}s" if word.isalpha() else word


def linked(name: str) -> str:
    known = name in PARTS or name.endswith("Plan")
    return f"[`{name}`](#{name.lower()})" if known else f"`{name}`"


def default_of(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return "*required*"
    if field.default is None or field.default == ():
        return ""
    return f"`{shown(field.default)}`"


def shown(value: Any) -> str:
    """Returns a value as a person writes it: 0.1 for Fraction(1, 10), and no members of None."""
    text = re.sub(r"\w+=None, ", "", repr(value))
    return re.sub(
        r"Fraction\((\d+), (\d+)\)", lambda found: f"{int(found[1]) / int(found[2]):g}", text
    )
