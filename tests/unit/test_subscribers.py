"""Subscribers have the addresses and ports of the RFCs; a testbed must not contradict them."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.subscribers import SubscribersSection
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import AddressPattern, PortSet, Traffic
from natxy.model.trial_spec import Segment
from tests.unit.subscribers import BR, CLAT, DS_LITE, LW4O6, MAP_E, MAP_T, plan

SEGMENTS = (Segment(frames=1, rate_fps=1, pause_ns=0),)
CONNECTIONS = {"count": 1000, "rate_fps": 1000}


def section(**members: Any) -> SubscribersSection:
    return SubscribersSection.model_validate(members)


def address(pattern: AddressPattern, number: int) -> str:
    return pattern.with_field(number)


def test_a_ces_addresses_are_those_of_the_rfcs_example() -> None:
    subscribers = section(**MAP_E)
    assert subscribers.port_set == PortSet(offset_bits=6, psid_bits=8)
    found = address(subscribers.ipv6_pattern(), 0x1234)
    assert IPv6Address(found) == IPv6Address("2001:db8:0012:3400:0000:c000:0212:0034")
    assert address(subscribers.ipv4_pattern(), 0x1234) == "192.0.2.18"


def test_a_ces_ports_are_those_of_the_rfcs_example() -> None:
    """63 ranges: 1232-1235, 2256-2259, ..., 63696-63699, 64720-64723."""
    ports = PortSet(offset_bits=6, psid_bits=8)
    found = [ports.port(index, 0x34) for index in range(ports.size)]
    assert ports.size == 63 * 4
    assert found[:8] == [1232, 1233, 1234, 1235, 2256, 2257, 2258, 2259]
    assert found[-8:] == [63696, 63697, 63698, 63699, 64720, 64721, 64722, 64723]


@pytest.mark.parametrize(("offset", "psid"), [(0, 6), (6, 8), (4, 12), (1, 15), (6, 1)])
def test_the_port_sets_of_an_address_do_not_overlap(offset: int, psid: int) -> None:
    ports = PortSet(offset_bits=offset, psid_bits=psid)
    all_ports = [ports.port(i, s) for s in range(1 << psid) for i in range(ports.size)]
    excluded = 1 << (16 - offset) if offset else 0
    assert sorted(all_ports) == list(range(excluded, 65536))


def test_without_offset_bits_a_port_set_is_one_range() -> None:
    """RFC 7597 appendix B.2, example 2."""
    ports = PortSet(offset_bits=0, psid_bits=6)
    assert [ports.port(i, 0) for i in (0, ports.size - 1)] == [0, 1023]


def test_an_lwb4_has_a_prefix_of_64_bits_and_the_interface_identifier_of_map() -> None:
    subscribers = section(**LW4O6)
    found = address(subscribers.ipv6_pattern(), 0x1234)
    assert IPv6Address(found) == IPv6Address("2001:db8:0:1234:0:c000:212:34")
    assert subscribers.port_set == PortSet(offset_bits=0, psid_bits=8)


def test_an_address_of_ones_own_has_no_psid() -> None:
    subscribers = section(**{**MAP_E, "psid_bits": 0, "count": 256})
    assert subscribers.port_set is None
    assert IPv6Address(address(subscribers.ipv6_pattern(), 0x12)) == IPv6Address(
        "2001:db8:12::c000:212:0"
    )


def test_a_b4_has_the_well_known_ipv4_address() -> None:
    subscribers = section(**DS_LITE)
    assert address(subscribers.ipv4_pattern(), 5) == "192.0.0.2"
    assert address(subscribers.ipv6_pattern(), 999) == "2001:db8:0:3e7::1"


def test_a_clat_embeds_its_ipv4_address() -> None:
    found = address(section(**CLAT).ipv6_pattern(), 999)
    assert IPv6Address(found) == IPv6Address("2001:db8:0:3e7::192.0.0.2")


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [  # RFC 6052 section 2.4
        ("2001:db8::/32", "2001:db8:c000:221::"),
        ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
        ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
    ],
)
def test_the_other_side_is_embedded_as_the_rfc_does(prefix: str, expected: str) -> None:
    subscribers = section(**{**CLAT, "gateway_prefix": prefix})
    assert IPv6Address(subscribers.embedded("192.0.2.33")) == IPv6Address(expected)


def test_the_highest_of_2_to_the_24_subscribers_has_an_address() -> None:
    many = {**MAP_E, "count": 2**24, "ipv6_prefix": "2001:db8::/32", "ipv4_prefix": "10.0.0.0/8"}
    found = address(section(**many).ipv6_pattern(), 2**24 - 1)
    # 32 EA bits, of which the first 8 are 0
    assert IPv6Address(found) == IPv6Address("2001:db8:ff:ffff:0:a00:ffff:ff")


def test_lwb4s_have_as_many_bits_as_their_prefix_leaves() -> None:
    """A /20 with 6 PSID bits would make 18 bits, two of them in the prefix."""
    given = {"ipv6_prefix": "2001:db8:1::/48", "ipv4_prefix": "10.64.0.0/20", "psid_bits": 6}
    subscribers = section(**{**LW4O6, **given, "count": 65536})
    assert subscribers.ipv6_pattern().field[0].address_bit == 48
    last = IPv6Address(address(subscribers.ipv6_pattern(), 65535))
    assert last == IPv6Address("2001:db8:1:ffff:0:a40:3ff:3f")
    assert (subscribers.rule_ipv6_prefix, subscribers.rule_ipv4_prefix) == (
        "2001:db8:1::/48",
        "10.64.0.0/22",
    )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"mechanism": "lw4o6", "ipv6_prefix": "2001:db8::/57", "count": 1}, "room for 8 PSID"),
        ({"ipv6_prefix": "ff00::/40"}, 'ipv6_prefix: "ff00::/40" includes multicast addresses'),
        ({"ipv4_prefix": "127.1.0.0/24"}, "includes loopback addresses"),
        ({"ipv4_prefix": "224.0.0.0/24"}, "includes multicast addresses"),
        ({"count": 65537}, "count: 65537 subscribers do not fit (expected at most 65536"),
        ({"psid_bits": 11}, "leaves no bits of a port after 6 offset bits (expected 0 to 10)"),
        ({"ipv6_prefix": "2001:db8::/56"}, "leaves no room for 16 EA bits before bit 64"),
        ({"ipv4_prefix": None}, 'ipv4_prefix: is missing: mechanism = "map-e" needs it'),
        ({"gateway": None}, 'gateway: is missing: mechanism = "map-e" needs it'),
        ({"gateway_prefix": "64:ff9b::/96"}, 'is not used with mechanism = "map-e"'),
        ({"ipv6_prefix": "2001:db8::1/40"}, "is not an IPv6 prefix"),
        ({"ipv4_prefix": "192.0.2.0"}, "is not an IPv4 prefix"),
    ],
)
def test_what_contradicts_itself_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        plan(MAP_E | changed)
    assert sentence in str(caught.value)


def kinds(made: TrafficPlan) -> Iterator[Traffic]:
    for stream in made.streams(SEGMENTS):
        assert stream.foreground is not None
        yield stream.foreground


def test_map_e_is_ipv4_in_ipv6_on_its_side_and_ipv4_on_the_other() -> None:
    forward, reverse = kinds(plan(MAP_E))
    assert forward.departure.tunnel is not None
    assert reverse.arrival.tunnel is not None
    assert forward.arrival.tunnel is None
    assert forward.departure.frame_size_bytes == forward.arrival.frame_size_bytes + 40
    assert forward.departure.tunnel.destination.address == BR
    assert reverse.arrival.tunnel.source.address == BR
    assert forward.departure.source == forward.arrival.source == reverse.departure.destination
    assert forward.source_field == reverse.destination_field
    assert forward.source_field.max == 65535
    assert forward.source_port_set == reverse.destination_port_set
    assert forward.source_port.max == 63 * 4 - 1
    assert (forward.destination_port_set, reverse.source_port_set) == (None, None)


def test_no_lwb4_sends_from_port_0() -> None:
    """The first port of PSID 0 without offset bits would be 0."""
    forward, reverse = kinds(plan(LW4O6))
    assert (forward.source_port.min, forward.source_port.max) == (1, 255)
    assert forward.source_port == reverse.destination_port
    two_each = {**LW4O6, "psid_bits": 15, "ipv4_prefix": "192.0.2.0/24"}
    forward, _ = kinds(plan(two_each))
    assert (forward.source_port.mode, forward.source_port.min) == ("fixed", 1)
    with_offset, _ = kinds(plan({**LW4O6, "psid_offset_bits": 6}))
    assert with_offset.source_port.min == 0


def test_ports_of_the_other_side_may_be_chosen() -> None:
    fixed = {"mode": "fixed", "min": 53, "max": 53}
    made = plan(MAP_E, forward={"destination_port": fixed}, reverse={"source_port": fixed})
    made.check()
    forward, reverse = kinds(made)
    assert forward.destination_port.min == reverse.source_port.min == 53


def test_map_t_is_translated() -> None:
    forward, reverse = kinds(plan(MAP_T))
    assert forward.departure.tunnel is None
    assert forward.departure.ip_version == 6
    assert forward.departure.source == reverse.arrival.destination
    assert forward.departure.destination.address == "2001:db8:ffff:0:c6:1300:200:0"
    assert forward.departure.destination == reverse.arrival.source
    assert forward.arrival.source.address == "192.0.2.0"


def test_the_aftr_chooses_addresses_outside() -> None:
    made = plan(DS_LITE, connections=CONNECTIONS)
    forward, reverse = kinds(made)
    assert forward.departure.tunnel is not None
    assert reverse.arrival.tunnel is not None
    assert forward.departure.tunnel.source == reverse.arrival.tunnel.destination
    assert forward.departure.source.address == reverse.arrival.destination.address == "192.0.0.2"
    assert forward.connections is not None
    assert made.ranges.source_field.values == 1000


def test_a_plat_sees_the_clats() -> None:
    forward, reverse = kinds(plan(CLAT, connections=CONNECTIONS))
    assert forward.departure.source == reverse.arrival.destination
    assert IPv6Address(forward.departure.destination.address) == IPv6Address("64:ff9b::c613:2")
    assert IPv4Address(forward.arrival.destination.address) == IPv4Address("198.19.0.2")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: plan(MAP_E, left_ip_version=6), "traffic.left_ip_version: 6 contradicts"),
        (lambda: plan(DS_LITE), "connections: is missing"),
        (lambda: plan(MAP_E, connections=CONNECTIONS), "connections: is not possible"),
        (
            lambda: plan(DS_LITE, connections={**CONNECTIONS, "initiator": "right"}),
            'connections.initiator: "right" is not the side of the subscribers',
        ),
        (lambda: plan({**MAP_E, "gateway": "2001:db8::9"}), "subscribers.gateway: 2001:db8::9"),
        (
            lambda: plan({**MAP_E, "ipv4_prefix": "198.19.0.0/24"}),
            "tester.right.next_hop_ipv4: 198.19.0.1 is within subscribers.ipv4_prefix",
        ),
        (
            lambda: plan(
                {**MAP_E, "ipv4_prefix": "198.19.7.0/24"},
                right_field={"mode": "increasing", "min": 0x700, "max": 0x7FF},
            ),
            "tester.right.ipv4_real: 198.19.7.0 is within subscribers.ipv4_prefix, 198.19.7.0/24",
        ),
        (
            lambda: plan({**CLAT, "gateway_prefix": "2001:db8:0:1::/96"}, connections=CONNECTIONS),
            "subscribers.gateway_prefix: 2001:db8:0:1::/96 overlaps ipv6_prefix, 2001:db8::/40",
        ),
        (
            lambda: plan({**CLAT, "gateway_prefix": "2001:db8::/32"}, connections=CONNECTIONS),
            "subscribers.gateway_prefix: 2001:db8::/32 overlaps",
        ),
        (
            lambda: plan(DS_LITE, connections=CONNECTIONS),
            "subscribers.count: 1000 subscribers make",
        ),
        (
            lambda: plan(MAP_E, forward={"source_port": {"mode": "fixed", "min": 9, "max": 9}}),
            "traffic.forward.source_port: is not possible with subscribers.psid_bits = 8",
        ),
        (
            lambda: plan(
                MAP_E, reverse={"destination_port": {"mode": "fixed", "min": 9, "max": 9}}
            ),
            "traffic.reverse.destination_port: is not possible",
        ),
        (lambda: plan(MAP_E, left_networks=2), "traffic.left_networks: 2 is not possible"),
        (
            lambda: plan(MAP_E, left_field={"mode": "pseudorandom", "max": 9}),
            "traffic.left_field: is not possible",
        ),
    ],
)
def test_what_contradicts_the_rest_of_the_testbed_is_refused(made: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made().check()
    assert sentence in str(caught.value)
