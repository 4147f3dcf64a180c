"""Foreground frames in a tunnel between the tester and the gateway."""

from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.measure.plan import frame_formats
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import HEADER_BYTES, tunnel_bytes
from natxy.model.trial_spec import Segment
from tests.unit.subscribers import MAP_E
from tests.unit.traffic import port

SEGMENTS = (Segment(frames=10, rate_fps=1, pause_ns=0),)
ENDS = {4: ("192.0.2.2", "192.0.2.1"), 6: ("2001:db8::2", "2001:db8::1")}
BYTES = {("ip", 4): 20, ("ip", 6): 40, ("gre", 4): 24, ("gre", 6): 44}


def plan(
    tunnel: dict[str, str], *, version: int = 4, right: int | None = None, **other: Any
) -> TrafficPlan:
    """The tunnel is on the left; `version` is that of the foreground there."""
    versions = {"left_ip_version": version, "right_ip_version": right or version}
    document = {
        "tester": {"left": {**port("left"), "tunnel": tunnel}, "right": port("right")},
        **other,
        "traffic": {**versions, **other.get("traffic", {})},
    }
    source = Source(name="test")
    return TrafficPlan(testbed=source.validated(Testbed, document), source=source)


def tunnel(version: int, **other: str) -> dict[str, str]:
    address, gateway = ENDS[version]
    return {"address": address, "gateway": gateway, **other}


def test_each_encapsulation_has_its_octets() -> None:
    assert {
        (name, version): tunnel_bytes(name, version) for name in HEADER_BYTES for version in (4, 6)
    } == BYTES


@pytest.mark.parametrize("encapsulation", HEADER_BYTES)
@pytest.mark.parametrize("outer", [4, 6])
@pytest.mark.parametrize(("left", "right"), [(4, 4), (4, 6), (6, 4), (6, 6)])
def test_a_tunnel_is_around_the_foreground_of_its_side(
    left: int, right: int, outer: int, encapsulation: str
) -> None:
    asked = plan(
        tunnel(outer, encapsulation=encapsulation),
        version=left,
        right=right,
        traffic={"n": 2, "m": 1},
    )
    asked.check()
    forward, reverse = asked.streams(SEGMENTS)
    assert forward.foreground
    assert reverse.foreground
    out, back = forward.foreground.departure, reverse.foreground.arrival
    assert out.tunnel
    assert back.tunnel
    assert (out.tunnel.encapsulation, out.link_version) == (encapsulation, outer)
    assert (out.tunnel.source.address, out.tunnel.destination.address) == ENDS[outer]
    assert back.tunnel == out.tunnel.swapped()
    plain = 84 if left == 6 else 64
    assert out.frame_size_bytes == out.smallest_bytes == plain + BYTES[encapsulation, outer]
    assert forward.foreground.arrival.tunnel is reverse.foreground.departure.tunnel is None
    for stream in (forward, reverse):
        assert stream.background
        assert stream.background.departure.tunnel is stream.background.arrival.tunnel is None


def test_the_mtu_must_hold_the_tunnel() -> None:
    assert plan(tunnel(6), traffic={"frame_size_bytes": 1498}).sizes.on("left") == 1518
    with pytest.raises(ConfigurationError, match=r"1499 .* \(expected at most 1498\)"):
        plan(tunnel(6), traffic={"frame_size_bytes": 1499}).check()


def test_a_result_says_that_frames_are_in_a_tunnel() -> None:
    assert frame_formats(plan(tunnel(4))) == (
        "Foreground frames on the left are in a tunnel (outer header IPv4, encapsulation ip): 20 "
        "bytes that the frame size does not include.",
    )


@pytest.mark.parametrize(
    ("given", "other", "sentence"),
    [
        (
            tunnel(4, gateway="2001:db8::1"),
            {},
            "tester.left.tunnel.gateway: 2001:db8::1 has another IP version than address (expected "
            "an IPv4 address)",
        ),
        (
            tunnel(6, gateway="2001:db8:0::2"),
            {},
            "tester.left.tunnel.gateway: 2001:db8:0::2 is also address (expected another address)",
        ),
        (
            tunnel(4),
            {"subscribers": MAP_E},
            "tester.left.tunnel: is not possible on the side of the subscribers (expected no "
            "tunnel)",
        ),
    ],
)
def test_a_wrong_tunnel_is_refused(
    given: dict[str, str], other: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        plan(given, **other).check()
    assert str(refused.value) == f"test: {sentence}"


def test_the_end_of_a_tunnel_is_not_the_next_hop() -> None:
    source = Source(name="test")
    left = {**port("left"), "tunnel": tunnel(4), "next_hop_ipv4": "192.0.2.2"}
    document = {
        "tester": {"left": left, "right": port("right")},
        "traffic": {"left_ip_version": 4, "right_ip_version": 4},
    }
    testbed: Testbed = source.validated(Testbed, document)
    with pytest.raises(ConfigurationError, match=r"tunnel.address: 192.0.2.2 is also"):
        TrafficPlan(testbed=testbed, source=source).check()


@pytest.mark.parametrize(
    ("left", "right", "sentence"),
    [
        (
            {"tunnel": tunnel(4, gateway="198.18.0.2")},
            {},
            r"tester.left.ipv4_real: 198.18.0.2 is also tester.left.tunnel.gateway",
        ),
        (
            {"tunnel": tunnel(4, address="198.19.0.2")},
            {},
            r"tester.right.ipv4_real: 198.19.0.2 is also tester.left.tunnel.address",
        ),
        (
            {"tunnel": tunnel(4)},
            {"tunnel": tunnel(4)},
            r"tester.right.tunnel.address: 192.0.2.2 is also tester.left.tunnel.address",
        ),
    ],
)
def test_the_ends_of_a_tunnel_are_no_addresses_of_frames_and_no_other_tunnels(
    left: dict[str, Any], right: dict[str, Any], sentence: str
) -> None:
    source = Source(name="test")
    document = {
        "tester": {"left": {**port("left"), **left}, "right": {**port("right"), **right}},
        "traffic": {"left_ip_version": 4, "right_ip_version": 4},
    }
    testbed: Testbed = source.validated(Testbed, document)
    with pytest.raises(ConfigurationError, match=sentence):
        TrafficPlan(testbed=testbed, source=source).check()
