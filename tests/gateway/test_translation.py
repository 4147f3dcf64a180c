"""Compares translated packets octet for octet with those that scapy makes by the RFCs."""

import ipaddress
import random
from dataclasses import dataclass
from typing import Any

import pytest

from tests.gateway.frames import (
    LEFT_TESTER_MAC,
    RIGHT_TESTER_MAC,
    Arrival,
    Played,
    arrive,
    departing,
    play,
)
from tests.gateway.layers import (
    ICMP,
    IP,
    TCP,
    UDP,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    IPOption,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    Raw,
)

SIZES = [84, 85, 128, 512, 1298, 1299, 1518]  # of the IPv6 frame with FCS; DF begins at 1299
LARGEST_WITHOUT_DF = 1260  # RFC 7915, 5.1


@dataclass(frozen=True, kw_only=True)
class Net:
    """The addresses of two hosts on the left, and those on the right."""

    left: tuple[str, str]  # the left host's address, the right host's
    right: tuple[str, str]
    translation: dict[str, Any] | None

    def config(self) -> dict[str, Any]:
        return {
            "left": {"neighbours": {self.left[0]: LEFT_TESTER_MAC}},
            "right": {"neighbours": {self.right[1]: RIGHT_TESTER_MAC}},
            "routes": [
                {"prefix": self.left[0], "side": "left"},
                {"prefix": self.right[1], "side": "right"},
            ],
            "translation": self.translation,
        }


EXPLICIT = {
    "explicit": [
        {"ipv4": "198.18.0.0/24", "ipv6": "2001:2::/120"},
        {"ipv4": "198.19.0.0/24", "ipv6": "2001:2:0:1000::/120"},
    ]
}
# RFC 6052, 2.2, spelled out: the octets of 198.18.0.2 and 198.19.0.2 around octet 8.
PREFIXES = {
    "2001:db8::/32": ("2001:db8:c612:2::", "2001:db8:c613:2::"),
    "2001:db8:100::/40": ("2001:db8:1c6:1200:2::", "2001:db8:1c6:1300:2::"),
    "2001:db8:122::/48": ("2001:db8:122:c612:0:200::", "2001:db8:122:c613:0:200::"),
    "2001:db8:122:300::/56": ("2001:db8:122:3c6:12:2::", "2001:db8:122:3c6:13:2::"),
    "2001:db8:122:344::/64": ("2001:db8:122:344:c6:1200:200:0", "2001:db8:122:344:c6:1300:200:0"),
    "64:ff9b::/96": ("64:ff9b::c612:2", "64:ff9b::c613:2"),
}
IPV4 = ("198.18.0.2", "198.19.0.2")
IPV6 = ("2001:2::2", "2001:2:0:1000::2")
NETS = {
    "4-4": Net(left=IPV4, right=IPV4, translation=None),
    "6-6": Net(left=IPV6, right=IPV6, translation=None),
    "4-6": Net(left=IPV4, right=IPV6, translation=EXPLICIT),
    "6-4": Net(left=IPV6, right=IPV4, translation=EXPLICIT),
    **{
        f"6-4 {prefix}": Net(left=ipv6, right=IPV4, translation={"prefix": prefix})
        for prefix, ipv6 in PREFIXES.items()
    },
    **{
        f"4-6 {prefix}": Net(left=IPV4, right=ipv6, translation={"prefix": prefix})
        for prefix, ipv6 in PREFIXES.items()
    },
    "both kinds": Net(
        left=("2001:2::2", "64:ff9b::c613:2"),
        right=IPV4,
        translation={"explicit": EXPLICIT["explicit"][:1], "prefix": "64:ff9b::/96"},
    ),
}
TRANSLATING = [name for name in NETS if name not in ("4-4", "6-6")]


def is_ipv6(address: str) -> bool:
    return ipaddress.ip_address(address).version == 6


def header(addresses: tuple[str, str], *, hop_limit: int, traffic_class: int, **ipv4: Any) -> Any:
    source, destination = addresses
    if is_ipv6(source):
        return IPv6(src=source, dst=destination, hlim=hop_limit, tc=traffic_class)
    return IP(src=source, dst=destination, ttl=hop_limit, tos=traffic_class, **ipv4)


def expected_ipv4(before: tuple[str, str], octets: int, identification: int) -> dict[str, Any]:
    """Identification and flags: carried along, or RFC 7915's where the packet was IPv6."""
    if not is_ipv6(before[0]):
        return {"id": 0, "flags": "DF"}
    return {"id": identification, "flags": "DF" if octets > LARGEST_WITHOUT_DF else 0}


def data_of(frame_size: int, chance: random.Random) -> bytes:
    return chance.randbytes(frame_size - 4 - 14 - 40 - 8)


def check_udp(net: Net, direction: str, frame_size: int) -> None:
    chance = random.Random(f"{net} {direction} {frame_size}")
    forward = direction == "forward"
    before = net.left if forward else net.right[::-1]
    after = net.right if forward else net.left[::-1]
    arrivals, expected = [], []
    for number in range(40):
        udp = UDP(sport=chance.randrange(65536), dport=chance.randrange(65536))
        data = Raw(data_of(frame_size, chance))
        hop_limit, traffic_class = chance.randrange(2, 256), chance.randrange(256)
        packet = header(before, hop_limit=hop_limit, traffic_class=traffic_class, id=0, flags="DF")
        arrivals.append(arrive(packet / udp / data, "left" if forward else "right"))
        ipv4 = expected_ipv4(before, frame_size - 4 - 14 - 20, number)
        packet = header(after, hop_limit=hop_limit - 1, traffic_class=traffic_class, **ipv4)
        expected.append(departing(packet / udp / data, "right" if forward else "left"))
    played = play(net.config(), arrivals)
    assert played.departures == expected
    assert played.record["directions"][direction]["forwarded"] == len(expected)


@pytest.mark.parametrize("frame_size", SIZES)
@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("name", ["4-4", "6-6", "4-6", "6-4"])
def test_udp(name: str, direction: str, frame_size: int) -> None:
    check_udp(NETS[name], direction, frame_size)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("name", [name for name in TRANSLATING if " " in name])
def test_udp_by_prefix(name: str, direction: str) -> None:
    check_udp(NETS[name], direction, 84)


def one(net: Net, packet: Any, side: str = "left") -> Played:
    return play(net.config(), [arrive(packet, side)])


def assert_dropped(played: Played, reason: str, direction: str = "forward") -> None:
    record = played.record["directions"][direction]
    assert played.departures == []
    assert record["dropped"][reason] == 1
    assert sum(record["dropped"].values()) == record["received"] == 1


def test_host_bits_are_carried() -> None:
    net = NETS["6-4"]
    config = net.config()
    config["routes"] = [{"prefix": "198.19.0.0/16", "side": "right", "via": "198.19.0.2"}]
    hosts = range(1, 255)
    played = play(
        config,
        [
            arrive(
                IPv6(src=f"2001:2::{255 - host:x}", dst=f"2001:2:0:1000::{host:x}")
                / UDP(sport=1, dport=2)
            )
            for host in hosts
        ],
    )
    assert played.departures == [
        departing(
            IP(src=f"198.18.0.{255 - host}", dst=f"198.19.0.{host}", ttl=63, id=number)
            / UDP(sport=1, dport=2)
        )
        for number, host in enumerate(hosts)
    ]


def test_checksum_that_comes_to_zero_is_sent_as_ones() -> None:
    """In both directions, for a datagram whose checksum is 0 in its new addresses."""
    for before, after, side in ((IPV4, IPV6, "left"), (IPV6, IPV4, "left")):
        net = NETS["4-6"] if before is IPV4 else NETS["6-4"]
        wanted = header(after, hop_limit=63, traffic_class=0, id=0, flags=expected_flags(before))
        probe = bytes(wanted / UDP(sport=1, dport=2) / Raw(bytes(2)))
        sum_so_far = int.from_bytes(probe[-4:-2], "big")
        data = Raw(sum_so_far.to_bytes(2, "big"))  # the sum's missing part: the checksum is then 0
        expected = bytes(wanted / UDP(sport=1, dport=2) / data)
        assert expected[-4:-2] == b"\xff\xff"
        packet = header(before, hop_limit=64, traffic_class=0, id=0, flags="DF")
        played = one(net, packet / UDP(sport=1, dport=2) / data, side)
        assert played.departures == [departing(wanted / UDP(sport=1, dport=2) / data)]


def expected_flags(before: tuple[str, str]) -> str | int:
    return 0 if is_ipv6(before[0]) else "DF"


def test_missing_udp_checksum_is_computed() -> None:
    packet = IP(src=IPV4[0], dst=IPV4[1], flags="DF") / UDP(sport=5, dport=6, chksum=0) / b"odd"
    wanted = IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP(sport=5, dport=6) / b"odd"
    assert one(NETS["4-6"], packet).departures == [departing(wanted)]


def test_missing_udp_checksum_of_a_fragment_cannot_be_computed() -> None:
    packet = IP(src=IPV4[0], dst=IPV4[1], flags="MF", id=7)
    assert_dropped(one(NETS["4-6"], packet / UDP(chksum=0) / bytes(32)), "malformed")


def test_wrong_udp_checksum_stays_wrong() -> None:
    packet = IP(src=IPV4[0], dst=IPV4[1]) / UDP(sport=5, dport=6) / b"data"
    broken = bytearray(bytes(packet))
    broken[26] ^= 0x40
    played = one(NETS["4-6"], IP(bytes(broken)))
    (_, frame), *_ = played.departures
    right = bytes(IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP(sport=5, dport=6) / b"data")
    assert frame[14 + 46] ^ right[46] != 0
    assert frame[14:60] + frame[62:] == right[:46] + right[48:]


def test_fragments_of_ipv4_get_a_fragment_header() -> None:
    udp = bytes(IP(src=IPV4[0], dst=IPV4[1]) / UDP() / bytes(range(64)))[20:]
    first, second = udp[:40], udp[40:]
    arrivals = [
        IP(src=IPV4[0], dst=IPV4[1], id=0xABCD, flags="MF", proto=17) / Raw(first),
        IP(src=IPV4[0], dst=IPV4[1], id=0xABCD, frag=5, proto=17) / Raw(second),
    ]
    played = play(NETS["4-6"].config(), [arrive(packet) for packet in arrivals])
    whole = IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP() / bytes(range(64))
    translated = bytes(whole)[40:]
    wanted = [
        IPv6(src=IPV6[0], dst=IPV6[1], hlim=63)
        / IPv6ExtHdrFragment(nh=17, id=0xABCD, m=1)
        / Raw(translated[:40]),
        IPv6(src=IPV6[0], dst=IPV6[1], hlim=63)
        / IPv6ExtHdrFragment(nh=17, id=0xABCD, offset=5)
        / Raw(translated[40:]),
    ]
    assert played.departures == [departing(packet) for packet in wanted]


def test_without_df_but_whole_gets_no_fragment_header() -> None:
    packet = IP(src=IPV4[0], dst=IPV4[1], id=99) / UDP() / b"x"
    wanted = IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP() / b"x"
    assert one(NETS["4-6"], packet).departures == [departing(wanted)]


def test_fragment_header_becomes_ipv4_fields() -> None:
    udp = bytes(IPv6(src=IPV6[0], dst=IPV6[1]) / UDP() / bytes(range(64)))[40:]
    ipv6 = IPv6(src=IPV6[0], dst=IPV6[1])
    arrivals = [
        ipv6 / IPv6ExtHdrFragment(nh=17, id=0x1234ABCD, m=1) / Raw(udp[:40]),
        ipv6 / IPv6ExtHdrFragment(nh=17, id=0x1234ABCD, offset=5) / Raw(udp[40:]),
        ipv6 / IPv6ExtHdrFragment(nh=17, id=0x1234ABCD) / Raw(udp),
    ]
    played = play(NETS["6-4"].config(), [arrive(packet) for packet in arrivals])
    whole = bytes(IP(src=IPV4[0], dst=IPV4[1]) / UDP() / bytes(range(64)))[20:]
    ipv4 = {"src": IPV4[0], "dst": IPV4[1], "ttl": 63, "id": 0xABCD, "proto": 17}
    wanted = [
        IP(**ipv4, flags="MF") / Raw(whole[:40]),
        IP(**ipv4, frag=5) / Raw(whole[40:]),
        IP(**ipv4) / Raw(whole),
    ]
    assert played.departures == [departing(packet) for packet in wanted]


def test_ipv4_options_are_not_translated() -> None:
    no_operation, timestamp = IPOption(b"\x01"), IPOption(b"\x44\x08\x05\x00\x00\x00\x00\x00")
    packet = IP(src=IPV4[0], dst=IPV4[1], options=[no_operation, timestamp]) / UDP() / b"data"
    wanted = IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP() / b"data"
    assert one(NETS["4-6"], packet).departures == [departing(wanted)]


def test_unexpired_source_route_is_dropped() -> None:
    route = IPOption(b"\x83\x07\x04\xc6\x13\x00\x02")
    packet = IP(src=IPV4[0], dst=IPV4[1], options=[route]) / UDP()
    assert_dropped(one(NETS["4-6"], packet), "malformed")


def test_extension_headers_are_skipped() -> None:
    extensions = IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting(segleft=0) / IPv6ExtHdrDestOpt()
    packet = IPv6(src=IPV6[0], dst=IPV6[1]) / extensions / UDP() / b"data"
    wanted = IP(src=IPV4[0], dst=IPV4[1], ttl=63, id=0) / UDP() / b"data"
    assert one(NETS["6-4"], packet).departures == [departing(wanted)]


def test_segments_left_are_dropped() -> None:
    routing = IPv6ExtHdrRouting(addresses=["2001:2::9"], segleft=1)
    packet = IPv6(src=IPV6[0], dst=IPV6[1]) / routing / UDP(chksum=1) / b"data"
    assert_dropped(one(NETS["6-4"], packet), "malformed")


@pytest.mark.parametrize("data", [b"", b"odd", bytes(range(100))])
def test_echo(data: bytes) -> None:
    ipv4 = {"src": IPV4[0], "dst": IPV4[1]}
    ipv6 = {"src": IPV6[0], "dst": IPV6[1]}
    for type4, message6 in ((8, ICMPv6EchoRequest), (0, ICMPv6EchoReply)):
        in_ipv4 = ICMP(type=type4, id=0x1234, seq=7) / data
        in_ipv6 = message6(id=0x1234, seq=7, data=data)
        assert one(NETS["4-6"], IP(**ipv4) / in_ipv4).departures == [
            departing(IPv6(**ipv6, hlim=63) / in_ipv6)
        ]
        assert one(NETS["6-4"], IPv6(**ipv6) / in_ipv6).departures == [
            departing(IP(**ipv4, ttl=63, id=0) / in_ipv4)
        ]


def test_tcp() -> None:
    tcp = TCP(sport=1, dport=2, seq=3, flags="SA", options=[("MSS", 1220)]) / b"data"
    ipv4 = {"src": IPV4[0], "dst": IPV4[1]}
    ipv6 = {"src": IPV6[0], "dst": IPV6[1]}
    assert one(NETS["4-6"], IP(**ipv4) / tcp).departures == [departing(IPv6(**ipv6, hlim=63) / tcp)]
    assert one(NETS["6-4"], IPv6(**ipv6) / tcp).departures == [
        departing(IP(**ipv4, ttl=63, id=0) / tcp)
    ]


def test_other_icmp_is_not_translated() -> None:
    packet = IP(src=IPV4[0], dst=IPV4[1]) / ICMP(type=13)
    assert_dropped(one(NETS["4-6"], packet), "malformed")


@pytest.mark.parametrize("name", ["4-4", "6-6", "4-6", "6-4"])
@pytest.mark.parametrize("hop_limit", [0, 1])
def test_hop_limit_ends(name: str, hop_limit: int) -> None:
    net = NETS[name]
    packet = header(net.left, hop_limit=hop_limit, traffic_class=0) / UDP() / b"data"
    assert_dropped(one(net, packet), "hop_limit")


def test_address_without_mapping_is_not_translated() -> None:
    packet = IPv6(src="2001:db8::1", dst=IPV6[1]) / UDP()
    assert_dropped(one(NETS["6-4"], packet), "no_route")


def test_background_is_routed_beside_translation() -> None:
    """Native IPv6 passes unchanged through a gateway that translates other destinations."""
    net = NETS["6-4"]
    config = net.config()
    config["right"]["neighbours"]["2001:2:0:8000::2"] = RIGHT_TESTER_MAC
    config["routes"].append({"prefix": "2001:2:0:8000::/64", "side": "right"})
    udp = UDP(sport=1, dport=2) / b"background"
    played = play(config, [arrive(IPv6(src=IPV6[0], dst="2001:2:0:8000::2", fl=0x12345) / udp)])
    assert played.departures == [
        departing(IPv6(src=IPV6[0], dst="2001:2:0:8000::2", hlim=63, fl=0x12345) / udp)
    ]


def test_short_frames_come_padded() -> None:
    """Ethernet's padding is not part of the packet, whatever is in it."""
    arrival = arrive(IP(src=IPV4[0], dst=IPV4[1]) / UDP(sport=1, dport=2) / b"ab")
    padded = Arrival(side="left", frame=arrival.frame.ljust(60, b"\xee"))
    wanted = IPv6(src=IPV6[0], dst=IPV6[1], hlim=63) / UDP(sport=1, dport=2) / b"ab"
    assert play(NETS["4-6"].config(), [padded]).departures == [departing(wanted)]
