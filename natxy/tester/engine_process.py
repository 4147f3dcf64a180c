"""The engine's process: sends and receives lines, and ends it cleanly."""

import contextlib
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from sys import getsizeof
from typing import IO

from natxy.errors import EngineNotFound, TesterDied
from natxy.program_output import LIMIT_BYTES, OutputTooLong
from natxy.runtime_folder import remove_dpdk_folder

LOG_LINES = 5  # the engine's last lines of standard error, for an error message
LONGEST_LOG_LINE = 4096
PATIENCE_S = 3.0  # for each way of ending it, before the next, harder one


def ended(status: int) -> str:
    """Returns how a program ended, for a sentence that begins with its name."""
    if status == -signal.SIGILL:
        return (
            "was ended by signal 4, an illegal instruction: it was built for another processor "
            "(expected `make install` on this machine)"
        )
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"


class EngineProcess:
    """Starts the engine; `close` ends it and removes what DPDK left in /var/run."""

    def __init__(self, command: Sequence[str], inherited: Sequence[int] = ()) -> None:
        try:
            # In a session of its own, Ctrl-C does not reach it: this process cancels the trial.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError as error:
            raise EngineNotFound(f"{command[0]}: cannot be started: {error.strerror}") from None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._read_bytes = self._received_bytes = 0  # counted by one thread each
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._readers = [self._reader(self._read_events), self._reader(self._read_log)]

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: str) -> None:
        stdin = self._pipe(self._process.stdin)
        try:
            stdin.write(line + "\n")
            stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self.died() from None

    def receive(self, timeout_s: float) -> str | None:
        """Returns the next line, None after the timeout; TesterDied if the engine has ended."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # for the next call
            raise self.died()
        self._received_bytes += getsizeof(line)
        return line

    def died(self) -> TesterDied:
        """Returns the error for an engine that ended by itself: how, and its last lines."""
        words = " | ".join(self.last_lines()) or "it printed nothing"
        status = self._process.poll()
        end = "closed its output" if status is None else ended(status)
        return TesterDied(f"natxy-engine (process {self.pid}) {end}: {words}")

    def last_lines(self) -> tuple[str, ...]:
        """Waits for the end of an engine that ends by itself; returns its last log lines."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return tuple(self._log)

    def close(self) -> None:
        """Asks the engine to quit, then terminates, then kills it; may be called twice."""
        with contextlib.suppress(OSError, ValueError, TesterDied):
            self.send('{"request": "quit"}')
            self._pipe(self._process.stdin).close()
        for ruder in (self._process.terminate, self._process.kill, lambda: None):
            try:
                self._process.wait(PATIENCE_S)
                break
            except subprocess.TimeoutExpired:
                ruder()
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                self._pipe(pipe).close()
        remove_dpdk_folder(self.pid)

    def kill(self) -> None:
        self._process.kill()

    def _reader(self, read: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread

    def _read_events(self) -> None:
        """Reads lines, and ends an engine that sends too long a line, or lines nobody waits for."""
        stdout = self._pipe(self._process.stdout)
        while line := stdout.readline(LIMIT_BYTES):
            self._read_bytes += getsizeof(line)
            if self._read_bytes - self._received_bytes >= LIMIT_BYTES:
                with contextlib.suppress(queue.Empty):
                    while self._lines.get_nowait():
                        pass
                self._log.append(f"it {OutputTooLong()}")
                self.kill()
                break
            self._lines.put(line)
        self._lines.put(None)

    def _read_log(self) -> None:
        stderr = self._pipe(self._process.stderr)
        while line := stderr.readline(LONGEST_LOG_LINE):
            if line.strip():
                self._log.append(line.strip())

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None, "every stream of the engine is a pipe"
        return pipe
