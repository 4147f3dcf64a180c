"""TCP segments of connections, octet for octet, and what is wrong in one that arrives."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, in4_chksum
from scapy.layers.inet6 import IPv6

from tests.frames.formats import BY_FIN, HANDSHAKE
from tests.frames.golden import ENCAPSULATIONS, Number, arrival, arrival_side, departure
from tests.frames.golden_shared import SPOILT
from tests.frames.specs import COMBINATIONS, VLANS, in_tunnel, spec, stream, traffic
from tests.frames.tool import judged, sent

CONNECTIONS = 100
MORE = 14  # octets of a TCP frame, compared to UDP
BY_RST = [*HANDSHAKE, ("respond", "ack"), ("respond", "rst"), ("initiate", "rst")]


def segment(combination: str, role: str, name: str, data: int) -> dict[str, Any]:
    """A stream whose number i is connection i."""
    reverse = role == "respond"
    kind = traffic(combination, reverse=reverse, selection="enumerate-pseudorandom")
    kind["source_port"] |= {"min": 2000, "max": 2099}
    kind["destination_port"] |= {"min": 1, "max": 30}
    if reverse:
        for value in ("port", "field"):
            source, destination = f"source_{value}", f"destination_{value}"
            kind[source], kind[destination] = kind[destination], kind[source]
    kind["connections"] = {"role": role, "order": "linear", "segment": name}
    for end in ("departure", "arrival"):
        kind[end]["transport"] = "tcp"
    made = stream(
        "reverse" if reverse else "forward",
        kind,
        None,
        size=84 + MORE + (data if name == "ack" else 0),
    )
    made["segments"][0]["frames"] = CONNECTIONS
    return made


def trial_of(combination: str, segments: list[tuple[str, str]], data: int = 0) -> dict[str, Any]:
    phases = [
        {"name": f"{i}", "gap_ns": 0, "streams": [segment(combination, role, name, data)]}
        for i, (role, name) in enumerate(segments)
    ]
    return spec(phases=phases)


def numbers_of(trial: dict[str, Any], phase: int, numbers: range) -> list[Number]:
    its_stream = trial["phases"][phase]["streams"][0]
    return [Number(spec=trial, phase=phase, stream=its_stream, number=n) for n in numbers]


@pytest.mark.parametrize("data", [0, 1, 100, 1000])
@pytest.mark.parametrize("segments", [BY_FIN, BY_RST], ids=["fin", "rst"])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_segments(combination: str, segments: list[tuple[str, str]], data: int) -> None:
    trial = trial_of(combination, segments, data)
    frames = 9
    seen = iter(sent(trial, frames, first=17))
    for phase in range(len(segments)):
        for number in numbers_of(trial, phase, range(17, 17 + frames)):
            assert next(seen).frame.hex() == departure(number).hex(), segments[phase]


@pytest.mark.parametrize("segments", [BY_FIN, BY_RST], ids=["fin", "rst"])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_arrivals_that_are_right(combination: str, segments: list[tuple[str, str]]) -> None:
    trial = trial_of(combination, segments, 100)
    for phase in range(len(segments)):
        numbers = numbers_of(trial, phase, range(40))
        frames = [(arrival_side(number), bytes(arrival(number))) for number in numbers]
        assert judged(trial, frames, phase) == ["received"] * len(frames), segments[phase]


@pytest.mark.parametrize("vlans", VLANS)
@pytest.mark.parametrize(
    ("encapsulation", "outer"), [(None, 6), *itertools.product(ENCAPSULATIONS, (4, 6))]
)
@pytest.mark.parametrize("combination", ["44", "66"])
def test_arrivals_in_a_tunnel_and_with_tags(
    combination: str, encapsulation: str | None, outer: int, vlans: str
) -> None:
    trial = trial_of(combination, BY_FIN, 100)
    for side in ("left", "right"):
        trial["sides"][side] = {**trial["sides"][side], "vlans": VLANS[vlans]}
    for phase in trial["phases"]:
        for end in ("departure", "arrival"):
            if encapsulation is not None:
                in_tunnel(phase["streams"][0]["foreground"][end], encapsulation, outer)
    for phase in range(len(BY_FIN)):
        numbers = numbers_of(trial, phase, range(3))
        frames = [(arrival_side(number), bytes(arrival(number))) for number in numbers]
        assert judged(trial, frames, phase) == ["received"] * len(frames), BY_FIN[phase]


@pytest.mark.parametrize("outer", [4, 6])
def test_the_header_around_a_segment_is_judged(outer: int) -> None:
    trial = trial_of("44", HANDSHAKE, 100)
    in_tunnel(trial["phases"][2]["streams"][0]["foreground"]["arrival"], "ip", outer)
    (number,) = numbers_of(trial, 2, range(7, 8))
    packet = arrival(number)
    packet[IP if outer == 4 else IPv6].src = SPOILT[outer]
    assert judged(trial, [(arrival_side(number), bytes(packet))], 2) == ["tunnel"]


def with_tcp(**fields: Any) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        for name, value in fields.items():
            setattr(packet[TCP], name, value)
        return packet

    return change


def with_more(name: str, value: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        setattr(packet[TCP], name, (getattr(packet[TCP], name) + value) % 2**32)
        return packet

    return change


def with_option(kind: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        packet[TCP].options = [(kind, packet[TCP].options[0][1])]
        return packet

    return change


def without_option(packet: Any) -> Any:
    packet[TCP].options = []
    return packet


CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "nothing": (lambda packet: packet, "received"),
    "sequence number": (with_more("seq", 1), "sequence"),
    "sequence number, upper half": (with_more("seq", 2**31), "sequence"),
    "acknowledgement number": (with_more("ack", 2**32 - 1), "sequence"),
    "flags": (with_tcp(flags="AU"), "header"),
    "congestion flags": (with_tcp(flags="AE"), "header"),
    "window": (with_tcp(window=65534), "header"),
    "urgent pointer": (with_tcp(urgptr=1), "header"),
    "kind of the option": (with_option(254), "header"),
    "no option": (without_option, "foreign"),
    "length of the header": (with_tcp(dataofs=9), "malformed"),
    "checksum": (with_tcp(chksum=0x1234), "checksum"),
    "no checksum": (with_tcp(chksum=0), "checksum"),
    "destination port": (with_tcp(dport=9), "port"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_a_change_is_named(combination: str, change: str) -> None:
    trial = trial_of(combination, HANDSHAKE, 100)
    spoil, counter = CHANGES[change]
    (number,) = numbers_of(trial, 2, range(7, 8))
    frame = bytes(spoil(arrival(number)))
    assert judged(trial, [(arrival_side(number), frame)], 2) == [counter]


@pytest.mark.parametrize("phase", [1, 2])
def test_every_octet_of_the_header_is_judged(phase: int) -> None:
    """The checksum is made right again, so that the octet itself is judged."""
    trial = trial_of("44", HANDSHAKE, 100)
    (number,) = numbers_of(trial, phase, range(7, 8))
    learned = {0, 1} if phase == 2 else set()  # the source port is the gateway's choice
    for at in set(range(22)) - learned - {16, 17}:
        packet = arrival(number)
        octets = bytearray(bytes(packet[TCP]))
        octets[at] ^= 1
        octets[16:18] = bytes(2)
        octets[16:18] = in4_chksum(6, packet[IP], bytes(octets)).to_bytes(2)
        frame = bytes(packet)[: -len(octets)] + bytes(octets)
        (verdict,) = judged(trial, [(arrival_side(number), frame)], phase)
        assert verdict in ("port", "sequence", "header", "malformed"), at
