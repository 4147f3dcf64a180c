"""A program that reads requests and writes events, a line each: engine, calibration gateway."""

import contextlib
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from sys import getsizeof

from natxy.errors import MeasurementError
from natxy.program_output import LIMIT_BYTES, OutputTooLong
from natxy.runtime_folder import remove_dpdk_folder

LOG_LINES = 5  # the last lines of standard error, for an error message
LONGEST_LOG_LINE = 4096
PATIENCE_S = 3.0  # for each way of ending it, before the next, harder one
TOO_LONG = f"it {OutputTooLong()}"  # the last line of a program that was ended for this


class LineProcess:
    """Starts a program; `close` ends it and removes what DPDK left in /var/run.

    `died` returns the error for a program that has ended by itself.
    """

    def __init__(
        self,
        command: Sequence[str],
        died: Callable[["LineProcess"], MeasurementError],
        inherited: Sequence[int] = (),
    ) -> None:
        self._died = died
        # In a session of its own, Ctrl-C does not reach it: this process decides how it ends.
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
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._read_bytes = self._received_bytes = 0  # counted by one thread each
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        reads = (self._read_events, self._read_log)
        self._readers = [threading.Thread(target=read, daemon=True) for read in reads]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status; None if the program runs."""
        return self._process.poll()

    def send(self, line: str) -> None:
        try:
            self._stdin.write(line + "\n")
            self._stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._died(self) from None

    def receive(self, timeout_s: float) -> str | None:
        """Returns the next line, None after the timeout; `died` if the program has ended."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # for the next call
            raise self._died(self)
        self._received_bytes += getsizeof(line)
        return line

    def last_lines(self) -> tuple[str, ...]:
        """Waits for the end of a program that ends by itself; returns its last log lines."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return tuple(self._log)

    def close(self) -> None:
        """Ends its input, then terminates, then kills it; may be called twice."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        for ruder in (self._process.terminate, self._process.kill, lambda: None):
            try:
                self._process.wait(PATIENCE_S)
                break
            except subprocess.TimeoutExpired:
                ruder()
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for pipe in (self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()
        remove_dpdk_folder(self.pid)

    def kill(self) -> None:
        self._process.kill()

    def _read_events(self) -> None:
        """Reads lines, and ends a program whose line is too long, or that nobody listens to."""
        while line := self._stdout.readline(LIMIT_BYTES):
            self._read_bytes += getsizeof(line)
            if self._read_bytes - self._received_bytes >= LIMIT_BYTES:
                with contextlib.suppress(queue.Empty):
                    while self._lines.get_nowait():
                        pass
                self._log.append(TOO_LONG)
                self.kill()
                break
            self._lines.put(line)
        self._lines.put(None)

    def _read_log(self) -> None:
        while line := self._stderr.readline(LONGEST_LOG_LINE):
            if line.strip():
                self._log.append(line.strip())
