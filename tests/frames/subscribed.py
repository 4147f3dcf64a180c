"""Trials of subscribers, as the package asks the engine for them."""

from typing import Any

from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Segment, Side
from tests.frames.specs import spec

SEGMENTS = (Segment(frames=1000, rate_fps=2**33, pause_ns=0),)
GATEWAY = {"gateway": "2001:db9::1"}
SHARED = {
    "ipv6_prefix": "2001:db8:5000::/36",
    "ipv4_prefix": "198.51.100.0/22",
    "psid_bits": 7,
    "count": 2**17,
}
# Their gateways keep no connections.
MECHANISMS: dict[str, dict[str, Any]] = {
    "map-e": {"mechanism": "map-e", **SHARED, **GATEWAY},
    "map-e, addresses of their own": {
        "mechanism": "map-e",
        **SHARED,
        **GATEWAY,
        "psid_bits": 0,
        "count": 1024,
    },
    "map-t": {"mechanism": "map-t", **SHARED, "gateway_prefix": "2001:db9::/64"},
    "lw4o6": {"mechanism": "lw4o6", **SHARED, **GATEWAY},
    "lw4o6, offset": {"mechanism": "lw4o6", **SHARED, **GATEWAY, "psid_offset_bits": 6},
    "lw4o6, less room than addresses and PSIDs": {
        "mechanism": "lw4o6",
        **SHARED,
        **GATEWAY,
        "ipv6_prefix": "2001:db8:5001::/48",
        "count": 2**16,
    },
}
# Their gateways keep connections.
PRIVATE = {"ipv6_prefix": "2001:db8::/40", "count": 1000}
STATEFUL: dict[str, dict[str, Any]] = {
    "ds-lite": {"mechanism": "ds-lite", **PRIVATE, **GATEWAY},
    "464xlat": {"mechanism": "464xlat", **PRIVATE, "gateway_prefix": "64:ff9b::/96"},
}


def plan_of(
    mechanism: dict[str, Any],
    side: Side,
    *,
    connections: dict[str, Any] | None = None,
    **traffic: Any,
) -> TrafficPlan:
    far = "right" if side == "left" else "left"
    translates = "gateway_prefix" in mechanism
    document = {
        "tester": {
            side: {"next_hop_mac": "02:00:00:00:00:0a"},
            far: {"ipv4_real": "203.0.113.9", "next_hop_mac": "02:00:00:00:00:0a"},
        },
        "traffic": {
            f"{side}_ip_version": 6 if translates else 4,
            f"{far}_ip_version": 4,
            "frame_size_bytes": 200,
            **traffic,
        },
        "subscribers": {**mechanism, "side": side},
        **({"connections": connections} if connections else {}),
    }
    source = Source(text="", name="testbed.toml")
    plan = TrafficPlan(testbed=source.validated(Testbed, document), source=source)
    plan.check()
    return plan


def trial_of(mechanism: dict[str, Any], side: Side) -> dict[str, Any]:
    streams = plan_of(mechanism, side).streams(SEGMENTS)
    return spec(*(stream.model_dump(mode="json") for stream in streams))
