"""The programs of a gateway that translate frames on a tun device.

Each is started, with a wait until it reads frames, killed so that it can be started again, and
checked: DutError, with its last line, if it has ended.
"""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from natxy.dut.cpus import put_first
from natxy.dut.process import within
from natxy.dut.recipe_keys import Daemon
from natxy.errors import DutError
from natxy.interrupts import without_interrupts
from natxy.program_output import beginning, start, why_it_ended

CARRIER = "/sys/class/net/{device}/carrier"  # in a guest; 1: a program has attached to the device
STARTS_WITHIN_S = 5.0
STOPS_WITHIN_S = 2.0


class Process:
    """A child process. `pinned` is its command, in its namespace and on the gateway's CPU."""

    def __init__(self, daemon: Daemon, folder: Path, pinned: Sequence[str], *, first: bool) -> None:
        self.daemon = daemon
        self._log = folder / f"{daemon.device}.log"
        self._command = pinned
        self._first = first  # before other programs on its CPU
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._end(at_once=True)
        with without_interrupts():
            process = self._process = start(self._command, self._log)
        within(
            STARTS_WITHIN_S,
            lambda: self.daemon.ready in beginning(self._log) or process.poll() is not None,
        )
        self.check()
        if self._first:
            put_first(process.pid)

    def kill(self) -> None:
        self.check()
        self._end(at_once=True)

    def stop(self) -> None:
        self._end(at_once=False)

    def check(self) -> None:
        if self._process is None or self._process.poll() is not None:
            why = why_it_ended(self._process, self._log)
            raise DutError(f"{self.daemon.role}{self.daemon.program} {why}")

    @property
    def pids(self) -> tuple[int, ...]:
        return () if self._process is None else (self._process.pid,)

    @property
    def version(self) -> str:
        said = re.search(self.daemon.version, beginning(self._log))
        return said.group(1) if said else "(version unknown)"

    def _end(self, *, at_once: bool) -> None:
        if self._process is None:
            return
        if at_once:
            self._process.kill()
        else:
            self._process.terminate()
        try:
            self._process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


class Job:
    """A job of a guest's bash, which ends with the guest."""

    pids: tuple[int, ...] = ()  # of this machine
    version = ""  # the result has the versions of the guest's packages

    def __init__(
        self, daemon: Daemon, folder: Path, command: str, run: Callable[[str], str]
    ) -> None:
        self.daemon = daemon
        self._log = folder / f"{daemon.device}.log"
        self._pid = self._log.with_suffix(".pid")
        self._command = command
        self._run = run

    def start(self) -> None:
        self._run(f"{self._command} >{self._log} 2>&1 & echo $! >{self._pid}")
        self._run(f"{carrier_becomes(1, self.daemon.device)} || {{ cat {self._log}; false; }}")

    def kill(self) -> None:
        self._run(f"kill -9 $(<{self._pid}) && {carrier_becomes(0, self.daemon.device)}")

    def stop(self) -> None:
        return

    def check(self) -> None:
        self._run(f"kill -0 $(<{self._pid}) || {{ cat {self._log}; false; }}")


def carrier_becomes(wanted: int, device: str) -> str:
    """Returns a command that waits for 5 s, and fails if the tun device has another state then."""
    state = f'read -r state <{CARRIER.format(device=device)} && [ "$state" = {wanted} ]'
    return f"for n in {{1..50}}; do {state} && break; sleep 0.1; done && {state}"
