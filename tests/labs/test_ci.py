"""The scripts of action.yml: a gateway that became slower fails the job, an equal one does not."""

import os
import zipfile
from pathlib import Path

import pytest
import yaml

from tools.bench_pairs import ACTION, compared, run_action, slower_tayga

MUCH = 0.7  # more time for each frame


def test_no_value_of_a_caller_stands_in_a_script() -> None:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3
    assert [script for script in scripts if "${{" in script] == []


def test_a_value_is_one_word_of_a_command(tmp_path: Path) -> None:
    """Whatever it is: a fake natxy writes down its arguments."""
    fake = tmp_path / "bin" / "natxy"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nfor word; do echo "$word"; done > words; exit 1\n')
    fake.chmod(0o755)
    evil = '"; touch owned; $(touch owned) `touch owned`'
    names = ("experiment", "base", "head", "rounds", "fail-if")
    given = {name: f"{name} {evil}" for name in names}
    assert run_action(tmp_path, given, f"{fake.parent}:{os.environ['PATH']}") == 1
    assert (tmp_path / "words").read_text().splitlines() == [
        "bench",
        *(f"--{name}={given[name]}" for name in ("base", "head", "rounds", "fail-if")),
        "--output=natxy-bench/1",
        "--",
        given["experiment"],
    ]
    assert not (tmp_path / "owned").exists()
    assert "did not measure" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.long
def test_a_wheel_is_installed(tmp_path: Path) -> None:
    wheel = tmp_path / "natxy-9-py3-none-any.whl"
    information = "natxy-9.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("natxy9.py", 'def main(): open("measured", "w")\n')
        archive.writestr(
            f"{information}/METADATA", "Metadata-Version: 2.1\nName: natxy\nVersion: 9\n"
        )
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(
            f"{information}/entry_points.txt", "[console_scripts]\nnatxy = natxy9:main\n"
        )
        archive.writestr(f"{information}/RECORD", "")
    given = {"wheel": wheel.name, "experiment": "x", "base": "true", "head": "true"}
    assert run_action(tmp_path, given, os.environ["PATH"]) == 0
    assert (tmp_path / "measured").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", ["equal", "slower"])
def test_a_slower_gateway_fails_the_job_and_an_equal_one_does_not(
    tmp_path: Path, name: str
) -> None:
    slower = slower_tayga(tmp_path / "slower", MUCH) if name == "slower" else None
    status = compared(tmp_path, slower, rounds=5)
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert status == (1 if slower else 0), summary
    assert ("**worse**" in summary) is bool(slower)
    assert "├" in summary
