"""Frames in a file, for programs that read captures."""

import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

MICROSECONDS, VERSION, ETHERNET = 0xA1B2C3D4, (2, 4), 1


def written(frames: Iterable[bytes], file: Path) -> Path:
    head = struct.pack("=IHHiIII", MICROSECONDS, *VERSION, 0, 0, 2**16 - 1, ETHERNET)
    records = (struct.pack("=IIII", 0, 0, len(frame), len(frame)) + frame for frame in frames)
    file.write_bytes(head + b"".join(records))
    return file


def output(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()
