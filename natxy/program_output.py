"""The output of another program, or machine, of which Natxy reads at most LIMIT_MIB."""

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from select import PIPE_BUF
from typing import Any

from natxy.interrupts import without_interrupts

LIMIT_MIB = 16
LIMIT_BYTES = LIMIT_MIB * 2**20
AT_ONCE_BYTES = 65536
LAST_BYTES = 65536  # of a log, for its last line


class OutputTooLong(Exception):
    """More than the limit; the message continues a sentence that begins with the program."""

    def __init__(self) -> None:
        super().__init__(f"printed more than {LIMIT_MIB} MiB (expected less)")


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A program that ended by itself."""

    status: int
    output: str
    errors: str

    @property
    def last_line(self) -> str:
        """The last line of its complaints or, if it has none, of its output."""
        lines = (self.errors.strip() or self.output.strip()).splitlines()
        return lines[-1] if lines else "it printed nothing"


def run(command: Sequence[str], *, feed: str = "", timeout_s: float, **options: Any) -> Finished:
    """Runs a program to its end; raises OutputTooLong, subprocess.TimeoutExpired or OSError.

    The program, which is then ended with all that it has started, has a session of its own, so
    that Ctrl-C ends the wait here. `options` are those of subprocess.Popen.
    """
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    fed = subprocess.PIPE if feed else subprocess.DEVNULL
    with contextlib.ExitStack() as ended:
        with without_interrupts():
            process = subprocess.Popen(command, stdin=fed, start_new_session=True, **streams)
            ended.push(process)
            ended.push(partial(_end_all, process))
        try:
            said = _Exchange(process, feed.encode()).until(time.monotonic() + timeout_s)
        except TimeoutError:
            raise subprocess.TimeoutExpired(command, timeout_s) from None
        return Finished(status=process.wait(), output=said[0], errors=said[1])


def start(command: Sequence[str], log: Path, **options: Any) -> subprocess.Popen[bytes]:
    """Starts a program that stays, in a session of its own; `log` gets what it prints.

    Like every file that it writes, the log ends at the limit, where the kernel ends the program.
    `options` are those of subprocess.Popen.
    """
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,  # Ctrl-C reaches this program only
            **options,
        )
    try:
        _, allowed = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        most = LIMIT_BYTES if allowed == resource.RLIM_INFINITY else min(LIMIT_BYTES, allowed)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process


def why_it_ended(process: subprocess.Popen[bytes] | None, log: Path) -> str:
    """Returns the rest of a sentence that begins with a program which runs no more."""
    if process is not None and process.poll() == -signal.SIGXFSZ:
        return str(OutputTooLong())
    return f"ended; its last line was: {last_line(log)}"


def _end_all(process: subprocess.Popen[bytes], error: type[BaseException] | None, *_: Any) -> None:
    """Ends a program and all that it has started, if there was an error."""
    if error is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()  # after Ctrl-C, Popen itself does not


class _Exchange:
    """What a program reads and prints, until it has closed its output."""

    def __init__(self, process: subprocess.Popen[bytes], feed: bytes) -> None:
        self._process = process
        self._feed = feed
        self._left_bytes = LIMIT_BYTES
        self._parts: dict[int, list[bytes]] = {}
        self._open = selectors.DefaultSelector()

    def until(self, end_s: float) -> tuple[str, str]:
        """Returns both outputs; TimeoutError if they are not closed by then."""
        output = self._watch(self._process.stdout, selectors.EVENT_READ, self._read)
        errors = self._watch(self._process.stderr, selectors.EVENT_READ, self._read)
        self._watch(self._process.stdin, selectors.EVENT_WRITE, self._write)
        with self._open:
            while self._open.get_map():
                left_s = end_s - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError
                for key, _ in self._open.select(left_s):
                    key.data(key.fd)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, end_s - time.monotonic()))
        if self._process.returncode is None:
            raise TimeoutError
        return _text(output), _text(errors)

    def _watch(self, stream: Any, event: int, then: Callable[[int], None]) -> list[bytes]:
        parts: list[bytes] = []
        if stream is not None:
            self._parts[stream.fileno()] = parts
            self._open.register(stream, event, then)
        return parts

    def _read(self, descriptor: int) -> None:
        octets = os.read(descriptor, AT_ONCE_BYTES)
        if not octets:
            self._open.unregister(descriptor)
        self._parts[descriptor].append(octets)
        self._left_bytes -= len(octets)
        if self._left_bytes < 0:
            raise OutputTooLong

    def _write(self, descriptor: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # it does not read all
            written = os.write(descriptor, self._feed[:PIPE_BUF])
            self._feed = self._feed[written:]
            if self._feed:
                return
        self._open.unregister(descriptor)
        assert self._process.stdin is not None
        self._process.stdin.close()


def _text(parts: Sequence[bytes]) -> str:
    return b"".join(parts).decode(errors="replace")


def beginning(path: Path) -> str:
    """Returns a log's text up to the limit; OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(LIMIT_BYTES).decode(errors="replace")


def end_of(path: Path) -> str:
    """Returns a log's last lines; OSError if it cannot be read."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
        return file.read(LAST_BYTES).decode(errors="replace")


def last_line(path: Path) -> str:
    """Returns a log's last line; "nothing" if it is empty."""
    lines = end_of(path).strip().splitlines()
    return lines[-1] if lines else "nothing"
