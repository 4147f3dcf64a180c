"""The engine's frames of each format, as tshark and scapy read them, field by field.

What tshark must read follows from the spec (`fields.py`); tshark's dissectors, the engine and scapy
have nothing in common. For the octets, there is scapy: it builds each frame from the spec, too.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.frames.capture import output, written
from tests.frames.fields import WARNING, Values, expected_of
from tests.frames.formats import Frame
from tests.frames.golden import STAMP, departure, octets_of_data

ALL = "0-65535"  # ports: behind them are data, never a protocol that tshark knows by its port
# Numbers of connections are used again by the next format, so tshark must not follow them.
OPTIONS = [
    *(f"-o{layer}.check_checksum:TRUE" for layer in ("ip", "udp", "tcp")),
    "-otcp.analyze_sequence_numbers:FALSE",
    *(f"-d{layer}.port=={ALL},data" for layer in ("udp", "tcp")),
]
SEVERITY = "_ws.expert.severity"
# Fields that are in no right frame.
NEVER = ["_ws.malformed", "_ws.short", "eth.padding", "eth.trailer", "ip.opt.type", "gre.key"]

BOOLEANS = {"True": "1", "False": "0"}  # of tshark 4.4; earlier releases have numbers

Kinds = dict[str, type[int] | type[str]]  # of a field's values


@pytest.fixture(scope="module")
def expected(frames: list[Frame]) -> list[Values]:
    return [expected_of(frame.number) for frame in frames]


@pytest.fixture(scope="module")
def kinds(expected: list[Values]) -> Kinds:
    """All fields that some frame must have. Frames of other formats must not have them."""
    found = {name: type(seen[0]) for values in expected for name, seen in values.items()}
    return {**dict.fromkeys(NEVER, str), **found}


def read(frames: Iterable[bytes], kinds: Kinds, folder: Path) -> Iterator[Values]:
    """What tshark reads of each frame, in one run: each field with all that it occurs with."""
    file = written(frames, folder / "frames.pcap")
    how = [*OPTIONS, "-Tfields", "-Eaggregator=;", *(f"-e{name}" for name in kinds)]
    for line in output("tshark", "-n", "-r", file, *how):
        found = zip(kinds.items(), line.split("\t"), strict=True)
        values: Values = {
            name: [
                int(BOOLEANS.get(text, text), 0) if kind is int else text
                for text in texts.split(";")
            ]
            for (name, kind), texts in found
            if texts
        }
        if noted := values.pop(SEVERITY, None):
            warned = [severity for severity in noted if int(severity) >= WARNING]
            values |= {SEVERITY: warned} if warned else {}
        yield values


def test_tshark_reads_what_the_spec_asks_for(
    frames: list[Frame], expected: list[Values], kinds: Kinds, tmp_path: Path
) -> None:
    seen = read((frame.octets for frame in frames), kinds, tmp_path)
    for frame, values, right in zip(frames, seen, expected, strict=True):
        assert values == right, frame.name


def test_scapy_builds_the_same_octets(frames: list[Frame]) -> None:
    for frame in frames:
        assert frame.octets.hex() == departure(frame.number).hex(), frame.name


def test_tshark_would_notice_every_bit(
    frames: list[Frame], expected: list[Values], kinds: Kinds, tmp_path: Path
) -> None:
    """Of a frame of each sequence of headers behind two tags, one bit is another one."""
    one = {str(right["frame.protocols"][0]): i for i, right in enumerate(expected)}
    some = [i for headers, i in one.items() if "8021ad" in headers and "tcp:data" not in headers]
    changed = [(i, bit) for i in some for bit in bits_before_data(frames[i])]
    octets = (flipped(frames[i].octets, bit) for i, bit in changed)
    for (i, bit), values in zip(changed, read(octets, kinds, tmp_path), strict=True):
        assert values != expected[i], f"{frames[i].name}: bit {bit}"


def bits_before_data(frame: Frame) -> Iterable[int]:
    """All bits of the headers and of the stamp."""
    data = octets_of_data(frame.number.traffic["departure"]) - STAMP
    return range(8 * (len(frame.octets) - data))


def flipped(octets: bytes, bit: int) -> bytes:
    changed = bytearray(octets)
    changed[bit // 8] ^= 0x80 >> bit % 8
    return bytes(changed)
