"""The frame that a spec asks for, built by scapy: lengths and checksums are scapy's."""

import ipaddress
import struct
from dataclasses import dataclass
from typing import Any

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from tests.frames.flow import Values, place_of, seed_of, values_of

TESTER_MACS = {"left": "02:00:00:00:00:01", "right": "02:00:00:00:00:02"}
GATEWAY_MACS = {"left": "02:00:00:00:00:0a", "right": "02:00:00:00:00:0b"}
HEADERS = 14 + 40 + 8  # Ethernet, IPv6, UDP
FCS = 4
STAMP = 18


@dataclass(frozen=True, kw_only=True)
class Number:
    """One frame of a trial."""

    spec: dict[str, Any]
    phase: int
    stream: dict[str, Any]
    number: int

    @property
    def kind(self) -> str:
        return place_of(self.number, self.stream["mix"])[0]

    @property
    def ordinal(self) -> int:
        return place_of(self.number, self.stream["mix"])[1]

    @property
    def traffic(self) -> dict[str, Any]:
        traffic: dict[str, Any] = self.stream[self.kind]
        return traffic

    @property
    def values(self) -> Values:
        seed = seed_of(self.spec["seed"], self.stream["direction"], self.kind)
        return values_of(self.traffic, self.ordinal, seed)


def address(pattern: dict[str, Any], networks: int, network: int, field: int) -> str:
    octets = bytearray(ipaddress.ip_address(pattern["address"]).packed)
    if networks > 1 and pattern["network_byte"] is not None:
        octets[pattern["network_byte"]] = network
    if pattern["field_byte"] is not None:
        octets[pattern["field_byte"] : pattern["field_byte"] + 2] = field.to_bytes(2, "big")
    return str(ipaddress.ip_address(bytes(octets)))


def stamp(number: Number, lateness: int) -> bytes:
    """docs/decisions/0004-payload-layout.md."""
    stream = (
        (number.stream["direction"] == "reverse")
        | (number.kind == "background") << 1
        | number.phase << 2
    )
    tag = number.spec["nonce"] ^ int.from_bytes(b"NTXY", "little")
    low = struct.pack("<IB", tag, stream) + number.number.to_bytes(5, "little")
    return low + struct.pack("<II", 0, lateness)


def data_of(number: Number, lateness: int) -> bytes:
    """The stamp, and what RFC 2544 C.2.6.4 puts behind it. An IPv4 frame is 20 octets smaller than
    an IPv6 frame, so its data is as long."""
    octets = number.stream["frame_size_bytes"] - FCS - HEADERS
    return stamp(number, lateness) + bytes(i % 256 for i in range(octets - STAMP))


def header(number: Number, pair: dict[str, Any], hop_limit: int) -> Any:
    values, networks = number.values, number.traffic["networks"]
    source = address(pair["source"], networks, values.network, values.source_field)
    destination = address(pair["destination"], networks, values.network, values.destination_field)
    if pair["ip_version"] == 4:
        flags = "DF" if number.traffic.get("dont_fragment", True) else 0
        return IP(src=source, dst=destination, ttl=hop_limit, flags=flags, id=0)
    return IPv6(src=source, dst=destination, hlim=hop_limit)


def transport(number: Number, lateness: int) -> Any:
    udp = UDP(sport=number.values.source_port, dport=number.values.destination_port)
    return udp / Raw(data_of(number, lateness))


def departure(
    number: Number, *, lateness: int = 0, source: str | None = None, next_hop: str | None = None
) -> bytes:
    """As the tester of `natxy-engine-frames` sends it, or one with other MAC addresses."""
    side = "left" if number.stream["direction"] == "forward" else "right"
    link = Ether(src=source or TESTER_MACS[side], dst=next_hop or GATEWAY_MACS[side])
    hop_limit = number.traffic.get("hop_limit", 64)
    packet = header(number, number.traffic["departure"], hop_limit) / transport(number, lateness)
    return bytes(link / packet)


def arrival_side(number: Number) -> str:
    return "right" if number.stream["direction"] == "forward" else "left"


def arrival(number: Number) -> Any:
    """As a scapy packet, for a test to spoil."""
    side = arrival_side(number)
    link = Ether(src=GATEWAY_MACS[side], dst=TESTER_MACS[side])
    hop_limit = number.traffic.get("hop_limit", 64) - 1
    return link / header(number, number.traffic["arrival"], hop_limit) / transport(number, 0)
