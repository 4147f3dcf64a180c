"""ICMP errors about frames of the trial, made by scapy, are named, also in and about a tunnel."""

import itertools
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
)
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from tests.frames.golden import ENCAPSULATIONS, ETHERNET, tunnel_octets
from tests.frames.specs import TUNNEL_ENDS, in_tunnel, spec, stream, traffic
from tests.frames.tool import judged, sent

TUNNELS = list(itertools.product(ENCAPSULATIONS, (4, 6), ("44", "46", "66")))


def both_ways(combination: str) -> dict[str, Any]:
    back = stream("reverse", traffic(combination[::-1], networks=256), None, size=128)
    forth = stream("forward", traffic(combination, networks=256), None, size=128)
    for each in (forth, back):
        each["segments"][0]["frames"] = 1000
    return spec(forth, back)


LINK = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:01")
BY_ROUTER4 = LINK / IP(src="198.18.0.1", dst="198.18.0.2")
BY_ROUTER6 = LINK / IPv6(src="2001:2::1", dst="2001:2::2")
ERRORS4 = [
    (ICMP(type=3, code=4, nexthopmtu=1280), "icmp 3/4 mtu 1280 from 198.18.0.1"),
    (ICMP(type=3, code=13), "icmp 3/13 mtu 0 from 198.18.0.1"),
    (ICMP(type=11, code=0), "icmp 11/0 mtu 0 from 198.18.0.1"),
    (ICMP(type=12, code=0), "icmp 12/0 mtu 0 from 198.18.0.1"),
]
ERRORS6 = [
    (ICMPv6PacketTooBig(mtu=1280), "icmp 2/0 mtu 1280 from 2001:2::1"),
    (ICMPv6DestUnreach(code=1), "icmp 1/1 mtu 0 from 2001:2::1"),
    (ICMPv6TimeExceeded(), "icmp 3/0 mtu 0 from 2001:2::1"),
]


@pytest.mark.parametrize(
    ("combination", "router", "errors"), [("44", BY_ROUTER4, ERRORS4), ("66", BY_ROUTER6, ERRORS6)]
)
@pytest.mark.parametrize("octets", [28, 60, 500], ids=["short", "middle", "whole"])
def test_icmp_errors_about_frames_of_the_trial_are_named(
    combination: str, router: Any, errors: list[tuple[Any, str]], octets: int
) -> None:
    trial = both_ways(combination)
    quoted = next(f.frame for f in sent(trial, 8) if f.direction == "forward" and f.number == 5)
    header = 0 if combination == "44" else 20  # an IPv6 header is longer by that
    packet = quoted[14 : 14 + octets + header]
    frames = [("left", bytes(router / error / Raw(packet))) for error, _ in errors]
    assert judged(trial, frames) == [f"foreign {words}" for _, words in errors]


def test_icmp_errors_about_what_was_not_sent_there_are_of_others() -> None:
    trial = both_ways("66")
    own = next(f.frame for f in sent(trial, 8) if f.direction == "forward")
    neighbours = own[:37] + b"\x99" + own[38:]  # another source
    other_trial = {**trial, "nonce": trial["nonce"] + 1}
    earlier = next(f.frame for f in sent(other_trial, 8) if f.direction == "forward")
    frames = [
        ("left", bytes(BY_ROUTER6 / ICMPv6PacketTooBig(mtu=1280) / Raw(quoted)))
        for quoted in (neighbours[14:], earlier[14:], bytes(60), b"")
    ]
    frames.append(("left", bytes(BY_ROUTER6 / ICMPv6EchoRequest())))
    assert judged(trial, frames) == ["foreign icmp_of_others"] * 4 + ["foreign"]


@pytest.mark.parametrize(("encapsulation", "outer", "combination"), TUNNELS)
def test_icmp_errors_about_frames_in_a_tunnel_are_named(
    encapsulation: str, outer: int, combination: str
) -> None:
    trial = both_ways(combination)
    in_tunnel(trial["phases"][0]["streams"][0]["foreground"]["departure"], encapsulation, outer)
    frame = next(f.frame for f in sent(trial, 8) if f.direction == "forward")
    router, (error, words) = (BY_ROUTER4, ERRORS4[0]) if outer == 4 else (BY_ROUTER6, ERRORS6[0])
    protocol = ETHERNET + (9 if outer == 4 else 6)
    other = frame[:protocol] + b"\x63" + frame[protocol + 1 :]
    frames = [("left", bytes(router / error / Raw(quoted[ETHERNET:]))) for quoted in (frame, other)]
    assert judged(trial, frames) == [f"foreign {words}", "foreign icmp_of_others"]


@pytest.mark.parametrize(("encapsulation", "outer", "combination"), TUNNELS)
def test_icmp_errors_in_a_tunnel_are_named(
    encapsulation: str, outer: int, combination: str
) -> None:
    """The tunnel's far end answers to the packet in it, through the tunnel."""
    trial = both_ways(combination)
    departure = trial["phases"][0]["streams"][0]["foreground"]["departure"]
    in_tunnel(departure, encapsulation, outer)
    frame = next(f.frame for f in sent(trial, 8) if f.direction == "forward")
    router, errors = (BY_ROUTER4, ERRORS4) if combination[0] == "4" else (BY_ROUTER6, ERRORS6)
    ends = TUNNEL_ENDS[outer][::-1]
    outside = LINK / (IP if outer == 4 else IPv6)(src=ends[0], dst=ends[1])
    for layer in ENCAPSULATIONS[encapsulation]:
        outside = outside / layer()
    inner = frame[ETHERNET + tunnel_octets(departure["tunnel"]) :]
    frames = [
        ("left", bytes(outside / router.payload / error / Raw(quoted)))
        for error, _ in errors
        for quoted in (inner, inner[:48], bytes(60))
    ]
    expected = [f"foreign {words}" for _, words in errors for _ in range(2)]
    verdicts = judged(trial, frames)
    assert [each for i, each in enumerate(verdicts) if i % 3 != 2] == expected
    assert verdicts[2::3] == ["foreign icmp_of_others"] * len(errors)
