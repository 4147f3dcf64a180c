"""The engine's frames of each format, as other programs read them: tshark and tcpdump find every
checksum right."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from tests.frames.golden import ENCAPSULATIONS
from tests.frames.specs import COMBINATIONS, in_tunnel
from tests.frames.test_golden import EXTENSIONS, VLANS, both_ways, with_format
from tests.frames.test_tcp import BY_FIN, BY_RST, trial_of
from tests.frames.tool import sent

FRAMES = 9
GOOD = "1"  # tshark's status of a checksum
TUNNELS = [(name, outer) for name in ENCAPSULATIONS for outer in (4, 6)]
# Neither program takes the data of these ports for a protocol that it knows.
INITIATORS, RESPONDER = {"min": 40100, "max": 40999}, {"min": 41000, "max": 41000}
SUM_IS_OK = re.compile(r"udp sum ok|cksum 0x[0-9a-f]{4} \(correct\)")

IS_WRONG = re.compile(r"\bbad |incorrect")


@dataclass(frozen=True, kw_only=True)
class Frame:
    format: str
    octets: bytes
    ipv4_headers: int
    transport: str
    # tcpdump does not read on behind a Routing header of an experimental type.
    tcpdump_reads: bool


def with_extensions(combination: str, extensions: list[str], vlans: str) -> dict[str, Any]:
    return with_format(both_ways(combination, 128, fields=True), extensions, (vlans, vlans))


def tunnelled(combination: str, encapsulation: str, outer: int, vlans: str) -> dict[str, Any]:
    made = with_format(both_ways(combination, 128, (1, 1)), EXTENSIONS[1], (vlans, vlans))
    for its_stream in made["phases"][0]["streams"]:
        its_stream["background"] = None
        in_tunnel(its_stream["foreground"]["departure"], encapsulation, outer, fields=True)
    return made


def formats() -> Iterator[tuple[str, dict[str, Any]]]:
    for combination in COMBINATIONS:
        for vlans in VLANS:
            for extensions in EXTENSIONS:
                name = " ".join([combination, vlans, *extensions])
                yield name, with_extensions(combination, extensions, vlans)
            for encapsulation, outer in TUNNELS:
                name = f"{combination} {vlans} {encapsulation} over IPv{outer}"
                yield name, tunnelled(combination, encapsulation, outer, vlans)
        yield f"{combination} closed by FIN", trial_of(combination, BY_FIN, 101)
        yield f"{combination} closed by RST", trial_of(combination, BY_RST)


def with_unknown_ports(trial: dict[str, Any]) -> dict[str, Any]:
    for its_stream in (stream for phase in trial["phases"] for stream in phase["streams"]):
        for kind in filter(None, (its_stream["foreground"], its_stream["background"])):
            responds = kind.get("connections", {}).get("role") == "respond"
            source, destination = (RESPONDER, INITIATORS) if responds else (INITIATORS, RESPONDER)
            kind["source_port"] |= source
            kind["destination_port"] |= destination
        its_stream["segments"][0]["frames"] = 900  # connections, at most
    return trial


def frames_of(name: str, trial: dict[str, Any]) -> Iterator[Frame]:
    streams = {
        (phase["name"], stream["direction"]): stream
        for phase in trial["phases"]
        for stream in phase["streams"]
    }
    for each in sent(trial, FRAMES):
        form = streams[each.phase, each.direction][each.kind]["departure"]
        headers = [form, *filter(None, [form.get("tunnel")])]
        yield Frame(
            format=name,
            octets=each.frame,
            ipv4_headers=sum(header["ip_version"] == 4 for header in headers),
            transport=form.get("transport", "udp"),
            tcpdump_reads="routing" not in form.get("extension_headers", ()),
        )


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return [
        frame for name, trial in formats() for frame in frames_of(name, with_unknown_ports(trial))
    ]


@pytest.fixture(scope="module")
def capture(frames: list[Frame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(frames, tmp_path_factory.mktemp("formats"))


def written(frames: list[Frame], folder: Path) -> Path:
    file = folder / "frames.pcap"
    wrpcap(str(file), [Ether(frame.octets) for frame in frames])
    return file


def output(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


def statuses(file: Path) -> list[list[str]]:
    """tshark's status of the checksums of all IPv4 headers, and of UDP or TCP, of each frame."""
    checks = [f"-o{layer}.check_checksum:TRUE" for layer in ("ip", "udp", "tcp")]
    fields = [f"-e{layer}.checksum.status" for layer in ("ip", "udp", "tcp")]
    lines = output("tshark", "-n", *checks, "-r", file, "-Tfields", *fields)
    return [line.split("\t") for line in lines]


def told(file: Path) -> list[str]:
    """What tcpdump says of each frame; it indents all lines but the first."""
    found: list[str] = []
    for line in output("tcpdump", "-vv", "-nn", "-t", "-r", file):
        if line.startswith(("\t", " ")):
            found[-1] += line
        else:
            found.append(line)
    return found


def test_tshark_finds_every_checksum_right(frames: list[Frame], capture: Path) -> None:
    for frame, status in zip(frames, statuses(capture), strict=True):
        udp, tcp = (GOOD, "") if frame.transport == "udp" else ("", GOOD)
        assert status == [",".join([GOOD] * frame.ipv4_headers), udp, tcp], frame.format


def test_tcpdump_finds_every_checksum_right(frames: list[Frame], capture: Path) -> None:
    for frame, said in zip(frames, told(capture), strict=True):
        assert not IS_WRONG.search(said), (frame.format, said)
        if frame.tcpdump_reads:
            assert SUM_IS_OK.search(said), (frame.format, said)


def test_both_would_find_a_wrong_checksum(frames: list[Frame], tmp_path: Path) -> None:
    """Of each format's first frame, the last octet of the data is another one."""
    read = [frame for frame in frames if frame.tcpdump_reads]
    first = {frame.format: frame for frame in reversed(read)}.values()
    spoilt = written([replace(f, octets=f.octets[:-1] + b"\xff") for f in first], tmp_path)
    for status, said in zip(statuses(spoilt), told(spoilt), strict=True):
        assert "0" in status
        assert IS_WRONG.search(said)
