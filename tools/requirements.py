#!/usr/bin/env python3
"""Prints requirements of pyproject.toml, one per line: build, run, or those of an extra or a group.

The Makefile uses it to install them before the package, whose build then needs no download.
requirements.lock has their versions; `requirements.py --lock` writes it (`make lock`).
"""

import json
import pathlib
import subprocess
import sys
import tomllib
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
WRITTEN = "# Written by `make lock`: the versions with which the project is built and tested.\n"


def groups(pyproject: dict[str, Any]) -> dict[str, list[str]]:
    project = pyproject["project"]
    return {
        "build": pyproject["build-system"]["requires"],
        "run": project["dependencies"],
        **project["optional-dependencies"],
        **pyproject["dependency-groups"],
    }


def write_lock(known: dict[str, list[str]]) -> None:
    """Writes the newest versions that fit together, also of the packages that these need."""
    wanted = sorted({each for group in known.values() for each in group})
    options = ("--quiet", "--disable-pip-version-check", "--dry-run", "--ignore-installed")
    command = [sys.executable, "-m", "pip", "install", *options, "--report", "-", *wanted]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    found = {each["metadata"]["name"]: each["metadata"]["version"] for each in report["install"]}
    lines = sorted((f"{name}=={version}\n" for name, version in found.items()), key=str.lower)
    LOCK.write_text(WRITTEN + "".join(lines))


def main() -> None:
    known = groups(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    if sys.argv[1:] == ["--lock"]:
        write_lock(known)
        return
    for group in sys.argv[1:]:
        print("\n".join(known[group]))


if __name__ == "__main__":
    main()
