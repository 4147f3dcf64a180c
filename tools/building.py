#!/usr/bin/env python3
"""Runs a build, and shows how many of its steps are done: building.py COMMAND...

What it prints is shown if it fails.
"""

import re
import subprocess
import sys

STEP = re.compile(r"\[(\d+)/(\d+)\]")  # of ninja
PARTS = 4  # of a build that a log has a line for


def main(command: list[str]) -> int:
    lines, shown = [], 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as build:
        assert build.stdout is not None
        for line in build.stdout:
            lines.append(line)
            if step := STEP.search(line):
                shown = show(int(step[1]), int(step[2]), shown)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if build.returncode:
        sys.stderr.writelines(lines)
    return build.returncode


def show(done: int, steps: int, shown: int) -> int:
    """Returns how many parts of the build have been shown."""
    part = PARTS * done // steps
    if sys.stderr.isatty():
        print(f"\r  {done} of {steps} steps", end="", file=sys.stderr, flush=True)
    elif part > shown:
        print(f"  {done} of {steps} steps", file=sys.stderr, flush=True)
    return part


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
