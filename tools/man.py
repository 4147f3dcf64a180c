#!/usr/bin/env python3
"""Writes the man pages, natxy.1 and one for each command, from what the commands declare.

They are those of the commands' help: the options that it lists, and the examples.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import natxy
from natxy.cli.declared import IN_HELP, Declared, all_declared
from natxy.cli.help import EXAMPLES, GROUPS, OF_NATXY, WHAT, Rows, sections_of, usage_of

INTO = Path("build/man")


def pages() -> Iterator[tuple[str, str]]:
    """Yields the name of each page's file, with its text."""
    yield "natxy.1", "\n".join(of_natxy()) + "\n"
    for command in all_declared().values():
        yield f"natxy-{command.name}.1", "\n".join(of_command(command)) + "\n"


def of_natxy() -> Iterator[str]:
    yield from head("natxy", WHAT)
    yield from (".SH SYNOPSIS", ".B natxy", text("[OPTIONS] COMMAND [ARGUMENTS]"))
    yield from (".SH DESCRIPTION", text(f"{WHAT} {IN_HELP}"))
    yield from rows("OPTIONS", OF_NATXY)
    for group, names in GROUPS.items():
        commands = [all_declared()[name] for name in names]
        yield from rows(group, [(f"natxy-{each.name}(1)", each.summary) for each in commands])
    yield from examples(EXAMPLES)


def of_command(command: Declared) -> Iterator[str]:
    yield from head(f"natxy-{command.name}", command.summary)
    yield from (".SH SYNOPSIS", f".B natxy {text(command.name)}", text(usage_of(command)))
    yield ".SH DESCRIPTION"
    for paragraph in command.help.split("\n\n"):
        yield from (".PP", text(paragraph))
    for title, listed in sections_of(command).items():
        yield from rows(title, listed)
    yield from examples(command.examples)
    yield from (".SH SEE ALSO", ".BR natxy (1)")


def head(name: str, summary: str) -> Iterator[str]:
    # A page without a date: it is the same whenever it is built.
    yield f'.TH {text(name.upper())} 1 "" "natxy {natxy.__version__}" "Natxy"'
    yield from (".SH NAME", rf"{text(name)} \- {text(summary.rstrip('.'))}")


def rows(title: str, listed: Rows) -> Iterator[str]:
    if listed:
        yield f".SH {text(title.upper())}"
    for left, right in listed:
        yield from (".TP", rf"\fB{text(left)}\fR", text(right))


def examples(lines: tuple[str, ...]) -> Iterator[str]:
    yield from (".SH EXAMPLES", ".nf", *map(text, lines), ".fi")


def text(plain: str) -> str:
    """Returns a text as troff reads it: a hyphen of an option stays the sign that is typed."""
    escaped = " ".join(plain.split()).replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga")
    escaped = escaped.replace("'", r"\(aq").replace("~", r"\(ti").replace("^", r"\(ha")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: rf"\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"^(?=\.)", r"\\&", escaped)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=INTO, help="folder [default: build/man]")
    into: Path = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    for name, page in pages():
        (into / name).write_text(page)
    print(f"Man pages: {into}; try man -l {into}/natxy.1")


if __name__ == "__main__":
    main()
