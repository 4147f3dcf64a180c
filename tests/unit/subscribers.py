"""What tests of subscribers share with others."""

from typing import Any

from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan

BR = "2001:db8:ffff::1"


# RFC 7597 appendix A, example 1
MAP_E = {
    "mechanism": "map-e",
    "count": 65536,
    "ipv6_prefix": "2001:db8::/40",
    "ipv4_prefix": "192.0.2.0/24",
    "psid_bits": 8,
    "gateway": BR,
}
LW4O6 = {**MAP_E, "mechanism": "lw4o6"}
MAP_T = {
    **{key: value for key, value in MAP_E.items() if key != "gateway"},
    "mechanism": "map-t",
    "gateway_prefix": "2001:db8:ffff::/64",
}
DS_LITE = {"mechanism": "ds-lite", "count": 1000, "ipv6_prefix": "2001:db8::/40", "gateway": BR}
CLAT = {
    "mechanism": "464xlat",
    "count": 1000,
    "ipv6_prefix": "2001:db8::/40",
    "gateway_prefix": "64:ff9b::/96",
}


def plan(
    subscribers: dict[str, Any], *, connections: dict[str, Any] | None = None, **traffic: Any
) -> TrafficPlan:
    given = {key: value for key, value in subscribers.items() if value is not None}
    left = 4 if subscribers["mechanism"] in ("ds-lite", "lw4o6", "map-e") else 6
    document: dict[str, Any] = {
        "tester": {
            "left": {"next_hop_ipv6": "2001:2::1"},
            "right": {"ipv4_real": "198.19.0.2", "next_hop_ipv4": "198.19.0.1"},
        },
        "traffic": {"left_ip_version": left, "right_ip_version": 4, **traffic},
        "subscribers": given,
    }
    if connections:
        document["connections"] = connections
    source = Source(text="", name="testbed.toml")
    return TrafficPlan(testbed=source.validated(Testbed, document), source=source)
