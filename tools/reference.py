#!/usr/bin/env python3
"""Writes the pages of docs/reference that follow from the source: testbed.md, commands.md,
published.md, plans.md, durations.md and engine-members.md; natxy/cli/commands.json; and
natxy/measurements.pyi.

The keys of a testbed with types, ranges and defaults are those of the models; their meanings are in
tools/testbed_keys.toml. The commands and their options are those that their functions declare
(tools/commands.py); natxy/cli/commands.json has them for help and completion. The keys of a
published table are those of its model, with their meanings in tools/published_keys.toml, and the
list of the tables is that of experiments/published. The durations are those that `natxy plan` shows
(tools/durations.py). The fields of plans are those of their classes (tools/plans.py), and the
members of specs, events and results those of the models (tools/members.py). The methods of
natxy.Testbed have the keywords of natxy.procedure.keywords (tools/stubs.py).
With --check, nothing is written; the exit status tells whether the pages are current.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commands import commands_page, declared_now
from durations import durations_page
from members import members_page
from plans import plans_page
from stubs import stubs

from natxy.cli.declared import FILE as COMMANDS
from natxy.cli.declared import as_json
from natxy.model.base import Model
from natxy.model.published import (
    ConnectionsUsed,
    Device,
    Measured,
    Misprint,
    Origin,
    Published,
    TesterUsed,
    TrafficUsed,
    TrialsUsed,
    read_published,
)
from natxy.model.published_values import Derivation, Row, Variable
from natxy.model.testbed import Testbed

ROOT = Path(__file__).parents[1]
KEYS = ROOT / "tools" / "testbed_keys.toml"
PUBLISHED_KEYS = ROOT / "tools" / "published_keys.toml"
PAGES = ROOT / "docs" / "reference"
STUBS = ROOT / "natxy" / "measurements.pyi"
GENERATED = "<!-- Written by tools/reference.py (make reference); do not edit. -->"
# Sections whose keys are the same.
TWINS = {
    "tester.right": "tester.left",
    "tester.right.tunnel": "tester.left.tunnel",
    "traffic.reverse": "traffic.forward",
    "traffic.right_field": "traffic.left_field",
}
PUBLISHED = ROOT / "experiments" / "published"
PUBLISHED_POINTS = (
    "**Values** are those of the document, in the unit of the row. For example, 223.5 in a row in "
    "thousands of cps becomes 223500. `printed` has the texts of the document, which show how far "
    "a number was rounded. A text may stand for a number that the document gives elsewhere, such "
    "as 1.56M for 2,500 x 625: the value is then the exact number.",
    "**Derived rows** are computed from other rows by a rule. A unit test computes each of them "
    "again, and allows for the rounding of the printed numbers.",
    "**Misprints** stay in the values; `misprints` has the correct values. `Published.numbers` "
    "returns the values with all misprints corrected. A misprint that is not in a cell is in "
    "`notes`.",
    "**Rates**: `traffic.rates` says whether a figure in fps counts the frames of each direction, "
    "as Natxy does, or the sum of all active directions.",
    "**Figures that are drawn** have settings but no values, because the document prints no "
    "numbers for them.",
)
DOCUMENTS = {
    "SD": "The scalability draft",
    "MP": "The stateful NAT64 methodology paper",
    "SP": "The siitperf design paper",
}
PUBLISHED_SECTIONS: tuple[tuple[str, type[Model]], ...] = (
    ("At the top", Published),
    ("`[source]`", Origin),
    ("`[measured]`", Measured),
    ("`[devices.NAME]`", Device),
    ("`[tester]`", TesterUsed),
    ("`[traffic]`", TrafficUsed),
    ("`[connections]`", ConnectionsUsed),
    ("`[trials]`", TrialsUsed),
    ("`[columns.NAME]`", Variable),
    ("`[rows.NAME]`", Row),
    ("`derived` of a row", Derivation),
    ("`[misprints.NAME]`", Misprint),
)

SECTION_KEYS = ("source", "measured", "tester", "traffic", "trials")

Json = Mapping[str, Any]


def texts() -> Mapping[str, Mapping[str, str]]:
    """Returns the meanings of keys, by section."""
    return tomllib.loads(KEYS.read_text())


def sections(schema: Json, of: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yields each section of a testbed with its schema, in the order of the models."""
    if path:
        yield path, of
    for name, member in of["properties"].items():
        inner = resolved(schema, member)
        where = f"{path}.{name}" if path else name
        if "properties" in inner and where not in TWINS and not is_series(inner):
            yield from sections(schema, inner, where)


def resolved(schema: Json, member: Json) -> Json:
    for option in member.get("anyOf", [member]):
        if "$ref" in option:
            inner: Json = schema["$defs"][option["$ref"].rpartition("/")[2]]
            return inner
    return member


def is_series(inner: Json) -> bool:
    return inner.get("title") == "Series"


def type_of(schema: Json, member: Json) -> str:
    inner = resolved(schema, member)
    if is_series(inner):
        return "`{mode, min, max}`"
    options = [o for o in member.get("anyOf", [member]) if o.get("type") != "null"]
    (option,) = options[:1]
    if "enum" in option:
        return values_of(option)
    kinds = {"integer": "integer", "number": "number", "boolean": "`true` or `false`"}
    kind: str = kinds.get(option.get("type", ""), option.get("type", ""))
    if option.get("type") == "array":
        kind = f"list of {elements_of(option['items'])}"
    if option.get("format") in ("ipv4", "ipv6"):
        kind = f"IPv{option['format'][-1]} address"
    if "minimum" in option:
        kind = f"{kind}, {option['minimum']:,} to {option['maximum']:,}"
    return kind


def values_of(option: Json) -> str:
    return " or ".join(f"`{json.dumps(value)}`" for value in option["enum"])


def elements_of(items: Json) -> str:
    if "$ref" in items:
        return "tables"
    return values_of(items) if "enum" in items else f"{items.get('type')}s"


def default_of(member: Json) -> str:
    if "default" not in member:
        return "required"
    default = member["default"]
    if default is None or default in ([], {}):
        return ""
    if isinstance(default, dict):
        return f"`{default['mode']}`, {default['min']:,} to {default['max']:,}"
    return f"`{json.dumps(default)}`"


def testbed_page() -> str:
    schema = Testbed.model_json_schema()
    meanings = texts()
    lines = [
        "# The testbed file",
        "",
        GENERATED,
        "",
        "A testbed is a TOML file that describes the tester's ports, its traffic and the device "
        "under test. `natxy init` writes one with a comment on every key. This page lists all "
        "keys, with types, ranges and defaults. A key without a default is optional unless the "
        "table says *required*; units are in the names. The keys of `[dut]` are described in "
        "[the device under test](dut.md).",
    ]
    for path, of in sections(schema, schema):
        twins = [f"`[{twin}]`" for twin, first in TWINS.items() if first == path]
        also = f" and {twins[0]}" if twins else ""
        lines += ["", f"## `[{path}]`{also}", ""]
        rows = [
            (name, member)
            for name, member in of["properties"].items()
            if "properties" not in resolved(schema, member) or is_series(resolved(schema, member))
        ]
        if rows:
            lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
        for name, member in rows:
            text = meanings[path][name]
            lines.append(
                f"| `{name}` | {type_of(schema, member)} | {default_of(member)} | {text} |"
            )
    return "\n".join(lines) + "\n"


def published_page() -> str:
    lines = [
        "# Published results",
        "",
        GENERATED,
        "",
        "The folder [experiments/published](../../experiments/published) holds the tables and "
        "figures of three documents as data, so that you can compare your results with them. Each "
        "table or figure is a TOML file. `natxy.model.published.read_published` reads a file and "
        "checks that it is complete. This page lists the files, and then the keys of a file.",
        "",
        *(f"- {point}" for point in PUBLISHED_POINTS),
    ]
    files = [(path, read_published(path)) for path in sorted(PUBLISHED.glob("*.toml"))]
    for document, title in DOCUMENTS.items():
        found = [(path, of) for path, of in files if of.source.document == document]
        source = found[0][1].source
        address = f"https://doi.org/{source.doi}" if source.doi else source.url
        lines += ["", f"## {title}", ""]
        lines += [f"{source.author}: [{source.title}]({address}). {source.published}."]
        lines += ["", "| in the document | caption | commands | file |", "|---|---|---|---|"]
        for path, of in sorted(found, key=lambda each: order_of(each[1])):
            name = f"{of.source.kind.capitalize()} {of.source.number}"
            drawn = " (drawn)" if of.drawn else ""
            commands = ", ".join(f"`{command}`" for command in of.measured.commands)
            link = f"[{path.name}](../../experiments/published/{path.name})"
            lines.append(f"| {name}{drawn} | {of.source.caption} | {commands} | {link} |")
    lines += ["", "## The keys of a file"]
    meanings = tomllib.loads(PUBLISHED_KEYS.read_text())
    for heading, model in PUBLISHED_SECTIONS:
        lines += ["", f"### {heading}", "", *key_lines(model, meanings[model.__name__])]
    return "\n".join(lines) + "\n"


def order_of(of: Published) -> tuple[bool, int]:
    return of.source.kind == "figure", of.source.number


def key_lines(model: type[Model], meanings: Mapping[str, str]) -> Iterator[str]:
    """Yields a table of the keys; those in SECTION_KEYS are sections of their own."""
    yield from ("| key | value | default | meaning |", "|---|---|---|---|")
    schema = model.model_json_schema()
    for name, member in schema["properties"].items():
        if model is Published and name in SECTION_KEYS:
            continue
        text = meanings[name]
        yield f"| `{name}` | {value_of(schema, member)} | {default_of(member)} | {text} |"


def value_of(schema: Json, member: Json) -> str:
    if "additionalProperties" in member:
        return "tables"
    options = [o for o in member.get("anyOf", [member]) if o.get("type") != "null"]
    if options[0].get("type") == "array" and "type" not in options[0]["items"]:
        return "list of numbers or texts"
    return type_of(schema, member)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    stale = []
    commands = declared_now()
    pages = {
        PAGES / "testbed.md": testbed_page(),
        PAGES / "commands.md": commands_page(GENERATED, commands),
        PAGES / "published.md": published_page(),
        PAGES / "durations.md": durations_page(GENERATED),
        PAGES / "plans.md": plans_page(GENERATED),
        PAGES / "engine-members.md": members_page(GENERATED),
        COMMANDS: as_json(commands.values()),
        STUBS: stubs(),
    }
    for page, text in pages.items():
        if page.exists() and page.read_text() == text:
            continue
        stale.append(page.name)
        if not check:
            page.write_text(text)
    if check and stale:
        print(f"{', '.join(stale)}: not current (run `make reference`)", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
