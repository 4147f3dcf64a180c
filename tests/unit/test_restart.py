"""A gateway that commands control, and one that nobody here controls, are reset or refused."""

from pathlib import Path

import pytest

from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.dut.none import NoDut
from natxy.errors import DutError


def test_a_command_resets_and_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mark = tmp_path / "was-reset"
    command = f"touch {mark}"
    assert CommandDut(CommandConfig(kind="command", restart=command)).restart() == (
        f"command: {command}"
    )
    assert mark.exists()
    assert command in capfd.readouterr().err


def test_a_command_that_fails_is_no_reset() -> None:
    with pytest.raises(DutError, match="false"):
        CommandDut(CommandConfig(kind="command", restart="false")).restart()


def test_without_a_command_it_is_refused() -> None:
    with pytest.raises(DutError, match=r"dut\.restart: is missing"):
        CommandDut(CommandConfig(kind="command")).restart()


def test_a_device_of_somebody_else_is_refused() -> None:
    with pytest.raises(DutError, match="cannot reset a gateway of kind"):
        NoDut().restart()
