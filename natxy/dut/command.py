"""A device under test that the testbed's shell commands start, stop, reset and describe."""

import os
import subprocess
from collections.abc import Callable, Mapping

from natxy.dut.base import TableParameters
from natxy.dut.commanded import Commanded, show_on_stderr
from natxy.dut.config import CommandConfig, OnThisMachine
from natxy.dut.none import Here
from natxy.errors import DutError
from natxy.model.telemetry import Snapshot
from natxy.program_output import OutputTooLong, run


class CommandDut(Here, Commanded):
    """Runs the testbed's commands with `sh`, unchanged; each is shown before it runs.

    Values are in the environment: timeout_s is NATXY_TIMEOUT_S there.
    """

    def __init__(
        self, config: CommandConfig, show: Callable[[str, str], None] = show_on_stderr
    ) -> None:
        self._config = config
        self._place = config
        super().__init__(
            show,
            TableParameters(
                entries=config.entries,
                hash_size=config.hash_size,
                timeout_s=config.connection_timeout_s,
            ),
        )

    def describe(self) -> dict[str, str]:
        named = {"name": self._config.name} if self._config.name else {}
        return named | {
            "kind": "command",
            "commands": self._config.model_dump_json(
                exclude={"kind", "name", *OnThisMachine.model_fields}, exclude_none=True
            ),
            **self._where(),
            "description": self.run("describe"),
        }

    def telemetry(self) -> Snapshot:
        return Commanded.telemetry(self) if self.can("telemetry") else Here.telemetry(self)

    def can(self, key: str) -> bool:
        return getattr(self._config, key) is not None

    def text(self, key: str) -> str:
        return str(getattr(self._config, key))

    def where(self, key: str) -> str:
        return f"dut.{key}"

    def missing(self, key: str) -> DutError:
        if key == "restart":
            return DutError(
                "dut.restart: is missing (expected the command that resets the gateway)."
            )
        return DutError(f"dut.{key}: is missing (expected a shell command).")

    def run(self, key: str, values: Mapping[str, str] | None = None) -> str:
        command: str | None = getattr(self._config, key)
        if command is None:
            return ""
        told = {f"NATXY_{name.upper()}": value for name, value in (values or {}).items()}
        self._show(key, " ".join([*(f"{name}={value}" for name, value in told.items()), command]))
        return run_shell(key, command, self._config.timeout_s, told)


def run_shell(
    key: str, command: str, timeout_s: float, environment: Mapping[str, str] | None = None
) -> str:
    """Returns the command's output; DutError with its last line if it fails or takes too long.

    The command gets a session of its own: Ctrl-C ends the wait here, which then ends the session.
    """
    try:
        ended = run(
            ["sh", "-c", command],
            timeout_s=timeout_s,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired as late:
        raise DutError(
            f"dut.{key}: `{command}` did not end within dut.timeout_s = {timeout_s:g} s (expected "
            "a command that ends; start a long-running program in the background and redirect its "
            "output)."
        ) from late
    except OutputTooLong as error:
        raise DutError(f"dut.{key}: `{command}` {error}.") from error
    if ended.status != 0:
        raise DutError(
            f"dut.{key}: `{command}` ended with status {ended.status}: {ended.last_line}"
        )
    return ended.output.strip()
