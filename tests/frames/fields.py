"""What tshark must read in a frame.

All of it follows from the trial's spec, from the documents that `flow.py` and `golden.py` name, and
from the RFCs of the headers. No octet of a frame is looked at, neither the engine's nor scapy's.
"""

from collections import defaultdict
from ipaddress import IPv6Address
from itertools import pairwise
from typing import Any

from tests.frames.golden import (
    ETHERNET,
    FCS,
    GATEWAY_MACS,
    IP_OCTETS,
    STAMP,
    TESTER_MACS,
    Number,
    address,
    data_of,
    flags,
    identification,
    tcp_numbers,
)

GOOD = 1  # tshark's status of a checksum
WARNING = 0x600000  # tshark's severity of what an expert would look at
IP_TYPES = {4: 0x0800, 6: 0x86DD}
IP_PROTOCOLS = {4: 4, 6: 41}  # of a packet in a packet
PROTOCOLS = {"tcp": 6, "udp": 17, "gre": 47}
# Next header, and tshark's name, by the name in a spec.
EXTENSIONS = {
    "hop-by-hop": (0, "ipv6.hopopts"),
    "destination-options": (60, "ipv6.dstopts"),
    "routing": (43, "ipv6.routing"),
}
TAGS = {
    "802.1Q": (0x8100, "vlan", "vlan.etype"),
    "802.1ad": (0x88A8, "ieee8021ad", "ieee8021ah.etype"),
}
TCP_FLAGS = {letter: 1 << bit for bit, letter in enumerate("FSRPAUEC")}

Values = dict[str, list[int | str]]


class Expected:
    """The values of each field, in the order of the frame."""

    def __init__(self, number: Number) -> None:
        self._number = number
        self._form = number.traffic["departure"]
        self._transport = self._form.get("transport", "udp")
        self._layers = ["eth"]
        self._left = self._form["frame_size_bytes"] - FCS  # octets from the next header on
        self.values: Values = defaultdict(list)
        self._link()
        if tunnel := self._form.get("tunnel"):
            self._tunnel(tunnel)
        self._packet()
        self._udp() if self._transport == "udp" else self._tcp()
        self._add("frame", protocols=":".join(self._layers))

    def _add(self, layer: str, **values: int | str) -> None:
        for name, value in values.items():
            self.values[f"{layer}.{name}"].append(value)

    def _link(self) -> None:
        spec, forward = self._number.spec, self._number.stream["direction"] == "forward"
        side = "left" if forward else "right"
        tags = spec["sides"][side].get("vlans") or ()
        carried = (self._form.get("tunnel") or self._form).get("ip_version", 6)
        types = [TAGS[tag.get("tpid", "802.1Q")][0] for tag in tags] + [IP_TYPES[carried]]
        self._add("frame", len=self._left + 4 * len(tags))
        self._add("eth", dst=GATEWAY_MACS[side], src=TESTER_MACS[side], type=types[0])
        self._layers.append("ethertype")
        for tag, after in zip(tags, types[1:], strict=True):
            _, layer, etype = TAGS[tag.get("tpid", "802.1Q")]
            self._add(layer, priority=tag.get("priority", 0), dei=0, id=tag["id"])
            self.values[etype].append(after)
            self._layers += [layer, "ethertype"]
        self._left -= ETHERNET

    def _tunnel(self, tunnel: dict[str, Any]) -> None:
        inside, gre = self._form["ip_version"], tunnel.get("encapsulation", "ip") == "gre"
        protocol = PROTOCOLS["gre"] if gre else IP_PROTOCOLS[inside]
        self._ip(tunnel, tunnel.get("ip_version", 6), tunnel.get("hop_limit", 64), protocol)
        if gre:
            self._add("gre", flags_and_version=0, proto=IP_TYPES[inside])
            self._layers.append("gre")
            self._left -= 4

    def _packet(self) -> None:
        names = self._form.get("extension_headers") or ()
        chain = [EXTENSIONS[name] for name in names] + [(PROTOCOLS[self._transport], "")]
        hop_limit = self._number.traffic.get("hop_limit", 64)
        self._ip(self._form, self._form["ip_version"], hop_limit, chain[0][0])
        for (_, layer), (after, _) in pairwise(chain):
            self._extension(layer, after)

    def _ip(self, form: dict[str, Any], version: int, hop_limit: int, protocol: int) -> None:
        values, networks = self._number.values, self._number.traffic["networks"]
        ends = {
            "src": address(form["source"], networks, values.network, values.source_field),
            "dst": address(form["destination"], networks, values.network, values.destination_field),
        }
        dscp, ecn = divmod(form.get("traffic_class", 0), 4)
        self.values["ip.version"].append(version)
        if version == 4:
            self._add("ip", hdr_len=20, len=self._left, ttl=hop_limit, proto=protocol, **ends)
            self._add("ip", id=identification(self._number), frag_offset=0)
            self._add("ip", flags=2 if flags(self._number) else 0)
            self.values["ip.checksum.status"].append(GOOD)
        else:
            ends = {end: str(IPv6Address(text)) for end, text in ends.items()}
            length = self._left - IP_OCTETS[6]
            self._add("ipv6", plen=length, hlim=hop_limit, nxt=protocol, **ends)
            self._add("ipv6", flow=form.get("flow_label", 0))
        layer, octet = ("ip", "ip.dsfield") if version == 4 else ("ipv6", "ipv6.tclass")
        self._add(octet, dscp=dscp, ecn=ecn)
        self._layers.append(layer)
        self._left -= IP_OCTETS[version]

    def _extension(self, layer: str, after: int) -> None:
        """RFC 8200 section 4: 8 octets, of which padding is an option."""
        self._add(layer, nxt=after, len=0)
        if layer == "ipv6.routing":
            self._add(layer, type=253, segleft=0, unknown_data="00000000")
        else:
            self._add("ipv6.opt", type=1, length=4, padn="00000000")
        self._layers.append(layer)
        self._left -= 8

    def _udp(self) -> None:
        values = self._number.values
        self._add("udp", srcport=values.source_port, dstport=values.destination_port)
        self._add("udp", length=self._left, payload=data_of(self._number, 0).hex())
        self.values["udp.checksum.status"].append(GOOD)
        self._layers += ["udp", "data"]

    def _tcp(self) -> None:
        """The stamp is in an option of kind 253, whose head has 2 octets."""
        values, numbers, data = (
            self._number.values,
            tcp_numbers(self._number),
            data_of(self._number, 0),
        )
        option = bytes([253, 2 + STAMP]) + data[:STAMP]
        bits = sum(TCP_FLAGS[letter] for letter in numbers["flags"])
        self._add("tcp", srcport=values.source_port, dstport=values.destination_port)
        self._add("tcp", seq_raw=numbers["seq"], ack_raw=numbers["ack"], flags=bits)
        self._add("tcp", hdr_len=20 + len(option), window_size_value=65535, urgent_pointer=0)
        self._add("tcp", options=option.hex(), len=self._left - 20 - len(option))
        self.values["tcp.checksum.status"].append(GOOD)
        self._layers.append("tcp")
        if len(data) > STAMP:
            self._add("tcp", payload=data[STAMP:].hex())
            self._layers.append("data")
        if "R" in numbers["flags"]:
            self.values["_ws.expert.severity"].append(WARNING)  # "Connection reset"


def expected_of(number: Number) -> Values:
    return dict(Expected(number).values)
