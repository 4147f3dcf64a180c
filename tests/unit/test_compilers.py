"""tools/compilers: a compiler that cannot build the programs makes it fail."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "tools" / "compilers"
# Makes what cmake would build, or fails at the step that BREAKS names.
CMAKE = """#!/bin/sh
case "$*" in
  *"$BREAKS"*) echo "x.cpp:1:1: error: no"; exit 1 ;;
  --build*) mkdir -p "$2/engine" "$2/gateway"
    for each in engine gateway; do
      printf '#!/bin/sh\\necho %s\\nexit %s\\n' "$each" "$STATUS" >"$2/$each/natxy-$each"
      chmod +x "$2/$each/natxy-$each"
    done ;;
esac
"""


CTEST = """#!/bin/sh
case "$*" in
  *"$BREAKS"*) echo "1 tests failed"; exit 8 ;;
esac
"""


def run(folder: Path, breaks: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs a copy of it, in which compilers and cmake are scripts."""
    (folder / "tools").mkdir()
    copy = folder / "tools" / "compilers"
    copy.write_text(PROGRAM.read_text())
    for name, script in {"cmake": CMAKE, "ctest": CTEST, "g++-98": "", "clang++-99": ""}.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "BREAKS": breaks,
        "STATUS": f"{status}",
    }
    command = ["bash", str(copy), "g++-98", "clang++-99"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_all_that_are_there_build(tmp_path: Path) -> None:
    done = run(tmp_path, breaks="nothing")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "compilers: 2 passed, 0 failed")


@pytest.mark.parametrize(
    ("breaks", "counts"),
    [
        ("COMPILER=clang++-99", "1 passed, 1 failed"),
        ("--build build/compilers/g++-98", "1 passed, 1 failed"),
        ("--build", "0 passed, 2 failed"),
        ("--test-dir build/compilers/g++-98", "1 passed, 1 failed"),
    ],
)
def test_one_that_does_not_build_is_named(breaks: str, counts: str, tmp_path: Path) -> None:
    done = run(tmp_path, breaks)
    assert done.returncode == 1
    assert "does not build the programs, or their tests fail" in done.stdout
    assert counts in done.stdout.splitlines()[-1]


def test_programs_that_do_not_start_are_not_built(tmp_path: Path) -> None:
    assert run(tmp_path, breaks="nothing", status=1).returncode == 1
