"""`natxy-engine-frames`: the engine's loops without ports."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.programs import tool


@dataclass(frozen=True, kw_only=True)
class Sent:
    phase: str
    direction: str
    number: int
    kind: str
    ordinal: int
    frame: bytes


def _run(arguments: list[str], lines: list[str]) -> list[str]:
    done = subprocess.run(
        [tool("engine", "natxy-engine-frames"), *arguments],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


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
    return [_read(line) for line in _run([str(frames), str(first)], [json.dumps(spec)])]


def judged(spec: dict[str, Any], arrivals: list[tuple[str, bytes]], phase: int = 0) -> list[str]:
    """For each (side, frame) that arrives in this phase the counter that it moved."""
    lines = [json.dumps(spec), *(f"{side} {frame.hex()}" for side, frame in arrivals)]
    return _run(["0", "0", str(phase)], lines)
