#!/usr/bin/env python3
"""Prints requirements of pyproject.toml, one per line: build, run, or those of an extra.

The Makefile uses it to install them before the package, whose build then needs no download.
"""

import pathlib
import sys
import tomllib
from typing import Any


def requirements(pyproject: dict[str, Any], group: str) -> list[str]:
    project = pyproject["project"]
    groups: dict[str, list[str]] = {
        "build": pyproject["build-system"]["requires"],
        "run": project["dependencies"],
        **project["optional-dependencies"],
    }
    return groups[group]


def main() -> None:
    path = pathlib.Path(__file__).parents[1] / "pyproject.toml"
    pyproject = tomllib.loads(path.read_text())
    for group in sys.argv[1:]:
        print("\n".join(requirements(pyproject, group)))


if __name__ == "__main__":
    main()
