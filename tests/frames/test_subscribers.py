"""Frames of subscribers, octet for octet: addresses whose bits are in several places, port sets."""

import itertools
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from natxy.model.trial_spec import Side
from tests.frames.formats import Frame
from tests.frames.golden import Number, arrival, arrival_side
from tests.frames.golden_shared import expect_golden
from tests.frames.specs import both_ways, series
from tests.frames.subscribed import MECHANISMS, trial_of
from tests.frames.tool import judged, sent

FRAMES = 40
# A field in parts: their value bits, number of bits, and places in the address.
PARTS: list[list[tuple[int, int, int]]] = [
    [(0, 24, 8)],
    [(0, 1, 31), (1, 7, 9), (8, 15, 16)],
    [(23, 1, 0), (0, 13, 19), (13, 10, 1)],
    [(5, 3, 14)],
]


def numbers_of(trial: dict[str, Any]) -> list[Number]:
    return [
        Number(spec=trial, phase=0, stream=its_stream, number=number)
        for number in range(FRAMES)
        for its_stream in trial["phases"][0]["streams"]
    ]


def expect_arrivals(trial: dict[str, Any]) -> None:
    numbers = numbers_of(trial)
    frames = [(arrival_side(number), bytes(arrival(number))) for number in numbers]
    assert judged(trial, frames) == ["received"] * len(frames)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_frames_of_subscribers(name: str, side: Side) -> None:
    trial = trial_of(MECHANISMS[name], side)
    expect_golden(trial, FRAMES)
    expect_golden(trial, FRAMES, first=900)
    expect_arrivals(trial)


@pytest.mark.parametrize("name", MECHANISMS)
def test_their_addresses_and_ports_are_those_of_the_rfcs(name: str) -> None:
    """RFC 7597 sections 5.1, 5.2 and 6, from the number alone."""
    mechanism = MECHANISMS[name]
    trial = trial_of(mechanism, "left")
    psid_bits, is_map = mechanism["psid_bits"], mechanism["mechanism"] != "lw4o6"
    offset = mechanism.get("psid_offset_bits", 6 if is_map else 0)
    seen = [frame for frame in sent(trial, FRAMES) if frame.direction == "forward"]
    its_stream = trial["phases"][0]["streams"][0]
    for frame in seen:
        place = Number(spec=trial, phase=0, stream=its_stream, number=frame.number)
        number = place.values.source_field
        suffix, psid = number >> psid_bits, number % 2**psid_bits
        ipv4 = int(IPv4Address("198.51.100.0")) + suffix
        end = 36 + 10 + psid_bits if is_map else 64
        prefix = int(IPv6Network(mechanism["ipv6_prefix"]).network_address)
        ipv6 = prefix + (number << (128 - end)) + (ipv4 << 16) + psid
        packet = Ether(frame.frame)
        assert IPv6Address(packet[IPv6].src) == IPv6Address(ipv6)
        if IP in packet:
            assert IPv4Address(packet[IP].src) == IPv4Address(ipv4)
        port = packet[UDP].sport
        if psid_bits:
            assert port >> (16 - offset - psid_bits) & (2**psid_bits - 1) == psid
            assert port >> (16 - offset) > 0 or offset == 0
        assert port > 0


@pytest.mark.parametrize("combination", ["44", "66"])
@pytest.mark.parametrize("source", range(len(PARTS)))
def test_fields_in_parts(source: int, combination: str) -> None:
    """Of both addresses, which have other parts."""
    trial = both_ways(combination, 128, fields=True)
    for its_stream, kind in itertools.product(
        trial["phases"][0]["streams"], ("foreground", "background")
    ):
        traffic = its_stream[kind]
        for number, end in enumerate(("source", "destination")):
            parts = [
                {"value_bit": value_bit, "bits": bits, "address_bit": address_bit}
                for value_bit, bits, address_bit in PARTS[(source + number) % len(PARTS)]
            ]
            traffic[f"{end}_field"] = series("pseudorandom", 0, 2**24 - 1)
            for place in ("departure", "arrival"):
                traffic[place][end]["field"] = parts
        its_stream["segments"][0]["frames"] = 1000
    expect_golden(trial, FRAMES)
    expect_arrivals(trial)


def test_each_segment_of_subscribers_arrives(frames: list[Frame]) -> None:
    for frame in frames:
        number = frame.number
        if "on the left tcp" in frame.format:
            arrived = [(arrival_side(number), bytes(arrival(number)))]
            assert judged(number.spec, arrived, number.phase) == ["received"], frame.name
