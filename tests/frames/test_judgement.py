"""One thing wrong in an arriving frame, made by scapy, is named by its counter."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from tests.frames.golden import (
    ENCAPSULATIONS,
    ETHERNET,
    IP_OCTETS,
    Number,
    arrival,
    arrival_side,
    tunnel_octets,
)
from tests.frames.specs import COMBINATIONS, in_tunnel, spec, stream, traffic
from tests.frames.tool import judged


def trial_of(combination: str, size: int = 128) -> dict[str, Any]:
    its_stream = stream("forward", traffic(combination, networks=256), None, size=size)
    its_stream["segments"][0]["frames"] = 1000
    return spec(its_stream)


def ip(packet: Any) -> Any:
    return packet[IP] if IP in packet else packet[IPv6]


def data(packet: Any) -> bytearray:
    return bytearray(packet[Raw].load)


def put(packet: Any, octets: bytearray) -> Any:
    packet[Raw].load = bytes(octets)
    return packet


def with_source(packet: Any) -> Any:
    ip(packet).src = "198.18.0.3" if IP in packet else "2001:2::3"
    return packet


def with_destination(packet: Any) -> Any:
    ip(packet).dst = "198.20.0.2" if IP in packet else "2001:2:0:2000::2"
    return packet


def with_ports(source: int, destination: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        packet[UDP].sport ^= source
        packet[UDP].dport ^= destination
        return packet

    return change


def with_hop_limit(hop_limit: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        setattr(ip(packet), "ttl" if IP in packet else "hlim", hop_limit)
        return packet

    return change


def with_octet(at: int, value: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        octets = data(packet)
        octets[at] ^= value
        return put(packet, octets)

    return change


def with_udp(**fields: int) -> Callable[[Any], Any]:
    def change(packet: Any) -> Any:
        for name, value in fields.items():
            setattr(packet[UDP], name, value)
        return packet

    return change


def longer(packet: Any) -> Any:
    return put(packet, data(packet) + b"\0")


def shorter(packet: Any) -> Any:
    return put(packet, data(packet)[:-1])


def padded(packet: Any) -> Any:
    return bytes(packet) + b"\0\0"


def no_ip(packet: Any) -> Any:
    packet[Ether].type = 0x88B5
    return packet


CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "nothing": (lambda packet: packet, "received"),
    "source address": (with_source, "address"),
    "destination address": (with_destination, "address"),
    "source port": (with_ports(1, 0), "port"),
    "destination port": (with_ports(0, 0x100), "port"),
    "hop limit 62": (with_hop_limit(62), "hop_limit"),
    "hop limit 64": (with_hop_limit(64), "hop_limit"),
    "another trial's tag": (with_octet(0, 1), "foreign"),
    "the other direction": (with_octet(4, 1), "number"),
    "the other kind": (with_octet(4, 2), "number"),
    "the next phase": (with_octet(4, 4), "number"),
    "a probe of the warm-up": (with_octet(4, 0x80), "nothing"),
    "a number that was not sent": (with_octet(9, 1), "number"),
    "another number that was": (with_octet(5, 1), "address|port"),
    "padding, with its checksum": (with_octet(30, 1), "received"),
    "a wrong checksum": (with_udp(chksum=0x1234), "checksum"),
    "UDP length": (with_udp(len=40), "malformed"),
    "longer": (longer, "length"),
    "shorter": (shorter, "length"),
    "octets behind the packet": (padded, "malformed"),
    "another EtherType": (no_ip, "foreign"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_a_change_is_named(combination: str, change: str) -> None:
    trial = trial_of(combination)
    spoil, counter = CHANGES[change]
    number = Number(spec=trial, phase=0, stream=trial["phases"][0]["streams"][0], number=7)
    frame = bytes(spoil(arrival(number)))
    (verdict,) = judged(trial, [(arrival_side(number), frame)])
    assert verdict in counter.split("|")


def tunnel_trial(encapsulation: str, outer: int, combination: str) -> dict[str, Any]:
    trial = trial_of(combination)
    in_tunnel(trial["phases"][0]["streams"][0]["foreground"]["arrival"], encapsulation, outer)
    return trial


def with_outer(**fields: Any) -> Callable[[Any], Any]:
    """Changes the outer header."""

    def change(packet: Any) -> Any:
        outer = packet[Ether].payload
        for name, value in fields.items():
            setattr(outer, name, value)
        return packet

    return change


# By the IP version of the outer header.
TUNNEL_CHANGES: dict[int, dict[str, tuple[Callable[[Any], Any], str]]] = {
    4: {
        "source": (with_outer(src="192.0.2.9"), "tunnel"),
        "destination": (with_outer(dst="203.0.113.9"), "tunnel"),
        "protocol": (with_outer(proto=99), "tunnel"),
        "length": (with_outer(len=60), "tunnel"),
        "a fragment": (with_outer(flags="MF"), "tunnel"),
        "checksum": (with_outer(chksum=0x1234), "tunnel"),
        "hop limit": (with_outer(ttl=7), "tunnel"),
        "the gateway's affair": (with_outer(tos=0xB8, id=4711, flags=0), "received"),
    },
    6: {
        "source": (with_outer(src="2001:2::9"), "tunnel"),
        "destination": (with_outer(dst="2001:2:0:8000::9"), "tunnel"),
        "protocol": (with_outer(nh=99), "tunnel"),
        "length": (with_outer(plen=60), "tunnel"),
        "hop limit": (with_outer(hlim=7), "tunnel"),
        "the gateway's affair": (with_outer(tc=0xB8, fl=4711), "received"),
    },
}
TUNNELS = list(itertools.product(ENCAPSULATIONS, (4, 6), ("44", "46", "66")))


@pytest.mark.parametrize(("encapsulation", "outer", "combination"), TUNNELS)
def test_a_change_of_a_tunnel_is_named(encapsulation: str, outer: int, combination: str) -> None:
    trial = tunnel_trial(encapsulation, outer, combination)
    number = Number(spec=trial, phase=0, stream=trial["phases"][0]["streams"][0], number=7)
    changes = TUNNEL_CHANGES[outer].values()
    frames = [(arrival_side(number), bytes(spoil(arrival(number)))) for spoil, _ in changes]
    assert judged(trial, frames) == [counter for _, counter in changes]


@pytest.mark.parametrize("outer", [4, 6])
def test_the_traffic_class_that_must_be_kept_is_the_inner_one(outer: int) -> None:
    trial = tunnel_trial("ip", outer, "44")
    its_stream = trial["phases"][0]["streams"][0]
    its_stream["foreground"]["dscp_kept"] = True
    number = Number(spec=trial, phase=0, stream=its_stream, number=7)
    inside = arrival(number)
    inside[Ether].payload.payload.tos = 0xB8
    outside = with_outer(**{"tos" if outer == 4 else "tc": 0xB8})(arrival(number))
    frames = [("right", bytes(frame)) for frame in (inside, outside)]
    assert judged(trial, frames) == ["traffic_class", "received"]


@pytest.mark.parametrize("outer", [4, 6])
def test_the_outer_hop_limit_is_that_of_the_first_frame(outer: int) -> None:
    """The inner one follows from hop_limit_drop. A frame in another form teaches nothing."""
    trial = tunnel_trial("ip", outer, "44")
    name = "ttl" if outer == 4 else "hlim"
    its_stream = trial["phases"][0]["streams"][0]
    frames = []
    for i, hop_limit in enumerate((7, 7, 8, 7)):
        number = Number(spec=trial, phase=0, stream=its_stream, number=i)
        frames.append(("right", bytes(with_outer(**{name: hop_limit})(arrival(number)))))
    plain = frames[0][1]
    plain = plain[:12] + b"\x08\x00" + plain[ETHERNET + IP_OCTETS[outer] :]
    assert judged(trial, [("right", plain), *frames]) == [
        "malformed",
        "received",
        "received",
        "tunnel",
        "received",
    ]


@pytest.mark.parametrize(
    ("encapsulation", "combination", "counter"),
    [("ip", "46", "malformed"), ("gre", "44", "tunnel")],
)
def test_an_outer_fragment_header_is_named(
    encapsulation: str, combination: str, counter: str
) -> None:
    """With an IPv6 packet in the tunnel, it is taken for a Fragment Header of this packet."""
    trial = tunnel_trial(encapsulation, 6, combination)
    number = Number(spec=trial, phase=0, stream=trial["phases"][0]["streams"][0], number=7)
    frame = bytes(arrival(number))
    end, added = ETHERNET + IP_OCTETS[6], bytes(IPv6ExtHdrFragment(nh=frame[ETHERNET + 6], m=1))
    head = bytearray(frame[:end])
    head[ETHERNET + 4 : ETHERNET + 6] = (len(frame) - end + len(added)).to_bytes(2)
    head[ETHERNET + 6] = 44
    assert judged(trial, [("right", bytes(head) + added + frame[end:])]) == [counter]


@pytest.mark.parametrize(("encapsulation", "outer", "combination"), TUNNELS)
def test_a_tunnel_must_have_its_octets_and_be_there(
    encapsulation: str, outer: int, combination: str
) -> None:
    trial = tunnel_trial(encapsulation, outer, combination)
    form = trial["phases"][0]["streams"][0]["foreground"]["arrival"]
    number = Number(spec=trial, phase=0, stream=trial["phases"][0]["streams"][0], number=7)
    right, end = bytes(arrival(number)), ETHERNET + tunnel_octets(form["tunnel"])
    wrong = [
        right[:at] + bytes([right[at] ^ 1]) + right[at + 1 :]
        for at in range(ETHERNET + IP_OCTETS[outer], end)
    ]
    ether_type = b"\x08\x00" if form["ip_version"] == 4 else b"\x86\xdd"
    wrong.append(right[: ETHERNET - 2] + ether_type + right[end:])
    frames = [(arrival_side(number), frame) for frame in wrong]
    assert judged(trial, frames) == ["tunnel"] * (len(frames) - 1) + ["malformed"]


def test_ipv4_form() -> None:
    trial = trial_of("64")
    its_stream = trial["phases"][0]["streams"][0]
    number = Number(spec=trial, phase=0, stream=its_stream, number=7)
    fragment, other, options, checksum, tos = (arrival(number) for _ in range(5))
    fragment[IP].flags = "MF"
    other[IP].proto = 18
    options[IP].ihl = 6
    checksum[IP].chksum = 0x1234
    tos[IP].tos, tos[IP].id, tos[IP].flags = 0xB8, 4711, 0  # the gateway's affair
    frames = [("right", bytes(frame)) for frame in (fragment, other, options, checksum, tos)]
    assert judged(trial, frames) == ["malformed", "malformed", "malformed", "checksum", "received"]


def test_ipv6_form() -> None:
    trial = trial_of("46")
    its_stream = trial["phases"][0]["streams"][0]
    number = Number(spec=trial, phase=0, stream=its_stream, number=7)
    other, version, label = (arrival(number) for _ in range(3))
    other[IPv6].nh = 18
    version[IPv6].version = 5
    label[IPv6].fl, label[IPv6].tc = 0x12345, 0xB8  # the gateway's affair
    whole = arrival(number)
    header = IPv6(src=whole[IPv6].src, dst=whole[IPv6].dst, hlim=63)
    link = Ether(src=whole.src, dst=whole.dst)
    fragment = link / header / IPv6ExtHdrFragment() / whole[UDP]
    frames = [("right", bytes(frame)) for frame in (other, version, label, fragment)]
    assert judged(trial, frames) == ["malformed", "malformed", "received", "malformed"]


def test_frames_of_others() -> None:
    trial = trial_of("64")
    link = Ether(src="02:00:00:00:00:0b", dst="02:00:00:00:00:02")
    question = link / ARP(psrc="198.19.0.1", pdst="198.19.0.2")
    error = link / IP(src="198.19.0.1", dst="198.18.0.2") / ICMP(type=3) / Raw(bytes(64))
    frames = [("right", bytes(frame)) for frame in (question, error)]
    frames += [("right", bytes(size)) for size in (1, 13, 14, 59, 60)]
    # Nothing leaves on the right in this trial, so the error is about something else.
    assert judged(trial, frames) == ["neighbour", "foreign icmp_of_others"] + ["foreign"] * 5


def test_every_octet_that_is_cut_off_is_noticed() -> None:
    trial = trial_of("66", size=84)
    its_stream = trial["phases"][0]["streams"][0]
    whole = bytes(arrival(Number(spec=trial, phase=0, stream=its_stream, number=7)))
    verdicts = judged(trial, [("right", whole[:size]) for size in range(1, len(whole) + 1)])
    assert verdicts == ["foreign"] * (len(whole) - 1) + ["received"]


@pytest.mark.parametrize("required", [False, True], ids=["optional", "required"])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_a_udp_checksum_may_be_absent_over_ipv4(combination: str, required: bool) -> None:
    trial = trial_of(combination)
    its_stream = trial["phases"][0]["streams"][0]
    its_stream["foreground"]["udp_checksum_required"] = required
    number = Number(spec=trial, phase=0, stream=its_stream, number=7)
    without = bytes(with_udp(chksum=0)(arrival(number)))
    right = combination[1] == "4" and not required
    expected = "received without_udp_checksum" if right else "checksum"
    assert judged(trial, [("right", without)]) == [expected]


def kept(combination: str, *, asked: bool) -> dict[str, Any]:
    trial = trial_of(combination)
    trial["phases"][0]["streams"][0]["foreground"]["dscp_kept"] = asked
    return trial


def flipped(frame: bytes, bit: int) -> bytes:
    """Counted from the start of the IP header, the most significant bit of an octet first."""
    octets = bytearray(frame)
    octets[14 + bit // 8] ^= 0x80 >> bit % 8
    return bytes(octets)


@pytest.mark.parametrize("asked", [False, True], ids=["any", "kept"])
@pytest.mark.parametrize(
    ("combination", "bits"),
    [("64", range(8, 16)), ("44", range(8, 16)), ("46", range(4, 32)), ("66", range(4, 32))],
)
def test_traffic_class_and_flow_label_are_judged_where_they_are_to_be_kept(
    combination: str, bits: range, asked: bool
) -> None:
    trial = kept(combination, asked=asked)
    number = Number(spec=trial, phase=0, stream=trial["phases"][0]["streams"][0], number=7)
    frames = [bytes(arrival(number))]
    for bit in bits:
        changed = Ether(flipped(frames[0], bit))
        if IP in changed:
            del changed[IP].chksum
        frames.append(bytes(changed))
    verdicts = judged(trial, [(arrival_side(number), frame) for frame in frames])
    assert verdicts[0] == "received"
    expected = "traffic_class" if asked else "duplicated"  # one number, again and again
    assert verdicts[1:] == [expected] * len(bits)
