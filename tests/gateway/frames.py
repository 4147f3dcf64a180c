"""The gateway without ports (`natxy-gateway-frames`): frames in, frames and its record out."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.gateway.layers import Ether
from tests.programs import tool

LEFT_MAC, RIGHT_MAC = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
LEFT_TESTER_MAC, RIGHT_TESTER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"


@dataclass(frozen=True, kw_only=True)
class Arrival:
    side: str
    frame: bytes
    at_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Played:
    departures: list[tuple[str, bytes]]
    record: dict[str, Any]


def play(config: dict[str, Any], arrivals: list[Arrival]) -> Played:
    lines = [json.dumps(config)]
    lines += [f"{arrival.at_ns} {arrival.side} {arrival.frame.hex()}" for arrival in arrivals]
    run = subprocess.run(
        [tool("gateway", "natxy-gateway-frames")],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    *frames, record = run.stdout.splitlines()
    departures = [(line.split()[1], bytes.fromhex(line.split()[2])) for line in frames]
    return Played(departures=departures, record=json.loads(record)["record"])


def arrive(packet: Any, side: str = "left") -> Arrival:
    """The IP packet as a frame from the tester to the gateway."""
    macs = (
        {"src": LEFT_TESTER_MAC, "dst": LEFT_MAC}
        if side == "left"
        else {"src": RIGHT_TESTER_MAC, "dst": RIGHT_MAC}
    )
    return Arrival(side=side, frame=bytes(Ether(**macs) / packet))


def departing(packet: Any, side: str = "right") -> tuple[str, bytes]:
    """The IP packet as the frame in which the gateway must send it."""
    macs = (
        {"src": LEFT_MAC, "dst": LEFT_TESTER_MAC}
        if side == "left"
        else {"src": RIGHT_MAC, "dst": RIGHT_TESTER_MAC}
    )
    return side, bytes(Ether(**macs) / packet)
