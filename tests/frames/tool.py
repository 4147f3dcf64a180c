"""`natxy-engine-frames`: the engine's loops without ports."""

import functools
import json
import subprocess
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from tests.programs import tool

TIMEOUT_S = 120


@dataclass(frozen=True, kw_only=True)
class Sent:
    phase: str
    direction: str
    number: int
    kind: str
    ordinal: int
    frame: bytes


@functools.cache
def _served() -> subprocess.Popen[str]:
    """Starts the tool once: under the sanitizers, its start takes longer than most requests."""
    return subprocess.Popen(
        [tool("engine", "natxy-engine-frames")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end() -> None:
    """Ends the tool, if it runs. Fails if it does not end well: it may have found a leak."""
    if not _served.cache_info().currsize:
        return
    process = _served()
    _served.cache_clear()
    _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, said


def _run(request: str, lines: list[str]) -> list[str]:
    process = _served()
    assert process.stdin is not None
    assert process.stdout is not None
    stuck = threading.Timer(TIMEOUT_S, process.kill)
    stuck.start()
    try:
        process.stdin.write("\n".join([request, *lines, "", ""]))
        process.stdin.flush()
        answered = []
        while (line := process.stdout.readline()) != "\n":
            if not line:
                end()
                pytest.fail("natxy-engine-frames ended before its answer did")
            answered.append(line.rstrip("\n"))
        return answered
    finally:
        stuck.cancel()


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
    return [_read(line) for line in _run(f"{frames} {first} 0", [json.dumps(spec)])]


def judged(spec: dict[str, Any], arrivals: list[tuple[str, bytes]], phase: int = 0) -> list[str]:
    """For each (side, frame) that arrives in this phase the counter that it moved."""
    lines = [json.dumps(spec), *(f"{side} {frame.hex()}" for side, frame in arrivals)]
    return _run(f"0 0 {phase}", lines)
