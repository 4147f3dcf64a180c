"""`natxy doctor`: problems first, each with a line to copy; the rest is one line."""

import json
import subprocess

import pytest

from natxy.cli import doctor as verb
from natxy.cli import run_command
from natxy.doctor.finding import at_boot, costs, good, impossible
from tests.unit.cli import Captured, complaint

LONG = "echo " + "x" * 200 + "  # a line that is longer than the terminal is wide"
FOUND = [
    good("alpha", "fine"),
    costs("beta", "slow", cost="lower figures", remedy=LONG),
    good("gamma", "fine"),
    impossible("delta", "missing", cost="no trials", remedy="# buy one; or 'borrow' it"),
]


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "examine_tools", lambda: FOUND)
    for name in ("capabilities", "limits", "processor", "kernel", "stack", "ports", "nodes"):
        monkeypatch.setattr(verb, f"examine_{name}", lambda *_: [])


def test_the_worst_is_first_and_what_is_fine_is_one_line(capsys: Captured) -> None:
    assert run_command(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["✖ delta: missing", "  no trials", f"  {FOUND[3].remedy}"]
    assert lines[4:7] == ["▲ beta: slow", "  lower figures", f"  {LONG}"]
    assert [line for line in lines if "alpha" in line or "gamma" in line] == []
    assert "2 checks passed; -v lists them." in lines


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_what_is_fine_can_be_listed(option: str, capsys: Captured) -> None:
    assert run_command(["doctor", option]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines.index("● alpha: fine") > lines.index("▲ beta: slow")
    assert "● gamma: fine" in lines


def test_the_remedies_are_a_script_that_a_shell_reads(capsys: Captured) -> None:
    assert run_command(["doctor", "--script"]) == 1
    script = capsys.readouterr().out
    lines = script.splitlines()
    assert lines[0] == "#!/bin/sh"
    assert lines.index(FOUND[3].remedy) < lines.index(LONG)
    assert "# beta: slow" in lines
    assert "alpha" not in script
    assert subprocess.run(["sh", "-n", "-c", script]).returncode == 0
    assert complaint(capsys, "doctor", "--script", "--json").startswith("--script: ")


def test_what_could_do_harm_is_no_line_of_the_script(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = at_boot("x", "y=1", "then z")
    monkeypatch.setattr(verb, "examine_tools", lambda: [costs("b", "s", cost="c", remedy=boot)])
    assert run_command(["doctor", "--script"]) == 0
    *_, condition, command = capsys.readouterr().out.splitlines()
    assert condition.startswith("# Only if ")
    assert condition.endswith("then z:")
    assert command == f"# {boot.partition('  # ')[0]}"
    assert ">>" not in command, "once and twice are the same"


def test_json_has_all(capsys: Captured) -> None:
    assert run_command(["doctor", "--json"]) == 1
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == [
        each.name for each in FOUND
    ]


def test_nothing_wrong_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "examine_tools", lambda: FOUND[:1])
    assert run_command(["doctor"]) == 0
    assert capsys.readouterr().out == "1 check passed; -v lists them.\n"
