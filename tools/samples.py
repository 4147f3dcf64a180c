#!/usr/bin/env python3
"""Measures the examples of the documentation again and writes their output into the pages.

An example is a block of code of the language `console` whose first line is `$ natxy ...`. The
lines after it are what the command wrote to standard output. If a picture follows the block, it is
drawn from the same measurement.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sample_plots import draw

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(
    r"^```console\n\$ natxy (?P<arguments>[^\n]*)\n.*?^```$"
    r"(?P<picture>\n\n!\[[^\]\n]+\]\((?P<file>[^)\n]+)\)$)?",
    re.MULTILINE | re.DOTALL,
)
LIMIT_S = 300
COLUMNS = "100"
# What a command is given by default as --output.
FOLDER = "natxy-results/TIME-COMMAND"
FILES = {"self-test": "~/.local/state/natxy/self-tests.json"}
NO_FOLDER = {"trial"}  # commands without --output


class Failed(Exception):
    """An example that gave no result."""


def measured(arguments: str, picture: Path | None) -> str:
    """Returns what the command prints, and draws the picture that the page shows of its results.

    Raises Failed if the command fails or does not end.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = shlex.split(arguments)
        output = [] if words[0] in NO_FOLDER else ["--output", f"{folder}/results"]
        command = [".venv/bin/natxy", *words, *output]
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
        if picture is not None:
            draw(Path(folder) / "results", picture)
    default = FILES.get(arguments.split()[0], FOLDER)
    said = done.stdout.replace(f"{folder}/results", default).strip("\n")
    return "".join(f"{line.rstrip()}\n" for line in said.splitlines())


def renewed(page: Path, wanted: str) -> list[str]:
    """Writes the page with the examples whose command contains the text; returns what failed."""
    failed: list[str] = []

    def one(example: re.Match[str]) -> str:
        arguments, picture = example["arguments"], example["file"]
        if wanted not in arguments:
            return example[0]
        print(f"natxy {arguments}", flush=True)
        try:
            said = measured(arguments, page.parent / picture if picture else None)
        except Failed as failure:
            failed.append(str(failure))
            return example[0]
        return f"```console\n$ natxy {arguments}\n{said}```{example['picture'] or ''}"

    text = page.read_text()
    page.write_text(EXAMPLE.sub(one, text))
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="?", default="", help="only commands with this text")
    wanted = parser.parse_args().wanted
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    examples = [each for page in pages for each in EXAMPLE.finditer(page.read_text())]
    if not any(wanted in each["arguments"] for each in examples):
        parser.error(f'wanted: no example has "{wanted}" in its command (expected a part of one)')
    failed = [each for page in pages for each in renewed(page, wanted)]
    for each in failed:
        print(each, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
