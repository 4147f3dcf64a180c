"""Finds the programs that belong to the package: the engine and the calibration gateway."""

import os
import shutil
import sys
from pathlib import Path

PACKAGED = Path(__file__).parent / "programs"  # where a wheel has them
HOW = "reinstall natxy; in a source tree, `make install`"  # to get them


def find_program(name: str, variable: str) -> str:
    """Returns the path that the environment's variable names, or the program beside Python, in the
    package or in PATH; FileNotFoundError, with a sentence for a person, if there is none."""
    if given := os.environ.get(variable):
        if not os.access(given, os.X_OK):
            raise FileNotFoundError(
                f"{variable}: {given} is not a program (expected the path of {name})"
            )
        return given
    places = [Path(sys.executable).with_name(name), PACKAGED / name]
    for path in places:
        if os.access(path, os.X_OK):
            return str(path)
    if found := shutil.which(name):
        return found
    raise FileNotFoundError(
        f"{name}: was not found (expected {places[0]}, {places[1]} or one in PATH; {HOW})"
    )
