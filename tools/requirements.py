#!/usr/bin/env python3
"""Prints the requirements of pyproject.toml, one a line: build, run, or the name of an extra.

So the Makefile installs them apart from the package, which is then rebuilt without a download.
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
