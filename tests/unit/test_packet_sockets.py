"""Packet sockets receive frames with one VLAN tag of 802.1Q, and no others."""

from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from tests.unit.traffic import port

ONE = [{"id": 7}]
TWO = [{"id": 7}, {"id": 100}]
OF_PROVIDER = [{"tpid": "802.1ad", "id": 7}]


def check(device: str, tags: list[dict[str, Any]]) -> None:
    right = {**port("right"), "device": device, "vlans": tags}
    source = Source(name="test")
    testbed: Testbed = source.validated(Testbed, {"tester": {"left": port("left"), "right": right}})
    TrafficPlan(testbed=testbed, source=source).check()


@pytest.mark.parametrize("tags", [TWO, OF_PROVIDER])
def test_other_tags_are_refused(tags: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check("net_af_packet1,iface=t1", tags)
    assert str(refused.value) == (
        "test: tester.right.vlans: cannot be received by net_af_packet, which keeps one tag and "
        'takes it for 802.1Q (expected one tag with tpid = "802.1Q", or another device, such as '
        "net_af_xdp)"
    )


@pytest.mark.parametrize(
    ("device", "tags"),
    [
        ("net_af_packet1,iface=t1", []),
        ("net_af_packet1,iface=t1", ONE),
        ("net_af_xdp1,iface=t1", TWO),
        ("0000:01:00.0", OF_PROVIDER),
    ],
)
def test_tags_that_arrive_are_not_refused(device: str, tags: list[dict[str, Any]]) -> None:
    check(device, tags)
