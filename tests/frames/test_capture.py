"""Tests of frames on the wire: the engine sends, DPDK captures, tshark and scapy judge."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.frames.golden import STAMP, Number, departure, octets_of_data
from tests.frames.specs import COMBINATIONS, SIZES, spec, stream, traffic
from tests.programs import installed

FRAMES = 60
NEXT_HOP = "02:00:00:00:00:0a"  # of both sides, as tests.frames.specs has them
IPV4, IPV6 = "0x0800", "0x86dd"
GOOD = "1"  # tshark's status of a checksum
STATUS = ["eth.type", "ip.checksum.status", "udp.checksum.status", "udp.payload"]


@dataclass(frozen=True, kw_only=True)
class Captured:
    trials: list[dict[str, Any]]  # the specs, in the order in which they were carried out
    macs: dict[str, str]
    files: dict[str, Path]  # by side


def trial_of(combination: str, size: int, nonce: int) -> dict[str, Any]:
    other = COMBINATIONS[COMBINATIONS.index(combination) - 1]
    streams = []
    for direction in ("forward", "reverse"):
        reverse = direction == "reverse"
        foreground = traffic(combination, reverse=reverse, networks=256)
        background = traffic(other, reverse=reverse, fields=True)
        its_stream = stream(direction, foreground, background, size=size, mix=(3, 2))
        its_stream["segments"] = [{"frames": FRAMES, "rate_fps": 20_000, "pause_ns": 0}]
        streams.append(its_stream)
    return spec(*streams, nonce=nonce, drain_ns=1_000_000)


def events(engine: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert engine.stdout is not None
    for line in engine.stdout:
        yield json.loads(line)


def carry_out(engine: subprocess.Popen[str], trial: dict[str, Any]) -> None:
    assert engine.stdin is not None
    engine.stdin.write(json.dumps({"request": "trial", "id": 1, "spec": trial}) + "\n")
    engine.stdin.flush()
    for event in events(engine):
        assert event["event"] in ("progress", "result"), event
        if event["event"] == "result":
            sent = [
                kind["sent"] for s in event["result"]["streams"] for kind in s["kinds"].values()
            ]
            assert sum(sent) == 2 * FRAMES
            return


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("capture")
    files = {side: folder / f"{side}.pcap" for side in ("left", "right")}
    ports = [f"--{side}=net_pcap{i},tx_pcap={file}" for i, (side, file) in enumerate(files.items())]
    cases = [(combination, size) for combination in COMBINATIONS for size in SIZES]
    trials = [trial_of(*case, nonce) for nonce, case in enumerate(cases)]
    with subprocess.Popen(
        [installed("natxy-engine"), *ports, "--cores=0", "--huge-pages=never", "--memory-mb=256"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as engine:
        macs = {port["side"]: port["mac"] for port in next(events(engine))["ports"]}
        for trial in trials:
            carry_out(engine, trial)
        engine.communicate(timeout=30)  # the end of input
    assert engine.returncode == 0
    return Captured(trials=trials, macs=macs, files=files)


def numbers(captured: Captured, side: str) -> list[Number]:
    streams = [(trial, trial["phases"][0]["streams"][side == "right"]) for trial in captured.trials]
    return [
        Number(spec=trial, phase=0, stream=its_stream, number=number)
        for trial, its_stream in streams
        for number in range(FRAMES)
    ]


def tshark(file: Path, *arguments: str) -> list[str]:
    checks = [f"-o{layer}.check_checksum:TRUE" for layer in ("ip", "udp")]
    done = subprocess.run(
        ["tshark", "-n", *checks, "-r", file, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("side", ["left", "right"])
def test_tshark_finds_every_checksum_right(captured: Captured, side: str) -> None:
    fields = [argument for name in STATUS for argument in ("-e", name)]
    lines = tshark(captured.files[side], "-Tfields", *fields)
    assert len(lines) == len(captured.trials) * FRAMES
    ether_types = set()
    for line in lines:
        ether_type, ip_checksum, udp_checksum, payload = line.split("\t")
        ether_types.add(ether_type)
        assert udp_checksum == GOOD
        assert ip_checksum == (GOOD if ether_type == IPV4 else "")
        padding = bytes.fromhex(payload)[STAMP:]
        assert padding == bytes(i % 256 for i in range(len(padding)))
    assert ether_types == {IPV4, IPV6}


def test_tshark_would_find_a_wrong_checksum(captured: Captured, tmp_path: Path) -> None:
    octets = bytearray(captured.files["left"].read_bytes())
    octets[24 + 16 + 14 + 20 + 7] ^= 1  # in the first frame, which is of IPv4
    spoilt = tmp_path / "spoilt.pcap"
    spoilt.write_bytes(octets)
    bad = tshark(spoilt, "-Y", "ip.checksum.status == 0 || udp.checksum.status == 0")
    assert len(bad) == 1


@pytest.mark.parametrize("side", ["left", "right"])
def test_every_frame_is_what_scapy_makes_of_the_spec(captured: Captured, side: str) -> None:
    """But for how late it left, which is read from the frame."""
    octets = captured.files[side].read_bytes()
    at = 24  # behind the file's header
    for number in numbers(captured, side):
        length = int.from_bytes(octets[at + 8 : at + 12], "little")
        frame = octets[at + 16 : at + 16 + length]
        at += 16 + length
        data = frame[-octets_of_data(number.traffic["departure"]) :]
        lateness = int.from_bytes(data[14:18], "little")
        golden = departure(number, lateness=lateness, source=captured.macs[side], next_hop=NEXT_HOP)
        assert frame.hex() == golden.hex(), f"{number.stream['direction']} {number.number}"
    assert at == len(octets)
