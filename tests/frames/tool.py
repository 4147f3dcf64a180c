"""`natxy-engine-frames`: the engine's loops without ports."""

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from tests.programs import tool

LIMIT_S = 120
AT_ONCE = 64  # lines that are written before their answers are read: both fit into a pipe


@dataclass(frozen=True, kw_only=True)
class Sent:
    phase: str
    direction: str
    number: int
    kind: str
    ordinal: int
    frame: bytes


class Program:
    """The running program. One process answers for all trials, because its start takes longer than
    most answers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [tool("engine", "natxy-engine-frames")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._fresh: tuple[int, str] | None = None

    def trial(self, frames: int, first: int, phase: int, spec: str) -> list[str]:
        self._fresh = (phase, spec)
        self._write([f"trial {frames} {first} {phase} {spec}"])
        return list(iter(self._read, ""))

    def is_fresh(self, phase: int, spec: str) -> bool:
        """Returns whether this trial was the last one, and no frame has arrived in it."""
        return self._fresh == (phase, spec)

    def verdicts(self, lines: list[str]) -> Iterator[str]:
        self._fresh = None
        for at in range(0, len(lines), AT_ONCE):
            some = lines[at : at + AT_ONCE]
            self._write(some)
            for _ in some:
                yield self._read()

    def end(self) -> None:
        """Ends the program; it must have nothing to say, such as of memory that leaked."""
        _, said = self._process.communicate(timeout=LIMIT_S)
        assert self._process.returncode == 0, said

    def _write(self, lines: Iterable[str]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines))
            self._process.stdin.flush()
        except BrokenPipeError:
            self._fail()

    def _read(self) -> str:
        assert self._process.stdout is not None
        limit = threading.Timer(LIMIT_S, self._process.kill)
        limit.start()
        line = self._process.stdout.readline()
        limit.cancel()
        if not line:
            self._fail()
        return line.rstrip("\n")

    def _fail(self) -> NoReturn:
        """Says why the program has ended; the next trial starts another one."""
        program.cache_clear()
        self._process.kill()
        _, said = self._process.communicate()
        raise AssertionError(f"natxy-engine-frames ended with {self._process.returncode}: {said}")


@cache
def program() -> Program:
    return Program()


def end() -> None:
    if program.cache_info().currsize:
        program().end()


def _read(line: str) -> Sent:
    phase, direction, number, kind, ordinal, frame = line.split()
    return Sent(
        phase=phase,
        direction=direction,
        number=int(number),
        kind=kind,
        ordinal=int(ordinal),
        frame=bytes.fromhex(frame),
    )


def sent(spec: dict[str, Any], frames: int, first: int = 0) -> list[Sent]:
    """Of each stream so many frames, from number `first` on."""
    return [_read(line) for line in program().trial(frames, first, 0, json.dumps(spec))]


def judged(spec: dict[str, Any], arrivals: list[tuple[str, bytes]], phase: int = 0) -> list[str]:
    """For each (side, frame) that arrives in this phase the counter that it moved."""
    text = json.dumps(spec)
    if not program().is_fresh(phase, text):
        program().trial(0, 0, phase, text)
    return list(program().verdicts([f"{side} {frame.hex()}" for side, frame in arrivals]))
