"""Overload's flows: exactly so many four-tuples, whatever the testbed varies."""

from math import gcd
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.measure.flows import DESTINATION_PORTS, SOURCE_PORTS, FlowRanges, ranges_of, with_flows
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.testbed_changes import merged, nested
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import FIXED_ZERO, Traffic
from natxy.model.trial_spec import Segment
from tests.unit.connections import plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.subscribers import CLAT, DS_LITE, LW4O6, MAP_E, MAP_T

SEGMENTS = (Segment(frames=10, rate_fps=1000, pause_ns=0),)
FIELD = {"mode": "pseudorandom", "min": 0, "max": 999}
FIELDS = {"left_field": FIELD, "right_field": {**FIELD, "mode": "increasing"}}


def hosts(**traffic: Any) -> TrafficPlan:
    """A stateless gateway between plain hosts."""
    asked = plan({}, **traffic)
    return TrafficPlan(
        testbed=asked.testbed.model_copy(update={"connections": None}), source=asked.source
    )


def sent(asked: TrafficPlan, flows: int) -> list[Traffic]:
    ready = with_flows(FakeEngine().session(asked), flows)
    ready.traffic.check()
    streams = ready.traffic.streams(SEGMENTS)
    return [kind for s in streams for kind in (s.foreground, s.background) if kind is not None]


@pytest.mark.parametrize("flows", [1, 10])
def test_all_flows_have_the_same_pair_of_addresses(flows: int) -> None:
    """Ten flows with the fields of the testbed would be up to a million four-tuples."""
    found = sent(hosts(n=2, m=1, **FIELDS), flows)
    assert len(found) == 4
    for traffic in found:
        assert traffic.source_field == traffic.destination_field == FIXED_ZERO
        assert traffic.departure.source.field == traffic.departure.destination.field == ()
        assert traffic.networks == 1
        assert traffic.source_port.values * traffic.destination_port.values == flows


def test_the_flows_of_connections_have_one_pair_of_addresses_too() -> None:
    ready = with_flows(FakeEngine().session(plan({}, **FIELDS)), 100)
    ready.traffic.check()
    assert ready.traffic.required_connections.count == ready.traffic.ranges.combinations == 100


@pytest.mark.parametrize("subscribers", [DS_LITE, LW4O6, MAP_E, MAP_T, CLAT])
def test_flows_of_subscribers_cannot_be_counted(subscribers: dict[str, Any]) -> None:
    """Addresses of subscribers, and ports of port sets, follow from the subscribers' numbers."""
    source = Source(name="testbed.toml", text="[subscribers]\n")
    testbed: Testbed = source.validated(Testbed, {"subscribers": subscribers})
    session = FakeEngine().session(TrafficPlan(testbed=testbed, source=source))
    sentence = r"^testbed\.toml, line 1: subscribers: is not possible with a given number of flows"
    with pytest.raises(ConfigurationError, match=sentence) as refusal:
        with_flows(session, 10)
    # What the sentence advises, as an experiment does it.
    key = "subscribers.count"
    assert f'[[vary]] and key = "{key}"' in str(refusal.value)
    varied = merged({"subscribers": subscribers}, nested(key, 7))
    assert source.validated(Testbed, varied).subscribers_on("left").count == 7


@pytest.mark.parametrize(
    ("flows", "sources", "destinations"),
    [
        (1, 1, 1),
        (SOURCE_PORTS, SOURCE_PORTS, 1),
        (SOURCE_PORTS + 2, 32_257, 2),
        (100_000, 3125, 32),  # 50,000 x 2 would use half of the pairs
        (64_499 * DESTINATION_PORTS, 64_499, DESTINATION_PORTS),
    ],
)
def test_as_few_destination_ports_as_possible_make_all_pairs(
    flows: int, sources: int, destinations: int
) -> None:
    found = ranges_of(flows)
    assert found == FlowRanges(source_ports=sources, destination_ports=destinations)
    assert gcd(sources, destinations) == 1


@pytest.mark.parametrize("flows", [-1, 0, 64_513, 64_499 * (DESTINATION_PORTS + 2)])
def test_a_number_that_no_coprime_ranges_make_is_refused(flows: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"flows: {flows} .* \(expected 1 to 64512, or"):
        ranges_of(flows)
