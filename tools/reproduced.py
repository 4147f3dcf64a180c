#!/usr/bin/env python3
"""Writes docs/reference/reproduced.md: published tables and figures beside those measured here.

It reads the campaigns that `natxy run experiments/NAME.toml --output FOLDER/NAME` has written; one
that is not there, or has no result, is "not measured here".
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from natxy.campaign.data import read_data
from natxy.campaign.folder import read_asked
from natxy.campaign.report import tables_of
from natxy.errors import NatxyError
from natxy.model.published import read_published
from natxy.report.beside import beside
from natxy.report.campaign_text import markdown
from natxy.report.table_rows import CampaignTable

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/reproduced.md"
ORDER = ("SD", "MP", "SP")
HEAD = """\
# Published and measured here

<!-- Written by tools/reproduced.py from campaigns; do not edit. -->

The 36 tables and figures of [the list](published.md), beside what their experiments measured here
with `--quick`, on one small machine (a virtual machine with two CPUs, gateway and tester on it).
`--quick` scales down: short trials, fewer connections, fewer columns. So the figures show that each
measurement can be made, not how fast a gateway is; the documents used servers with 16 and more
cores. Most of them measured Jool; here it is the kernel or tayga, as each section says.
[Jool in a guest](../how-to/jool.md#the-experiments-of-the-documents) measures 16 of them with Jool.
"""
NOT_MEASURED = "Not measured here yet."
DRAWN = "The document draws the figure and prints no numbers."
KEPT = ("Published: ", "Here: ", "Published, and left out")


def sections(folder: Path) -> Iterator[str]:
    files = sorted((ROOT / "experiments/published").glob("*.toml"), key=_place)
    for file in files:
        published = read_published(file)
        source = published.source
        yield f"## {source.document} {source.kind.title()} {source.number}"
        yield f"{source.caption} ([experiment](../../experiments/{file.name}))"
        yield _measured(folder / file.stem) or _published(ROOT / "experiments" / file.name)


def _place(file: Path) -> tuple[int, bool, str]:
    document, kind, _ = file.stem.split("-")
    return ORDER.index(document.upper()), kind == "figure" and document != "sd", file.stem


def _measured(folder: Path) -> str:
    """Returns the table of a campaign and the notes about both sides; empty if it has no result."""
    try:
        data = read_data(folder)
        tables = tables_of(data)
    except NatxyError:
        return ""
    if not any(cell.results for cell in data.cells):
        return ""
    published = tables.get("published")
    drawn = published is None or not published.rows
    return _shown(tables["table"] if drawn or published is None else published, drawn=drawn)


def _published(experiment: Path) -> str:
    """Returns the published figures alone."""
    asked = read_asked(experiment)
    if asked.published is None or asked.published.drawn:
        return f"{NOT_MEASURED} {DRAWN}"
    columns = [column.label for column in asked.experiment.columns]
    table = beside(asked.experiment, columns, asked.published, {})
    rows = tuple(row for row in table.rows if row.name.endswith(", published"))
    return f"{NOT_MEASURED}\n\n{_shown(replace(table, rows=rows), drawn=False)}"


def _shown(table: CampaignTable, *, drawn: bool) -> str:
    lines = markdown(table).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    notes = [line for line in lines if line.removeprefix("- ").startswith(KEPT)]
    return "\n".join([*rows, "", *[f"- {DRAWN}"] * drawn, *notes]).rstrip()


def page(folder: Path) -> str:
    return HEAD + "\n" + "\n\n".join(sections(folder)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the campaigns")
    PAGE.write_text(page(parser.parse_args().folder))
    missing = re.findall(rf"^## (.*)\n\n.*\n\n{NOT_MEASURED}", PAGE.read_text(), re.MULTILINE)
    print(f"{PAGE}: written; not measured: {', '.join(missing) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
