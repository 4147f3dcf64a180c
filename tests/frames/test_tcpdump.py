"""The engine's frames of each format, as tcpdump reads them: it finds every checksum right."""

import re
from pathlib import Path

from tests.frames.capture import output, written
from tests.frames.formats import Frame

SUM_IS_OK = re.compile(r"udp sum ok|cksum 0x[0-9a-f]{4} \(correct\)")
IS_WRONG = re.compile(r"\bbad |incorrect")


def can_be_read(frame: Frame) -> bool:
    """tcpdump does not read on behind a Routing header of an experimental type."""
    return "routing" not in (frame.number.traffic["departure"].get("extension_headers") or ())


def told(file: Path) -> list[str]:
    """What tcpdump says of each frame; it indents all lines but the first."""
    found: list[str] = []
    for line in output("tcpdump", "-vv", "-nn", "-t", "-r", file):
        if line.startswith(("\t", " ")):
            found[-1] += line
        else:
            found.append(line)
    return found


def test_tcpdump_finds_every_checksum_right(frames: list[Frame], tmp_path: Path) -> None:
    file = written((frame.octets for frame in frames), tmp_path / "frames.pcap")
    for frame, said in zip(frames, told(file), strict=True):
        assert not IS_WRONG.search(said), (frame.name, said)
        if can_be_read(frame):
            assert SUM_IS_OK.search(said), (frame.name, said)


def test_it_would_find_a_wrong_checksum(frames: list[Frame], tmp_path: Path) -> None:
    """Of each frame, the last octet of the data is another one."""
    spoilt = (frame.octets[:-1] + b"\xff" for frame in frames if can_be_read(frame))
    for said in told(written(spoilt, tmp_path / "spoilt.pcap")):
        assert IS_WRONG.search(said)
