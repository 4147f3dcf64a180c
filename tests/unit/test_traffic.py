"""Tests of the addresses of sent and received frames, for all combinations of IP versions."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.measure.plan import frame_formats
from natxy.model.addresses import IpVersion
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.traffic_spec import FieldBits
from natxy.model.trial_spec import Segment, TrialSpec
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.spec_examples import VALID
from tests.unit.traffic import SEGMENTS, ends, plan, port


@pytest.mark.parametrize(
    ("asked", "header"),
    [({}, (64, True)), ({"hop_limit": 10, "dont_fragment": False}, (10, False))],
)
def test_frames_leave_with_the_header_that_is_asked_for(
    asked: dict[str, Any], header: tuple[int, bool]
) -> None:
    for stream in plan(**asked, n=2, m=1).streams(SEGMENTS):
        for kind in (stream.foreground, stream.background):
            assert kind
            assert (kind.hop_limit, kind.dont_fragment) == header


@pytest.mark.parametrize("left", [4, 6])
@pytest.mark.parametrize("right", [4, 6])
def test_foreground_goes_to_the_virtual_address_where_versions_differ(
    left: IpVersion, right: IpVersion
) -> None:
    forward, reverse = plan(left_ip_version=left, right_ip_version=right).streams(SEGMENTS)
    seen = "real" if left == right else "virtual"
    near, far = port("left"), port("right")
    assert forward.foreground
    assert reverse.foreground
    assert ends(forward.foreground.departure) == (
        left,
        near[f"ipv{left}_real"],
        far[f"ipv{left}_{seen}"],
    )
    assert ends(forward.foreground.arrival) == (
        right,
        near[f"ipv{right}_{seen}"],
        far[f"ipv{right}_real"],
    )
    assert ends(reverse.foreground.departure) == (
        right,
        far[f"ipv{right}_real"],
        near[f"ipv{right}_{seen}"],
    )
    assert forward.background is None


def test_background_is_ipv6_from_real_to_real() -> None:
    stream = plan(n=10, m=9, direction="reverse").streams(SEGMENTS)[0]
    assert stream.direction == "reverse"
    assert stream.background
    assert stream.background.departure == stream.background.arrival
    assert ends(stream.background.departure) == (
        6,
        port("right")["ipv6_real"],
        port("left")["ipv6_real"],
    )


def test_networks_number_the_destination_and_fields_both_ends() -> None:
    field = {"mode": "increasing", "min": 2, "max": 9, "ipv4_offset": 0}
    stream = plan(right_networks=8, left_field=field).streams(SEGMENTS)[0]
    traffic = stream.foreground
    assert traffic
    assert traffic.networks == 8
    assert traffic.departure.destination.network_byte == 7
    assert traffic.arrival.destination.network_byte == 2
    assert traffic.departure.source.network_byte is None
    assert traffic.departure.source.field == (FieldBits(bits=16, address_bit=8 * 14),)
    assert traffic.arrival.source.field == (FieldBits(bits=16, address_bit=0),)
    assert (traffic.source_field.min, traffic.source_field.max) == (2, 9)
    assert traffic.destination_field.mode == "fixed"
    assert traffic.departure.destination.field == ()


HEADERS = ("hop-by-hop", "routing")


@pytest.mark.parametrize(
    ("left", "right", "sizes", "headers"),
    [  # (of the departing frame, of the arriving one)
        (4, 4, (108, 108), ((), ())),
        (4, 6, (108, 128), ((), ())),
        (6, 4, (128, 92), (HEADERS, ())),
        (6, 6, (128, 128), (HEADERS, HEADERS)),
    ],
)
def test_a_translator_removes_what_only_ipv6_has(
    left: IpVersion,
    right: IpVersion,
    sizes: tuple[int, int],
    headers: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    asked = plan(
        left_ip_version=left,
        right_ip_version=right,
        frame_size_bytes=128,
        extension_headers=HEADERS,
        sent_dscp=46,
        flow_label=7,
    )
    traffic = asked.streams(SEGMENTS)[0].foreground
    assert traffic
    both = traffic.departure, traffic.arrival
    assert tuple(end.frame_size_bytes for end in both) == sizes
    assert tuple(end.extension_headers for end in both) == headers
    assert [end.traffic_class for end in both] == [46 << 2] * 2
    assert [end.flow_label for end in both] == [7 * (left == 6), 7 * (left == right == 6)]
    assert len({end.frame_size_bytes - end.smallest_bytes for end in both}) == 1


def test_a_frame_has_room_for_its_extension_headers() -> None:
    asked = plan(left_ip_version=6, right_ip_version=6, extension_headers=HEADERS)
    with pytest.raises(ConfigurationError, match="84 is too small for 2 extension headers"):
        asked.streams(SEGMENTS)


IPV4 = {"left_ip_version": 4, "right_ip_version": 4}


@pytest.mark.parametrize(
    ("left", "traffic", "sentence"),
    [
        (
            {},
            {**IPV4, "frame_size_bytes": 1539},
            "traffic.frame_size_bytes: 1539 does not fit the MTU of 1500 octets (expected at most "
            "1538)",
        ),
        (
            {},
            {"extension_headers": ["routing", "hop-by-hop"]},
            "traffic.extension_headers: has hop-by-hop behind another header (expected it once, as "
            "the first)",
        ),
    ],
)
def test_what_no_frame_can_be_is_refused(
    left: dict[str, str], traffic: dict[str, Any], sentence: str
) -> None:
    source = Source(name="test")
    tester = {"left": {**port("left"), **left}, "right": port("right")}

    def check() -> None:
        testbed: Testbed = source.validated(Testbed, {"tester": tester, "traffic": traffic})
        TrafficPlan(testbed=testbed, source=source).check()

    with pytest.raises(ConfigurationError) as refused:
        check()
    assert str(refused.value) == f"test: {sentence}"


def test_a_result_says_what_frames_have_beside_plain_headers() -> None:
    source = Source(name="test")
    tester: dict[str, Any] = {
        "left": port("left"),
        "right": {**port("right"), "vlans": [{"tpid": "802.1ad", "id": 7}, {"id": 100}]},
    }
    headers: dict[str, Any] = {"extension_headers": HEADERS, "sent_dscp": 46, "flow_label": 7}
    traffic = {**IPV4, **headers}
    subscribers = {
        "mechanism": "map-e",
        "count": 256,
        "ipv6_prefix": "2001:db8::/40",
        "ipv4_prefix": "192.0.2.0/24",
        "gateway": "2001:db8:ffff::1",
    }
    testbed: Testbed = source.validated(
        Testbed, {"tester": tester, "traffic": traffic, "subscribers": subscribers}
    )
    assert frame_formats(TrafficPlan(testbed=testbed, source=source)) == (
        "The tester is 256 CEs on the left: its IPv4 packets there are in IPv6 packets (RFC 2473), "
        "40 bytes larger than plain ones.",
        "Frames on the right have VLAN tags (802.1ad 7, 802.1Q 100): 8 bytes that the frame size "
        "does not include.",
        "IPv6 frames are sent with extension headers (hop-by-hop, routing), which the frame size "
        "includes.",
        "Frames are sent with DSCP 46.",
        "IPv6 frames are sent with the flow label 7.",
    )
    assert frame_formats(plan()) == ()


def test_vlan_tags_belong_to_a_side() -> None:
    source = Source(name="test")
    tags = [{"tpid": "802.1ad", "id": 7}, {"id": 100, "priority": 3}]
    tester: dict[str, Any] = {"left": {**port("left"), "vlans": tags}, "right": port("right")}
    testbed: Testbed = source.validated(Testbed, {"tester": tester})
    sides = TrafficPlan(testbed=testbed, source=source).sides()
    assert [(tag.tpid, tag.id, tag.priority) for tag in sides.left.vlans] == [
        ("802.1ad", 7, 0),
        ("802.1Q", 100, 3),
    ]
    assert sides.right.vlans == ()


def test_the_example_of_the_protocol(nat64: TrafficPlan) -> None:
    """The published NAT64 example's forward stream is what its testbed yields."""
    example = TrialSpec.model_validate_json(VALID["stateless-nat64"].read_text())
    segments = (Segment(frames=1000, rate_fps=10000, pause_ns=0),)
    assert nat64.streams(segments)[0] == example.phases[0].streams[0]


def test_frame_counts_are_exact() -> None:
    assert frames_of(10, Fraction("0.3")) == 3
    assert frames_of(40_000_000, Fraction(3600)) == 144_000_000_000
    assert frames_of(1, Fraction("0.2")) == 1


def test_short_trials_run_under_the_real_time_policy(nat64: TrafficPlan) -> None:
    def realtime(seconds: str) -> bool:
        timing = Timing(duration_s=Fraction(seconds), drain_s=Fraction("0.05"))
        plan = TrialPlan(traffic=nat64, timing=timing)
        return plan.spec(load=1000, seed=1, nonce=1).realtime

    assert realtime("0.2")
    assert not realtime("60")


@pytest.mark.parametrize(
    ("asked", "allowed", "realtime"),
    [("auto", True, True), ("auto", False, False), ("off", True, False), ("on", True, True)],
)
def test_trials_go_without_the_real_time_policy_where_it_is_refused_or_unwanted(
    nat64: TrafficPlan, asked: str, allowed: bool, realtime: bool
) -> None:
    section = nat64.testbed.tester.model_copy(update={"realtime": asked})
    testbed = nat64.testbed.model_copy(update={"tester": section})
    timing = Timing(duration_s=Fraction("0.2"), drain_s=Fraction("0.05"))
    plan = TrialPlan(
        traffic=replace(nat64, testbed=testbed), timing=timing, realtime_allowed=allowed
    )
    assert plan.spec(load=1000, seed=1, nonce=1).realtime is realtime
