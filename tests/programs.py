"""The programs that tests run: what `make install` installed, and the tools that the sanitizers'
build makes for tests alone."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def installed(name: str) -> Path:
    """`natxy-engine` or `natxy-gateway`, beside the Python that runs the tests."""
    return _there(Path(sys.executable).with_name(name), "make install")


def tool(room: str, name: str) -> Path:
    """A tool of engine or gateway, from the folder that NATXY_BUILD names."""
    build = ROOT / os.environ.get("NATXY_BUILD", "build/asan-ubsan")
    return _there(build / room / name, "make cpp-asan-ubsan")


def _there(path: Path, made_by: str) -> Path:
    assert path.exists(), f"{path} is not there; `{made_by}` makes it"
    return path
