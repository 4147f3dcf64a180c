"""The ladder of `make test`: what it does after a rung that failed, and what its end says."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import test_ladder as ladder
from tools.rungs import LADDERS, Rung, building
from tools.test_ladder import Climb, first_error

LIMIT_S = 30.0
COMPILER = "x.cpp:1:2: error: invalid feature combination: +avx10.1-256 [-Werror]"
BROKEN = building(["sh", "-c", f"echo 'FAILED: x.o'; echo '{COMPILER}'; echo stopped.; exit 1"])
RAN = ["sh", "-c", "echo ran >>ran; echo 7 passed"]
LOST = ["sh", "-c", "echo 'FAILED tests/x.py::test_y - z'; echo '3 passed, 2 failed'; exit 1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ladder, "ROOT", tmp_path)
    monkeypatch.setattr(ladder, "LOGS", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rung(name: str, command: list[str], needs: str = "", limit_s: float = LIMIT_S) -> Rung:
    return Rung(name=name, command=command, limit_s=limit_s, needs=needs)


def climbed(*steps: list[Rung]) -> Climb:
    climb = Climb()
    for step in steps:
        climb.step(step)
    return climb


def test_what_could_not_be_built_is_not_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    climb = climbed(
        [rung("asan", BROKEN)], [rung("frames", RAN, "asan"), rung("fuzz", RAN, "asan")]
    )
    lines = capsys.readouterr().out.splitlines()
    for name in ("frames", "fuzz"):
        assert f"{name:20}not run: asan did not build" in lines
    assert not (folder / "ran").exists()
    assert climb.summary().splitlines() == [
        f"Failed first: asan did not build: {COMPILER} (asan.log)",
        "Failed: frames not run: asan did not build",
        "Failed: fuzz not run: asan did not build",
        "0 passed, 3 failed",
    ]


def test_rungs_that_need_something_else_still_run(folder: Path) -> None:
    climb = climbed([rung("asan", BROKEN)], [rung("labs", RAN), rung("guest", RAN, "image")])
    assert (folder / "ran").read_text() == "ran\nran\n"
    assert climb.summary().endswith("\n14 passed, 1 failed")


def test_what_was_built_is_run_though_its_own_tests_fail(folder: Path) -> None:
    """Their programs are there."""
    tested = building(["true"], tuple(LOST))
    climb = climbed([rung("asan", tested)], [rung("frames", RAN, "asan")])
    assert (folder / "ran").exists()
    assert climb.summary().splitlines() == [
        "Failed first: asan failed: FAILED tests/x.py::test_y - z (asan.log)",
        "10 passed, 2 failed",
    ]


def test_what_needs_a_rung_that_was_not_run_names_the_first_cause() -> None:
    climb = climbed([rung("a", BROKEN)], [rung("b", RAN, "a")], [rung("c", RAN, "b")])
    assert [each.why for each in climb.failures[1:]] == ["not run: a did not build"] * 2


def test_a_rung_without_time_to_build_stops_those_that_need_it() -> None:
    late = rung("a", ["sleep", "60"], limit_s=0.2)
    climb = climbed([late], [rung("b", RAN, "a")])
    assert climb.failures[1].why == "not run: a ran out of time"


def test_the_first_cause_is_the_first_that_failed() -> None:
    climb = climbed([rung("labs", LOST)], [rung("asan", BROKEN)])
    first, second, last = climb.summary().splitlines()
    assert first.startswith("Failed first: labs failed: FAILED tests/x.py::test_y")
    assert second.startswith("Failed: asan did not build: x.cpp:1:2: error: ")
    assert last == "3 passed, 3 failed"


def test_nothing_but_the_counts_if_all_passed() -> None:
    assert climbed([rung("a", RAN)]).summary() == "7 passed, 0 failed"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("In file\nx.hpp:3: fatal error: no such file\nmake: *** Error 2", "x.hpp:3: fatal error"),
        ("1/2 a ....Passed\n2/2 b ....***Failed 1 s\nmake: *** Error 8", "2/2 b ....***Failed"),
        ("E assert\nERROR tests/a.py - x\nFAILED tests/b.py", "ERROR tests/a.py - x"),
        ("one\nmake: *** [Makefile:3: x] Error 1\n", "make: *** [Makefile:3: x] Error 1"),
        ("one\nlast\n\n", "last"),
        ("", "it printed nothing"),
    ],
)
def test_the_first_error_of_a_log(log: str, line: str) -> None:
    assert first_error(log).startswith(line)


def test_a_need_is_built_by_an_earlier_step() -> None:
    """Otherwise nothing would be left out: a rung of the same step has begun already."""
    steps = [*LADDERS["test"], *LADDERS["test-long"]]
    earlier: set[str] = set()
    for step in steps:
        assert {each.needs for each in step if each.needs} <= earlier
        earlier |= {each.name for each in step}


def test_the_program_ends_with_the_counts(tmp_path: Path) -> None:
    """The whole program, with one ladder of a rung that does not build and one that needs it."""
    script = (
        "import sys; sys.path.append('tools'); import test_ladder as t; import pathlib\n"
        f"t.ROOT = t.LOGS = pathlib.Path({str(tmp_path)!r})\n"
        f"t.LADDERS['check'] = [[t.Rung(name='a', command={BROKEN!r}, limit_s=9)],\n"
        "  [t.Rung(name='b', command=['true'], limit_s=9, needs='a')]]\n"
        "sys.argv = ['x', 'check']; sys.exit(t.main())\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    first, missed, counts = done.stdout.splitlines()[-3:]
    assert first.startswith("Failed first: a did not build: x.cpp:1:2: error: ")
    assert missed == "Failed: b not run: a did not build"
    assert counts == "0 passed, 2 failed"
