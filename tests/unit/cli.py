"""What tests of cli share with others."""

import pytest

from natxy.cli import run_command

Captured = pytest.CaptureFixture[str]


def complaint(capsys: Captured, *arguments: object, status: int = 2) -> str:
    assert run_command([str(argument) for argument in arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert lines[-1].startswith("natxy: ")
    return lines[-1].removeprefix("natxy: ")
