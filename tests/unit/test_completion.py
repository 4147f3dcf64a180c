"""Completion: the scripts, and what `natxy` answers to them without an import of a command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.cli.completion import SHELLS
from natxy.cli.declared import COMPLETE, all_declared
from natxy.cli.verbs import VERBS
from tests.programs import installed
from tests.unit.cli import Captured, complaint

ROOT = Path(__file__).parents[2]


def completed(line: str) -> list[str]:
    """Returns the words with which bash may go on."""
    asked = {COMPLETE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = subprocess.run(
        [str(installed("natxy"))], env=os.environ | asked, capture_output=True, text=True
    )
    assert done.stderr == ""
    return [each.partition(",")[2] for each in done.stdout.splitlines()]


def test_commands_are_completed() -> None:
    assert completed("natxy thr") == ["throughput"]
    assert set(completed("natxy ")) == {*VERBS, "help"}
    assert completed("natxy help cap") == ["capacity"]
    assert completed("natxy completion ") == list(SHELLS)


def test_options_are_completed() -> None:
    flags = {flag for each in all_declared()["latency"].parameters for flag in each.flags}
    found = completed("natxy latency x.toml --")
    assert set(found) - {"--help"} == {flag for flag in flags if flag.startswith("--")}
    assert completed("natxy latency x.toml --fra") == ["--frame-size"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_the_shell_reads(
    shell: str, capsys: Captured, tmp_path: Path
) -> None:
    assert run_command(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    assert COMPLETE in script.read_text()
    if program := shutil.which(shell):
        subprocess.run([program, "-n", script], check=True)


def test_bash_completes_with_the_script(tmp_path: Path, capsys: Captured) -> None:
    assert run_command(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    commands = (
        "source ./script; COMP_WORDS=(natxy throughput x.toml --max); COMP_CWORD=3; "
        "_natxy_completion natxy; echo ${COMPREPLY[@]}"
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = subprocess.check_output(
        ["bash", "-c", commands], cwd=tmp_path, env=os.environ | {"PATH": path}, text=True
    )
    assert said.split() == ["--max-rate"]


def test_another_shell_is_refused(capsys: Captured) -> None:
    said = complaint(capsys, "completion", "csh")
    assert said.startswith('SHELL: unknown value "csh" (expected bash, zsh or fish')
