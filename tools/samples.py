#!/usr/bin/env python3
"""Measures the examples of the documentation again and writes their output into the pages.

An example is a block of code of the language `console` whose first line is `$ natxy ...`. The
lines after it are what the command wrote to standard output.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"^```console\n\$ natxy ([^\n]*)\n.*?^```$", re.MULTILINE | re.DOTALL)
LIMIT_S = 300
COLUMNS = "100"
FOLDER = "natxy-results/TIME-COMMAND"  # what a command is given by default


class Failed(Exception):
    """An example that gave no result."""


def measured(arguments: str) -> str:
    """Returns what the command prints; raises Failed if it fails or does not end."""
    with tempfile.TemporaryDirectory() as folder:
        output = ["--output", f"{folder}/results"]
        command = [".venv/bin/natxy", *shlex.split(arguments), *output]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, "COLUMNS": COLUMNS},
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"natxy {arguments}: did not end (expected within {LIMIT_S} s)") from None
    if done.returncode:
        raise Failed(f"natxy {arguments}: exit status {done.returncode}: {done.stderr[-300:]}")
    said = done.stdout.replace(f"{folder}/results", FOLDER).strip("\n")
    return "".join(f"{line.rstrip()}\n" for line in said.splitlines())


def renewed(page: Path, wanted: str) -> list[str]:
    """Writes the page with the examples whose command contains the text; returns what failed."""
    failed: list[str] = []

    def one(example: re.Match[str]) -> str:
        arguments = example[1]
        if wanted not in arguments:
            return example[0]
        print(f"natxy {arguments}", flush=True)
        try:
            return f"```console\n$ natxy {arguments}\n{measured(arguments)}```"
        except Failed as failure:
            failed.append(str(failure))
            return example[0]

    text = page.read_text()
    page.write_text(EXAMPLE.sub(one, text))
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="?", default="", help="only commands with this text")
    wanted = parser.parse_args().wanted
    pages = sorted(ROOT.glob("docs/**/*.md"))
    if not any(
        wanted in command for page in pages for command in EXAMPLE.findall(page.read_text())
    ):
        parser.error(f'wanted: no example has "{wanted}" in its command (expected a part of one)')
    failed = [each for page in pages for each in renewed(page, wanted)]
    for each in failed:
        print(each, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
