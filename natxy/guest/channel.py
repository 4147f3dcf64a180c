"""The control channel: commands to the guest's first process, over virtio-serial."""

import select
import socket
import time

from natxy.errors import DutError
from natxy.program_output import LIMIT_BYTES, OutputTooLong

READY = "ready"
LONGEST_LINE = 4096


class ChannelError(Exception):
    """The guest did not answer as agreed; the message continues a sentence that begins with it."""


class Channel:
    """This machine's end, a stream socket; `natxy/guest/init` is the other one."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._socket.setblocking(False)
        self._pending = b""

    def wait_until_ready(self, within_s: float) -> None:
        """Waits until the guest has booted; ChannelError if it does not in that time."""
        if (said := self._line(time.monotonic() + within_s)) != READY:
            raise ChannelError(f'said "{said[:60]}" when it had started (expected "{READY}")')

    def run(self, command: str, within_s: float) -> str:
        """Executes a bash command and returns what it prints.

        Raises DutError with the last line if it fails, and ChannelError without an answer.
        """
        until_s = time.monotonic() + within_s
        octets = command.encode()
        self._send(f"{len(octets)}\n".encode() + octets, until_s)
        answer = self._line(until_s).split()
        if len(answer) != 2 or not all(each.isdigit() for each in answer):
            raise ChannelError(f'answered "{" ".join(answer)[:60]}" (expected status and length)')
        status, length = (int(each) for each in answer)
        if length > LIMIT_BYTES:
            raise ChannelError(str(OutputTooLong()))
        output = self._octets(length, until_s).decode(errors="replace")
        if status != 0:
            words = output.strip().splitlines() or ["it printed nothing"]
            first = command.strip().splitlines()[0]
            raise DutError(f"In the guest, `{first[:120]}` ended with status {status}: {words[-1]}")
        return output

    def close(self) -> None:
        self._socket.close()

    def _send(self, octets: bytes, until_s: float) -> None:
        while octets:
            if not select.select([], [self._socket], [], max(0.0, until_s - time.monotonic()))[1]:
                raise ChannelError("took no command in time")
            try:
                octets = octets[self._socket.send(octets) :]
            except OSError as error:
                raise ChannelError("ended") from error

    def _line(self, until_s: float) -> str:
        while b"\n" not in self._pending:
            if len(self._pending) > LONGEST_LINE:
                raise ChannelError("answered without an end of line")
            self._pending += self._received(until_s)
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace")

    def _octets(self, count: int, until_s: float) -> bytes:
        while len(self._pending) < count:
            self._pending += self._received(until_s)
        octets, self._pending = self._pending[:count], self._pending[count:]
        return octets

    def _received(self, until_s: float) -> bytes:
        if not select.select([self._socket], [], [], max(0.0, until_s - time.monotonic()))[0]:
            raise ChannelError("did not answer in time")
        try:
            octets = self._socket.recv(65536)
        except OSError as error:
            raise ChannelError("ended") from error
        if not octets:
            raise ChannelError("ended")
        return octets
