"""Base of the drivers that control a gateway by commands, each of which has a key."""

import re
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil, isfinite

from natxy.dut.base import ConnectionTable, Dut, TableParameters
from natxy.errors import DutError
from natxy.interrupts import without_interrupts
from natxy.model.reason import Reason
from natxy.model.telemetry import CpuTime, Snapshot
from natxy.visible import visible

COUNT = "the number of connections"
DELETION = "the seconds that the deletion took, and after them, if known, how many connections"
TELEMETRY = (
    "lines such as memory_bytes 1048576, connections 4096, cpu0.busy_s 12.5, "
    "dropped.rx_ring 3, each once"
)
WHOLE = re.compile(r"memory_bytes|connections|dropped\.\S+")
CPU = re.compile(r"cpu(?P<cpu>\d+)\.(?P<time>busy_s|softirq_s|irq_s|steal_s)")


def show_on_stderr(key: str, command: str) -> None:
    for line in command.split("\n"):
        print(visible(f"dut.{key}: {line}"), file=sys.stderr, flush=True)


class Commanded(Dut, ABC):
    """Runs the commands of keys such as `start`; a driver says where they are, and runs them.

    It is its own ConnectionTable, as far as there are commands for it.
    """

    tester_namespace: str | None = None

    def __init__(self, show: Callable[[str, str], None], parameters: TableParameters) -> None:
        self._show = show
        self._parameters = parameters
        self._started = False
        self._restarting = threading.Lock()  # another thread may call `restart`

    @abstractmethod
    def can(self, key: str) -> bool:
        """Returns whether there is a command with this key."""

    @abstractmethod
    def text(self, key: str) -> str:
        """Returns the command with this key, for a sentence about it."""

    @abstractmethod
    def run(self, key: str, values: Mapping[str, str] | None = None) -> str:
        """Runs the command with this key and returns its output; empty if there is no such command.

        `values` are named timeout_s, entries, hash_size and cores; empty text: no change.
        """

    @abstractmethod
    def missing(self, key: str) -> DutError:
        """Returns the error that there is no command with this key, which is needed."""

    @abstractmethod
    def where(self, key: str) -> str:
        """Returns the subject of errors about the command with this key."""

    def start(self) -> None:
        self._started = True  # also a start that failed half-way is stopped
        self.run("start")

    def stop(self) -> None:
        if not self._started:
            return
        self._started = False
        with without_interrupts():
            self.run("stop")

    def reset(self) -> None:
        """Runs `reset`, or, if there is none, `delete_all`."""
        self.run("reset" if self.can("reset") else "delete_all")

    def restart(self) -> str:
        if not self.can("restart"):
            raise self.missing("restart")
        with self._restarting:
            self.run("restart")
        return f"command: {self.text('restart')}"

    def recover(self) -> None:
        self.run("stop")
        self.run("start")

    def set_cores(self, cores: int) -> None:
        self._told("set_cores", cores=str(cores))

    @property
    def table(self) -> ConnectionTable | None:
        """The table, if a command can count, empty or set it, or a parameter of it is known."""
        known = self._parameters != TableParameters()
        asked = any(self.can(key) for key in ("count", "delete_all", "set_timeout", "resize"))
        return self if known or asked else None

    def trial_fault(self) -> Reason | None:
        """Runs `check`; without it, a gateway that has died looks like one that loses frames."""
        if self._restarting.acquire(blocking=False):  # a restart itself checks the gateway
            try:
                self.run("check")
            finally:
                self._restarting.release()
        return None

    def telemetry(self) -> Snapshot:
        try:
            return _snapshot_of(self.run("telemetry"), at_s=time.monotonic())
        except ValueError as wrong:
            raise self._misread("telemetry", str(wrong), TELEMETRY) from None

    def parameters(self) -> TableParameters:
        return self._parameters

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        self._told("resize", entries=str(entries or ""), hash_size=str(hash_size or ""))
        now = self._parameters
        self._parameters = replace(
            now, entries=entries or now.entries, hash_size=hash_size or now.hash_size
        )

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeout, rounded up to whole seconds, which all gateways take."""
        whole_s = ceil(timeout_s)
        self._told("set_timeout", timeout_s=str(whole_s))
        self._parameters = replace(self._parameters, timeout_s=float(whole_s))

    def count(self) -> int:
        return self._whole("count", self._numbers("count", COUNT), COUNT)

    def delete_all(self) -> float:
        """Deletes all connections; the command prints the seconds by the gateway's own clock.

        It may print the number of connections after them.
        """
        seconds, *told = self._numbers("delete_all", DELETION)
        if told:
            self._whole("delete_all", told, DELETION)
        return seconds

    def _whole(self, key: str, numbers: list[float], expected: str) -> int:
        number, *more = numbers
        if more or not number.is_integer():
            line = " ".join(f"{each:g}" for each in numbers)
            raise self._misread(key, line, expected)
        return int(number)

    def _numbers(self, key: str, expected: str) -> list[float]:
        """Runs a command and returns the numbers in the last line that it printed.

        `expected` says in the error what the line should hold.
        """
        line = self._told(key).split("\n")[-1]
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            numbers = []
        if not numbers or not all(isfinite(number) and number >= 0 for number in numbers):
            raise self._misread(key, line, expected)
        return numbers

    def _misread(self, key: str, line: str, expected: str) -> DutError:
        return DutError(
            f'{self.where(key)}: `{self.text(key)}` printed "{line[:60]}" (expected {expected})'
        )

    def _told(self, key: str, **values: str) -> str:
        """Runs a command and returns its output; DutError if there is no such command."""
        if not self.can(key):
            raise self.missing(key)
        return self.run(key, values)


def _snapshot_of(text: str, *, at_s: float) -> Snapshot:
    """Returns what lines of a name and a value say; ValueError with the first wrong line."""
    values: dict[str, str] = {}
    for line in text.split("\n") if text else ():
        name, *rest = line.split() or [""]
        if len(rest) != 1 or name in values or not _is_right(name, rest[0]):
            raise ValueError(line)
        values[name] = rest[0]
    whole = {name: int(value) for name, value in values.items() if WHOLE.fullmatch(name)}
    drops = {name.partition(".")[2]: n for name, n in whole.items() if name.startswith("dropped.")}
    return Snapshot(
        at_s=at_s,
        cpus=_cpus(values),
        memory_bytes=whole.get("memory_bytes"),
        memory_of="what the command dut.telemetry counts" if "memory_bytes" in whole else "",
        connections=whole.get("connections"),
        drops=drops or None,
    )


def _is_right(name: str, value: str) -> bool:
    if WHOLE.fullmatch(name):
        return value.isascii() and value.isdigit()
    try:
        number = float(value)
    except ValueError:
        return False
    return CPU.fullmatch(name) is not None and isfinite(number) and number >= 0


def _cpus(values: Mapping[str, str]) -> tuple[CpuTime, ...]:
    none = dict.fromkeys(("busy_s", "softirq_s", "irq_s", "steal_s"), 0.0)
    times: dict[int, dict[str, float]] = {}
    for name, value in values.items():
        if found := CPU.fullmatch(name):
            times.setdefault(int(found["cpu"]), dict(none))[found["time"]] = float(value)
    return tuple(CpuTime(cpu=cpu, **of) for cpu, of in sorted(times.items()))
