"""What tests of traffic share with others."""

from typing import Any

from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import PacketFormat
from natxy.model.trial_spec import Segment

SEGMENTS = (Segment(frames=10, rate_fps=1, pause_ns=0),)


def port(side: str) -> dict[str, str]:
    """Every address that a side can have, named after what it is."""
    number = {"left": "18", "right": "19"}[side]
    return {
        "device": "fake",
        "ipv4_real": f"198.{number}.0.2",
        "ipv4_virtual": f"198.{number}.128.2",
        "ipv6_real": f"2001:2:{number}::2",
        "ipv6_virtual": f"2001:2:{number}:80::2",
        "next_hop_mac": "02:00:00:00:00:01",
    }


def plan(**traffic: Any) -> TrafficPlan:
    source = Source(name="test")
    tester = {"left": port("left"), "right": port("right")}
    testbed: Testbed = source.validated(Testbed, {"tester": tester, "traffic": traffic})
    return TrafficPlan(testbed=testbed, source=source)


def ends(pair: PacketFormat) -> tuple[int, str, str]:
    return pair.ip_version, pair.source.address, pair.destination.address
