"""The frame that a spec asks for, built by scapy: lengths and checksums are scapy's."""

import ipaddress
import struct
from dataclasses import dataclass
from typing import Any

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import GRE, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from tests.frames.flow import Values, derive, place_of, seed_of, values_of

TESTER_MACS = {"left": "02:00:00:00:00:01", "right": "02:00:00:00:00:02"}
GATEWAY_MACS = {"left": "02:00:00:00:00:0a", "right": "02:00:00:00:00:0b"}
ETHERNET = 14
IP_OCTETS = {4: 20, 6: 40}
UPPER_OCTETS = {"udp": 8, "tcp": 20 + 2}  # with the head of the option that holds the stamp
FCS = 4
STAMP = 18
# What a tunnel has between its outer IP header and the packet in it; scapy knows the protocols.
ENCAPSULATIONS: dict[str, list[Any]] = {
    "ip": [],
    "gre": [GRE],
}


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
    def connection(self) -> int:
        """All streams use their connections in linear order."""
        return self.ordinal if self.traffic.get("connections") else 0

    @property
    def values(self) -> Values:
        if use := self.traffic.get("connections"):
            made = self.spec["phases"][0]["streams"][0]
            seed = seed_of(self.spec["seed"], made["direction"], "foreground")
            values = values_of(made["foreground"], self.connection, seed)
            return values.swapped if use["role"] == "respond" else values
        seed = seed_of(self.spec["seed"], self.stream["direction"], self.kind)
        return values_of(self.traffic, self.ordinal, seed)


def address(pattern: dict[str, Any], networks: int, network: int, field: int) -> str:
    octets = bytearray(ipaddress.ip_address(pattern["address"]).packed)
    if networks > 1 and pattern.get("network_byte") is not None:
        octets[pattern["network_byte"]] = network
    value = int.from_bytes(octets)
    for place in pattern.get("field", []):
        shift = 8 * len(octets) - place["address_bit"] - place["bits"]
        mask = (1 << place["bits"]) - 1
        value = value & ~(mask << shift) | (field >> place.get("value_bit", 0) & mask) << shift
    return str(type(ipaddress.ip_address(pattern["address"]))(value))


def stamp(number: Number, lateness: int) -> bytes:
    """docs/decisions/0004-payload-layout.md."""
    stream = (
        (number.stream["direction"] == "reverse")
        | (number.kind == "background") << 1
        | number.phase << 2
    )
    tag = number.spec["nonce"] ^ int.from_bytes(b"NTXY", "little")
    low = struct.pack("<IB", tag, stream) + number.number.to_bytes(5, "little")
    return low + struct.pack("<II", number.connection, lateness)


def octets_of_data(form: dict[str, Any]) -> int:
    headers = IP_OCTETS[form["ip_version"]] + 8 * len(form.get("extension_headers", ()))
    headers += UPPER_OCTETS[form.get("transport", "udp")]
    headers += tunnel_octets(form["tunnel"]) if form.get("tunnel") else 0
    octets: int = form["frame_size_bytes"] - FCS - ETHERNET - headers
    return octets


def tunnel_octets(tunnel: dict[str, Any]) -> int:
    layers = ENCAPSULATIONS[tunnel.get("encapsulation", "ip")]
    return IP_OCTETS[tunnel.get("ip_version", 6)] + sum(len(bytes(layer())) for layer in layers)


def data_of(number: Number, lateness: int) -> bytes:
    """The stamp, and what RFC 2544 C.2.6.4 puts behind it."""
    octets = octets_of_data(number.traffic["departure"])
    return stamp(number, lateness) + bytes(i % 256 for i in range(octets - STAMP))


def extensions(form: dict[str, Any]) -> list[Any]:
    """The extension headers, 8 octets each (RFC 8200 section 4)."""
    padding = PadN(optdata=bytes(4))
    made = {
        "hop-by-hop": lambda: IPv6ExtHdrHopByHop(options=[padding]),
        "destination-options": lambda: IPv6ExtHdrDestOpt(options=[padding]),
        "routing": lambda: IPv6ExtHdrRouting(type=253, segleft=0),
    }
    return [made[name]() for name in form.get("extension_headers", ())]


def header(number: Number, form: dict[str, Any], hop_limit: int) -> Any:
    tunnel = form.get("tunnel")
    inner = inner_header(number, form, hop_limit)
    return outer(number, tunnel) / inner if tunnel else inner


def inner_header(number: Number, form: dict[str, Any], hop_limit: int) -> Any:
    values, networks = number.values, number.traffic["networks"]
    source = address(form["source"], networks, values.network, values.source_field)
    destination = address(form["destination"], networks, values.network, values.destination_field)
    traffic_class = form.get("traffic_class", 0)
    if form["ip_version"] == 4:
        return IP(
            src=source,
            dst=destination,
            ttl=hop_limit,
            flags=flags(number),
            id=identification(number),
            tos=traffic_class,
        )
    packet = IPv6(
        src=source, dst=destination, hlim=hop_limit, tc=traffic_class, fl=form.get("flow_label", 0)
    )
    for extension in extensions(form):
        packet = packet / extension
    return packet


def flags(number: Number) -> str | int:
    return "DF" if number.traffic.get("dont_fragment", True) else 0


def identification(number: Number) -> int:
    """RFC 6864: only a datagram that may be fragmented needs one."""
    return 0 if flags(number) else number.number & 0xFFFF


def outer(number: Number, tunnel: dict[str, Any]) -> Any:
    """What a tunnel has before the packet in it."""
    values, networks = number.values, number.traffic["networks"]
    source = address(tunnel["source"], networks, values.network, values.source_field)
    far = address(tunnel["destination"], networks, values.network, values.destination_field)
    hop_limit = tunnel.get("hop_limit", 64)
    if tunnel.get("ip_version", 6) == 4:
        packet = IP(
            src=source,
            dst=far,
            ttl=hop_limit,
            flags=flags(number),
            id=identification(number),
        )
    else:
        packet = IPv6(src=source, dst=far, hlim=hop_limit)
    for layer in ENCAPSULATIONS[tunnel.get("encapsulation", "ip")]:
        packet = packet / layer()
    return packet


def link(number: Number, side: str, *, source: str, destination: str) -> Any:
    """Ethernet with the side's VLAN tags. The outer one of two tags is of 802.1ad."""
    made = Ether(src=source, dst=destination)
    for tag in number.spec["sides"][side].get("vlans", ()):
        kind = Dot1AD if tag.get("tpid") == "802.1ad" else Dot1Q
        made = made / kind(vlan=tag["id"], prio=tag.get("priority", 0))
    return made


def tcp_numbers(number: Number) -> dict[str, Any]:
    """Flags and numbers of docs/decisions/0033-tcp.md."""

    def first(key: int) -> int:
        return (number.connection * 0x9E3779B1 % 2**32) ^ derive(number.spec["seed"], key) % 2**32

    a, b = first(4), first(5)
    use = number.traffic["connections"]
    data = octets_of_data(number.traffic["departure"]) > STAMP
    flags, seq, ack = {
        ("syn", "establish"): ("S", a, None),
        ("syn", "initiate"): ("S", a, None),
        ("syn", "respond"): ("SA", b, a + 1),
        ("ack", "initiate"): ("PA" if data else "A", a + 1, b + 1),
        ("ack", "respond"): ("PA" if data else "A", b + 1, a + 1),
        ("fin", "initiate"): ("FA", a + 1, b + 1),
        ("fin", "respond"): ("FA", b + 1, a + 2),
        ("last-ack", "initiate"): ("A", a + 2, b + 2),
        ("rst", "initiate"): ("RA", a + 1, b + 1),
        ("rst", "respond"): ("RA", b + 1, a + 1),
    }[use["segment"], use["role"]]
    return {"flags": flags, "seq": seq % 2**32, "ack": 0 if ack is None else ack % 2**32}


def transport(number: Number, lateness: int) -> Any:
    if number.traffic["departure"].get("transport") == "tcp":
        data = data_of(number, lateness)
        tcp = TCP(
            sport=number.values.source_port,
            dport=number.values.destination_port,
            window=65535,
            options=[(253, data[:STAMP])],
            **tcp_numbers(number),
        )
        return tcp / Raw(data[STAMP:]) if len(data) > STAMP else tcp
    udp = UDP(sport=number.values.source_port, dport=number.values.destination_port)
    return udp / Raw(data_of(number, lateness))


def departure(
    number: Number, *, lateness: int = 0, source: str | None = None, next_hop: str | None = None
) -> bytes:
    """As the tester of `natxy-engine-frames` sends it, or one with other MAC addresses."""
    side = "left" if number.stream["direction"] == "forward" else "right"
    made = link(
        number,
        side,
        source=source or TESTER_MACS[side],
        destination=next_hop or GATEWAY_MACS[side],
    )
    hop_limit = number.traffic.get("hop_limit", 64)
    packet = header(number, number.traffic["departure"], hop_limit) / transport(number, lateness)
    return bytes(made / packet)


def arrival_side(number: Number) -> str:
    return "right" if number.stream["direction"] == "forward" else "left"


def arrival(number: Number) -> Any:
    """As a scapy packet, for a test to spoil."""
    side = arrival_side(number)
    made = link(number, side, source=GATEWAY_MACS[side], destination=TESTER_MACS[side])
    hop_limit = number.traffic.get("hop_limit", 64) - 1
    return made / header(number, number.traffic["arrival"], hop_limit) / transport(number, 0)
