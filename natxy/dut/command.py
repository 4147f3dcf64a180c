"""A device under test that shell commands start, stop, reset and describe."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

from natxy.dut.base import TesterPorts
from natxy.dut.config import CommandConfig
from natxy.dut.interrupts import without_interrupts
from natxy.dut.stateless import Stateless
from natxy.errors import DutError


def show_on_stderr(key: str, command: str) -> None:
    print(f"dut.{key}: {command}", file=sys.stderr, flush=True)


class CommandDut(Stateless):
    """The commands are the testbed's, run by `sh` as they stand; each is shown before it runs."""

    tester_namespace: str | None = None

    def __init__(
        self, config: CommandConfig, show: Callable[[str, str], None] = show_on_stderr
    ) -> None:
        self._config = config
        self._show = show
        self._started = False

    def start(self) -> None:
        self._started = True  # also a start that failed half-way is stopped
        self._run("start")

    def stop(self) -> None:
        if not self._started:
            return
        self._started = False
        with without_interrupts():
            self._run("stop")

    def reset(self) -> None:
        self._run("reset")

    def restart(self) -> str:
        if self._config.restart is None:
            raise DutError("dut.restart: is missing; the command that resets the device is right.")
        self._run("restart")
        return f"command: {self._config.restart}"

    def describe(self) -> dict[str, str]:
        return {
            "kind": "command",
            "commands": self._config.model_dump_json(exclude={"kind"}, exclude_none=True),
            "description": self._run("describe"),
        }

    def before_trial(self) -> None:
        pass

    def trial_fault(self) -> str | None:
        return None

    def tester_ports(self) -> TesterPorts | None:
        return None

    def _run(self, key: str) -> str:
        command: str | None = getattr(self._config, key)
        if command is None:
            return ""
        self._show(key, command)
        return run_shell(key, command, self._config.timeout_s)


def run_shell(key: str, command: str, timeout_s: float) -> str:
    """Standard output; DutError with the command's last words if it fails or takes too long.

    A session of its own: Ctrl-C ends the wait here, and with it all that the command started.
    """
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as late:
        raise DutError(
            f"dut.{key}: `{command}` did not end in {timeout_s:g} s; dut.timeout_s says how long "
            "it may take, and what goes on running belongs in the background, its output elsewhere."
        ) from late
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0:
        words = (errors or output).strip().splitlines() or ["it said nothing"]
        raise DutError(f"dut.{key}: `{command}` ended with {process.returncode}: {words[-1]}")
    return output.strip()
