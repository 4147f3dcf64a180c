"""What a build shows: how far it is, and its output if it fails."""

import subprocess
import sys
from pathlib import Path

BUILDING = Path(__file__).parents[2] / "tools" / "building.py"


def building(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BUILDING), "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_a_log_has_a_line_for_each_quarter_of_the_steps() -> None:
    done = building('for at in 1 2 3 4 5 6 7 8; do echo "[$at/8] a.cpp"; done')
    assert done.returncode == 0
    assert done.stderr.split("\n") == [*(f"  {at} of 8 steps" for at in (2, 4, 6, 8)), ""]


def test_the_output_of_a_build_that_fails_is_shown() -> None:
    done = building("echo '[1/9] a.cpp'; echo 'a.cpp:1: error: no'; exit 3")
    assert done.returncode == 3
    assert "a.cpp:1: error: no" in done.stderr
