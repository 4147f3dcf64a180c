"""A device under test that the testbed's shell commands start, stop, reset and describe."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil, isfinite

from natxy.dut.base import ConnectionTable, Deletion, TableParameters, TesterPorts
from natxy.dut.config import CommandConfig
from natxy.dut.interrupts import without_interrupts
from natxy.dut.restart_guard import RestartGuard
from natxy.dut.telemetry_lines import EXPECTED, snapshot_of
from natxy.dut.unwatched import Unwatched
from natxy.errors import DutError
from natxy.model.telemetry import Snapshot

COUNT = "the number of connections"
DELETION = "the seconds that the deletion took, and after them, if known, how many connections"


def show_on_stderr(key: str, command: str) -> None:
    print(f"dut.{key}: {command}", file=sys.stderr, flush=True)


class CommandDut(Unwatched):
    """Runs the testbed's commands with `sh`, unchanged; each is shown before it runs."""

    tester_namespace: str | None = None

    def __init__(
        self, config: CommandConfig, show: Callable[[str, str], None] = show_on_stderr
    ) -> None:
        self._config = config
        self._show = show
        self._started = False
        self._guard = RestartGuard()
        self._parameters = TableParameters(
            entries=config.entries,
            hash_size=config.hash_size,
            timeout_s=config.connection_timeout_s,
        )

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
        """Runs `reset`, or, if there is none, `delete_all`."""
        self._run("reset" if self.can("reset") else "delete_all")

    def restart(self) -> str:
        if self._config.restart is None:
            raise DutError("dut.restart: is missing (expected the command that resets the device).")
        with self._guard.restarting():
            self._run("restart")
        return f"command: {self._config.restart}"

    def recover(self) -> None:
        self._run("stop")
        self._run("start")

    def set_cores(self, cores: int) -> None:
        self._told("set_cores", NATXY_CORES=str(cores))

    @property
    def table(self) -> ConnectionTable | None:
        """The table, if a command can count, empty or set it, or a parameter of it is known."""
        known = self._parameters != TableParameters()
        asked = any(self.can(key) for key in ("count", "delete_all", "set_timeout", "resize"))
        return CommandTable(self) if known or asked else None

    def describe(self) -> dict[str, str]:
        return {
            "kind": "command",
            "commands": self._config.model_dump_json(exclude={"kind"}, exclude_none=True),
            "description": self._run("describe"),
        }

    def before_trial(self) -> None:
        pass

    def trial_fault(self) -> str | None:
        """Runs `check`; without it, a device that has died looks like one that loses frames."""
        self._guard.unless_restarting(self._check)
        return None

    def _check(self) -> None:
        self._run("check")

    def telemetry(self) -> Snapshot:
        try:
            return snapshot_of(self._run("telemetry"), at_s=time.monotonic())
        except ValueError as wrong:
            raise self.misread("telemetry", str(wrong), EXPECTED) from None

    def tester_ports(self) -> TesterPorts | None:
        return None

    @property
    def parameters(self) -> TableParameters:
        return self._parameters

    def change(self, key: str, parameters: TableParameters, **environment: str) -> None:
        """Runs a command that changes the table to these parameters."""
        self._told(key, **environment)
        self._parameters = parameters

    def can(self, key: str) -> bool:
        return getattr(self._config, key) is not None

    def numbers(self, key: str, expected: str) -> list[float]:
        """Runs a command and returns the numbers in the last line that it printed.

        `expected` says in the error what the line should hold.
        """
        line = ["", *self._told(key).splitlines()][-1]
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            numbers = []
        if not numbers or not all(isfinite(number) and number >= 0 for number in numbers):
            raise self.misread(key, line, expected)
        return numbers

    def misread(self, key: str, line: str, expected: str) -> DutError:
        command = getattr(self._config, key)
        return DutError(f'dut.{key}: `{command}` printed "{line[:60]}" (expected {expected})')

    def _told(self, key: str, **environment: str) -> str:
        """Runs a command and returns its output; DutError if the testbed has no such command."""
        if getattr(self._config, key) is None:
            raise DutError(f"dut.{key}: is missing (expected a shell command).")
        return self._run(key, environment)

    def _run(self, key: str, environment: Mapping[str, str] | None = None) -> str:
        command: str | None = getattr(self._config, key)
        if command is None:
            return ""
        told = environment or {}
        self._show(key, " ".join([*(f"{name}={value}" for name, value in told.items()), command]))
        return run_shell(key, command, self._config.timeout_s, told)


class CommandTable:
    """The connection table of a CommandDut, as far as the testbed has commands for it."""

    def __init__(self, dut: CommandDut) -> None:
        self._dut = dut

    def parameters(self) -> TableParameters:
        return self._dut.parameters

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        now = self._dut.parameters
        self._dut.change(
            "resize",
            replace(now, entries=entries or now.entries, hash_size=hash_size or now.hash_size),
            NATXY_ENTRIES=str(entries or ""),
            NATXY_HASH_SIZE=str(hash_size or ""),
        )

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeout, rounded up to whole seconds, which all devices take."""
        whole_s = ceil(timeout_s)
        self._dut.change(
            "set_timeout",
            replace(self._dut.parameters, timeout_s=float(whole_s)),
            NATXY_TIMEOUT_S=str(whole_s),
        )

    def count(self) -> int:
        return self._whole("count", self._dut.numbers("count", COUNT), COUNT)

    def delete_all(self) -> Deletion:
        """Deletes all connections; the command prints the seconds by the device's own clock.

        It may print the number of connections after them. If it does not, they are counted before,
        if there is a command for that.
        """
        counted = self.count() if self._dut.can("count") else None
        seconds, *told = self._dut.numbers("delete_all", DELETION)
        if told:
            counted = self._whole("delete_all", told, DELETION)
        return Deletion(connections=counted, seconds=seconds)

    def _whole(self, key: str, numbers: list[float], expected: str) -> int:
        number, *more = numbers
        if more or not number.is_integer():
            line = " ".join(f"{each:g}" for each in numbers)
            raise self._dut.misread(key, line, expected)
        return int(number)


def run_shell(
    key: str, command: str, timeout_s: float, environment: Mapping[str, str] | None = None
) -> str:
    """Returns the command's output; DutError with its last line if it fails or takes too long.

    The command gets a session of its own: Ctrl-C ends the wait here, which then ends the session.
    """
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as late:
        raise DutError(
            f"dut.{key}: `{command}` did not end within dut.timeout_s = {timeout_s:g} s (expected "
            "a command that ends; start a long-running program in the background and redirect its "
            "output)."
        ) from late
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0:
        words = (errors or output).strip().splitlines() or ["it printed nothing"]
        raise DutError(
            f"dut.{key}: `{command}` ended with status {process.returncode}: {words[-1]}"
        )
    return output.strip()
