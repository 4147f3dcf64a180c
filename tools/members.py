"""Makes docs/reference/engine-members.md: the members of specs, events and results, as the models
of natxy/model have them."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from natxy.model.base import ADDED, Model
from natxy.model.event import ErrorEvent, Hello, Progress, ResultEvent
from natxy.model.trial_spec import TrialSpec

DOCS = Path(__file__).parents[1] / "docs"
ROOTS = (TrialSpec, Hello, Progress, ErrorEvent, ResultEvent)
ABBREVIATIONS = {"Icmp": "ICMP", "Vlan": "VLAN", "cpu": "CPU"}
LARGEST = 2**53  # a higher limit is no limit that a reader needs
LINKS = {
    '"How to read a result"': "[how to read a result]"
    "(../reading-a-result.md#misdelivered-check-by-check)",
    '"Which losses count"': "[which losses count](../losses-and-absences.md)",
}

Json = Mapping[str, Any]


def members_page(generated: str) -> str:
    lines = [
        "# Members of specs, events and results",
        "",
        generated,
        "",
        "This page lists the members of the JSON objects that the package and the engine send each "
        "other ([protocol](engine-protocol.md)), and that journals contain. The JSON Schemas in "
        "`schemas/` have the same texts. A member of a spec that is not *required* may be null or "
        "absent. The engine writes all members of an event; those that the package adds are in "
        "journals only, and in the output of `natxy trial --json`. Names end in the unit: `_ns` is "
        "nanoseconds, `_fps` frames a second, `_bytes` octets. A number without a unit is a count.",
    ]
    seen: set[type[Model]] = set()
    for root in ROOTS:
        lines += _sections(root, "##", seen)
    return "\n".join(lines) + "\n"


def _sections(model: type[Model], level: str, seen: set[type[Model]]) -> Iterator[str]:
    """Yields the section of a model, and then those of its members that are objects."""
    if model in seen:
        return
    seen.add(model)
    yield from ("", f"{level} {_words(model.__name__)}", "")
    text = inspect.cleandoc(model.__doc__ or "")
    yield from ("\n\n".join(_text(part) for part in text.split("\n\n")), "")
    yield from _rows(model, of_spec=TrialSpec in seen and Hello not in seen)
    for field in model.model_fields.values():
        for inner in _models(field.annotation):
            yield from _sections(inner, "###", seen)


def _models(kind: Any) -> Iterator[type[Model]]:
    if isinstance(kind, type) and issubclass(kind, Model):
        yield kind
    for argument in get_args(kind):
        yield from _models(argument)


def _rows(model: type[Model], *, of_spec: bool) -> Iterator[str]:
    default = " default |" if of_spec else ""
    yield f"| member | value |{default} meaning |"
    yield "|---|---|" + ("---|" if of_spec else "") + "---|"
    schema = model.model_json_schema(ref_template="{model}")
    for name, member in schema["properties"].items():
        default = f" {_default(member)} |" if of_spec else ""
        added = "*Added by the package.* " if ADDED in model.model_fields[name].metadata else ""
        yield f"| `{name}` | {_value(member)} |{default} {added}{_text(member['description'])} |"


def _value(member: Json) -> str:
    return " or ".join(_value_of(option) for option in member.get("anyOf", [member]))


def _value_of(option: Json) -> str:
    if "$ref" in option:
        heading = _words(option["$ref"])
        name = heading if heading[1].isupper() else heading[0].lower() + heading[1:]
        return f"[{name}](#{heading.lower().replace(' ', '-')})"
    if "enum" in option or "const" in option:
        values = option.get("enum") or [option["const"]]
        return " or ".join(f"`{json.dumps(value)}`" for value in values)
    if option["type"] == "array":
        return f"list of {_value(option['items'])}" if "items" in option else "list"
    if option["type"] == "integer" and option.get("maximum", LARGEST) < LARGEST:
        lowest, highest = option["minimum"], option["maximum"]
        return f"{lowest:,} to {highest:,}" if lowest < highest else f"{lowest}"
    kind: str = option["type"]
    return {"boolean": "`true` or `false`", "string": "text"}.get(kind, kind)


def _default(member: Json) -> str:
    if "default" not in member:
        return "required"
    default = member["default"]
    return f"`{json.dumps(default)}`" if isinstance(default, str | int) else ""


def _words(name: str) -> str:
    """Returns the name of a class as a heading."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
    for each, abbreviation in ABBREVIATIONS.items():
        words = re.sub(rf"\b{each}\b", abbreviation, words)
    return words


def _text(text: str) -> str:
    """Returns a text in one line, with links to the decisions and pages that it names."""
    text = " ".join(text.split())
    for title, link in LINKS.items():
        text = text.replace(title, link)
    return re.sub(r"decision (\d{4})", _decision, text)


def _decision(found: re.Match[str]) -> str:
    (page,) = (DOCS / "decisions").glob(f"{found[1]}-*.md")
    return f"[{found[0]}](../decisions/{page.name})"
