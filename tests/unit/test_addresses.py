"""Addresses that cannot all be what a testbed says: each is refused by its key."""

from ipaddress import ip_address
from itertools import product

import pytest

from natxy.dut.addresses import LEFT, RIGHT, AddressPlan
from natxy.dut.base import TesterPorts
from natxy.errors import ConfigurationError
from natxy.model.address_range import AddressRange
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.procedure.self_test import looped
from natxy.siitperf.keys import Wrong, address
from natxy.trial.setup import with_ports

ROUTED = """\
[tester.left]
device = "a"
ipv4_real = "198.18.0.2"
next_hop_ipv4 = "198.18.0.1"
[tester.right]
device = "b"
ipv4_real = "198.19.0.2"
next_hop_ipv4 = "198.19.0.1"
[traffic]
left_ip_version = 4
right_ip_version = 4
"""
TRANSLATED = """\
[tester.left]
device = "a"
ipv6_real = "2001:2::2"
ipv4_virtual = "198.18.0.2"
next_hop_ipv6 = "2001:2::1"
[tester.right]
device = "b"
ipv4_real = "198.19.0.2"
ipv6_virtual = "2001:2:0:1000::2"
next_hop_ipv4 = "198.19.0.1"
[traffic]
left_ip_version = 6
right_ip_version = 4
"""


def check(text: str) -> None:
    source = Source(name="testbed.toml", text=text)
    TrafficPlan(testbed=source.validated(Testbed, source.toml()), source=source).check()


def complaint(text: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        check(text)
    where, _, sentence = str(refused.value).partition(": ")
    assert where.startswith("testbed.toml, line ")
    assert sentence.endswith(")"), "it should say what was expected"
    return sentence


def varied(side: str, low: int, high: int, more: str = "") -> str:
    return f'[traffic.{side}_field]\nmode = "increasing"\nmin = {low}\nmax = {high}\n{more}'


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.0.0.0", "an unspecified"),
        ("127.0.0.1", "a loopback"),
        ("127.255.0.9", "a loopback"),
        ("224.0.0.1", "a multicast"),
        ("239.255.255.255", "a multicast"),
        ("255.255.255.255", "a broadcast"),
        ("::", "an unspecified"),
        ("::1", "a loopback"),
        ("ff02::1", "a multicast"),
    ],
)
def test_what_no_host_has_is_no_address_of_a_port(address: str, kind: str) -> None:
    version = ip_address(address).version
    for key in (f"ipv{version}_real", f"ipv{version}_virtual", f"next_hop_ipv{version}"):
        said = complaint(f'[tester.left]\n{key} = "{address}"\n')
        assert said.startswith(f'tester.left.{key}: "{address}" is {kind} address (expected ')
    said = complaint(f'[tester.left]\nown_addresses = ["{address}"]\n')
    assert said.startswith(f'tester.left.own_addresses[0]: "{address}" is {kind} address ')


def test_siitperf_s_addresses_are_hosts_too() -> None:
    with pytest.raises(Wrong, match="is a multicast address"):
        address(4)("224.0.0.1")
    assert address(6)("::") is None  # stands for an unused one


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        pytest.param(
            '"198.18.0.2"', '"198.18.0.1"',
            "tester.left.ipv4_real: 198.18.0.1 is also tester.left.next_hop_ipv4 (expected another "
            "address)",
            id="own is next hop"),
        pytest.param(
            '"198.19.0.1"', '"198.19.0.1"\nown_addresses = ["198.19.0.9", "198.19.0.1"]',
            "tester.right.own_addresses: 198.19.0.1 is also tester.right.next_hop_ipv4 (expected "
            "another address)",
            id="own address is next hop"),
        pytest.param(
            '"198.19.0.2"', '"198.18.0.2"',
            "tester.right.ipv4_real: 198.18.0.2 is also tester.left.ipv4_real (expected another "
            "address)",
            id="on both sides"),
        pytest.param(
            '"198.19.0.2"', '"198.18.0.1"',
            "tester.right.ipv4_real: 198.18.0.1 is also tester.left.next_hop_ipv4 (expected "
            "another address)",
            id="host is the other next hop"),
        pytest.param(
            '"198.18.0.1"', '"198.18.0.1"\nown_addresses = ["198.19.0.2"]',
            "tester.right.ipv4_real: 198.19.0.2 is also tester.left.own_addresses (expected "
            "another address)",
            id="own address is the other side's host"),
    ],
)  # fmt: skip
def test_one_address_that_is_two_things(old: str, new: str, sentence: str) -> None:
    assert complaint(ROUTED.replace(old, new)) == sentence


def test_one_own_address_on_both_sides() -> None:
    own = '\nown_addresses = ["198.18.0.9"]'
    text = ROUTED.replace('"198.18.0.1"', f'"198.18.0.1"{own}').replace(
        '"198.19.0.1"', f'"198.19.0.1"{own}'
    )
    assert complaint(text).startswith("tester.right.own_addresses: 198.18.0.9 is also in tester.le")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            ROUTED + varied("left", 0, 100),
            "traffic.left_field: ipv4_real 198.18.0.0 to 198.18.0.100 includes "
            "tester.left.next_hop_ipv4, 198.18.0.1 (expected a range without it)",
        ),
        (
            ROUTED.replace('"198.18.0.1"', '"198.18.0.1"\nown_addresses = ["198.18.0.9"]')
            + varied("left", 2, 100),
            "traffic.left_field: ipv4_real 198.18.0.2 to 198.18.0.100 includes "
            "tester.left.own_addresses, 198.18.0.9 (expected a range without it)",
        ),
        (
            ROUTED + varied("left", 18 * 256, 19 * 256 + 255, "ipv4_offset = 1\n"),
            "traffic.left_field: ipv4_real 198.18.0.2 to 198.19.255.2 includes "
            "tester.right.ipv4_real, 198.19.0.2 (expected a range without it)",
        ),
        (
            ROUTED + varied("right", 0, 65535, "ipv4_offset = 0\n"),
            "traffic.right_field: ipv4_real 0.0.0.2 to 255.255.0.2 includes loopback addresses "
            "(expected hosts' addresses only)",
        ),
        (
            TRANSLATED + varied("left", 1, 9),
            "traffic.left_field: ipv6_real 2001:2::1 to 2001:2::9 includes "
            "tester.left.next_hop_ipv6, 2001:2::1 (expected a range without it)",
        ),
        (
            TRANSLATED.replace('"198.18.0.2"', '"198.19.0.9"') + varied("left", 2, 9),
            "traffic.left_field: ipv4_virtual 198.19.0.2 to 198.19.0.9 includes "
            "tester.right.ipv4_real, 198.19.0.2 (expected a range without it)",
        ),
        (
            ROUTED.replace('"198.19.0.1"', '"198.19.3.2"') + "right_networks = 4\n",
            "traffic.right_networks: ipv4_real 198.19.0.2 to 198.19.3.2 includes "
            "tester.right.next_hop_ipv4, 198.19.3.2 (expected a range without it)",
        ),
    ],
)
def test_a_range_that_runs_over_something(text: str, sentence: str) -> None:
    assert complaint(text) == sentence


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ROUTED, id="plain"),
        pytest.param(TRANSLATED, id="translated"),
        pytest.param(ROUTED + varied("left", 2, 65535), id="beside the next hop"),
        pytest.param(
            ROUTED.replace('"198.18.0.1"', '"198.18.0.1"\nown_addresses = ["198.18.0.2"]')
            + varied("left", 2, 65535),
            id="over its own address",
        ),
        pytest.param(
            ROUTED.replace("198.19.0", "198.18.0").replace('"198.18.0.2"', '"198.18.9.9"', 1)
            + varied("left", 2048, 4095)
            + varied("right", 256, 2047),
            id="side by side in one network",
        ),
        pytest.param(
            TRANSLATED.replace('"2001:2:0:1000::2"', '"2001:2:0:1000::2"\nipv6_real = "2001:2::2"'),
            id="an address that no frame has",
        ),
    ],
)
def test_what_can_be_is_taken(text: str) -> None:
    check(text)


def test_a_cable_has_no_gateway_whose_address_could_be_taken() -> None:
    source = Source(name="self-test")
    testbed = looped(Source(name="x").validated(Testbed, {"tester": {"left": {"device": "a"}}}))
    TrafficPlan(testbed=testbed, source=source).check()


@pytest.mark.parametrize(("left", "right"), [(4, 4), (6, 6), (6, 4), (4, 6)])
@pytest.mark.parametrize("networks", [1, 256])
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("stateful", [False, True])
def test_a_lab_s_addresses_are_taken(
    left: int, right: int, networks: int, background: bool, stateful: bool
) -> None:
    plan = AddressPlan(left_ip_version=left, right_ip_version=right, stateful=stateful)
    field = {"mode": "pseudorandom", "min": 2, "max": 65535}
    traffic = {
        "left_ip_version": left,
        "right_ip_version": right,
        "left_networks": networks,
        "right_networks": networks,
        "n": 2 if background else 1,
        **({"left_field": field} if networks == 1 else {}),
    }
    source = Source(name="lab.toml")
    ports = TesterPorts(
        left=plan.tester_port(LEFT, "a"), right=plan.tester_port(RIGHT, "b"), mtu_bytes=2000
    )
    testbed = with_ports(source.validated(Testbed, {"traffic": traffic}), ports)
    TrafficPlan(testbed=testbed, source=source).check()


RANGES = [
    AddressRange(octets=bytes([10, 0, 0, 1])),
    AddressRange(octets=bytes([10, 0, 1, 4])),
    AddressRange(octets=bytes([10, 0, 0, 0]), field_at=2, lowest=0, highest=3),
    AddressRange(octets=bytes([10, 0, 9, 9]), field_at=2, lowest=254, highest=260),
    AddressRange(octets=bytes([10, 0, 0, 0]), field_at=2, lowest=261, highest=300),
    AddressRange(octets=bytes([10, 7, 0, 4]), field_at=1, lowest=0, highest=1),
    AddressRange(octets=bytes([10, 0, 9, 1]), network_at=2, networks=2),
    AddressRange(octets=bytes([10, 0, 9, 2]), network_at=2, networks=256),
    AddressRange(octets=bytes([10, 0, 9, 2]), network_at=2, networks=2, field_at=0, highest=2560),
    AddressRange(octets=bytes([10, 0, 0, 0]), field_at=2, lowest=258, highest=511),
    AddressRange(octets=bytes([10, 0, 0, 0]), field_at=2, lowest=259, highest=513),
    AddressRange(octets=bytes([9, 0, 0, 1]), field_at=0, lowest=9 * 256, highest=10 * 256),
]  # fmt: skip


def addresses(found: AddressRange) -> set[bytes]:
    """Finds the addresses by trying all of them."""
    fields = range(found.lowest, found.highest + 1) if found.field_at is not None else [None]
    numbers = [None, *range(found.networks)] if found.network_at is not None else [None]
    every = set()
    for field, number in product(fields, numbers):
        octets = bytearray(found.octets)
        if field is not None and found.field_at is not None:
            octets[found.field_at : found.field_at + 2] = field.to_bytes(2)
        if number is not None and found.network_at is not None:
            octets[found.network_at] = number
        every.add(bytes(octets))
    return every


@pytest.mark.parametrize(("one", "other"), list(product(RANGES, RANGES)))
def test_ranges_meet_where_they_have_an_address_in_common(
    one: AddressRange, other: AddressRange
) -> None:
    common = addresses(one) & addresses(other)
    assert one.meets(other) == bool(common)
    assert one.meets(other) == other.meets(one)
    for text in common:
        assert one.holds(str(ip_address(text)))
