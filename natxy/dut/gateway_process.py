"""natxy-gateway as a child process, with one JSON request or event a line."""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Any

from natxy.errors import DutError
from natxy.program_output import LIMIT_BYTES, OutputTooLong, last_line
from natxy.runtime_folder import remove_dpdk_folder

ANSWERS_WITHIN_S = 10.0
QUITS_WITHIN_S = 3.0
PROTOCOL = 1
SHOWN_BYTES = 60  # of a line that is none of the protocol


def gateway_program() -> Path:
    """Returns the path in NATXY_GATEWAY, or the program beside the running Python."""
    named = os.environ.get("NATXY_GATEWAY")
    path = Path(named) if named else Path(sys.executable).parent / "natxy-gateway"
    if not path.is_file():
        raise DutError(
            f"{path}: does not exist (`make install` builds natxy-gateway, and NATXY_GATEWAY names "
            "another one)."
        )
    return path


class GatewayProcess:
    """Uses the protocol of docs/reference/gateway.md; standard error goes to a file."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self._log = log
        self._pending = b""
        self._asking = Lock()  # a reset is asked for by a thread of its own
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(gateway_program()), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C reaches this program only
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def hello(self) -> dict[str, Any]:
        event = self._event("hello")
        if event.get("protocol") != PROTOCOL:
            raise DutError(
                f"natxy-gateway speaks protocol {event.get('protocol')} (expected {PROTOCOL}; "
                "`make install` builds the gateway that belongs to this package)"
            )
        return event

    def ask(self, request: str, answer: str, **members: Any) -> dict[str, Any]:
        """Sends a request and returns its answer; DutError for another event or none."""
        line = json.dumps({"request": request, **members}) + "\n"
        with self._asking:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError) as error:
                raise DutError(self._obituary()) from error
            return self._event(answer)

    def check(self) -> None:
        if self._process.poll() is not None:
            raise DutError(self._obituary())

    def quit(self) -> None:
        """Ends the gateway by closing its input, or kills it; removes DPDK's folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(QUITS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        remove_dpdk_folder(self.pid)

    def _event(self, wanted: str) -> dict[str, Any]:
        line = self._line()
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            raise DutError(
                f"natxy-gateway sent {line[:SHOWN_BYTES]!r} (expected {wanted}; is "
                "NATXY_GATEWAY right?)"
            ) from None
        if event.get("event") == "error":
            raise DutError(f"natxy-gateway: {event.get('message')}")
        if event.get("event") != wanted:
            raise DutError(f"natxy-gateway sent {event.get('event')} (expected {wanted})")
        return event

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        end = time.monotonic() + ANSWERS_WITHIN_S
        while b"\n" not in self._pending:
            left_s = max(0.0, end - time.monotonic())
            if not select.select([self._process.stdout], [], [], left_s)[0]:
                raise DutError(f"natxy-gateway did not answer within {ANSWERS_WITHIN_S:g} s.")
            got = os.read(self._process.stdout.fileno(), 65536)
            if not got:
                raise DutError(self._obituary())
            self._pending += got
            if len(self._pending) > LIMIT_BYTES:
                self._process.kill()
                raise DutError(f"natxy-gateway {OutputTooLong()}.")
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _obituary(self) -> str:
        try:
            status = f"status {self._process.wait(1)}"
        except subprocess.TimeoutExpired:
            status = "its output closed"
        return f"natxy-gateway ended with {status}; its last line was: {last_line(self._log)}"
