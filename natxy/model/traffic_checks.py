"""Refuses a testbed whose connections or subscribers contradict its traffic or addresses.

VLAN tags are those that DPDK's net_af_packet can receive.
"""

from collections.abc import Iterator
from ipaddress import IPv6Network, ip_address, ip_network
from typing import Any

from natxy.model.address_checks import OTHER, SIDES
from natxy.model.address_range import AddressRange, Ranges
from natxy.model.packet_formats import ends
from natxy.model.source import Source
from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import ConnectionsSection, PortRanges, Testbed
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import Direction, Side

Key = tuple[Any, ...]  # of a testbed
PACKET_SOCKETS = "net_af_packet"


def check_subscribers(testbed: Testbed, source: Source) -> None:
    """Raises ConfigurationError with the first key that contradicts `[subscribers]`."""
    asked = testbed.subscribers
    if asked is None:
        return
    if testbed.tester.port(asked.side).tunnel is not None:
        source.refuse(
            ("tester", asked.side, "tunnel"),
            "is not possible on the side of the subscribers (expected no tunnel)",
        )
    _check_traffic(testbed, asked, source)
    _check_ports(testbed, asked, source)
    _check_connections(testbed, asked, source)
    _check_prefixes(testbed, asked, source)
    _check_gateway_prefix(asked, source)


def _check_traffic(testbed: Testbed, asked: SubscribersSection, source: Source) -> None:
    traffic, near = testbed.traffic, asked.side
    for side, version in ((near, asked.ip_version), (OTHER[near], 4)):
        if traffic.ip_version(side) != version:
            source.refuse(
                ("traffic", f"{side}_ip_version"),
                f"{traffic.ip_version(side)} contradicts subscribers.mechanism = "
                f'"{asked.mechanism}" (expected {version})',
            )
    if traffic.field(near).mode != "fixed":
        source.refuse(
            ("traffic", f"{near}_field"),
            "is not possible with [subscribers], whose numbers vary the addresses (expected no "
            "field on their side)",
        )
    if traffic.networks(near) > 1:
        source.refuse(
            ("traffic", f"{near}_networks"),
            f"{traffic.networks(near)} is not possible with [subscribers] (expected 1)",
        )


def _check_ports(testbed: Testbed, asked: SubscribersSection, source: Source) -> None:
    """Refuses ranges of ports on the side of subscribers who have the ports of their port sets."""
    if asked.port_set is None:
        return
    traffic, default = testbed.traffic, PortRanges()
    given: dict[Direction, PortRanges] = {"forward": traffic.forward, "reverse": traffic.reverse}
    for direction, ports in given.items():
        key = "source_port" if ends(direction)[0] == asked.side else "destination_port"
        if getattr(ports, key) != getattr(default, key):
            source.refuse(
                ("traffic", direction, key),
                f"is not possible with subscribers.psid_bits = {asked.psid_bits}, which gives each "
                f"subscriber a port set (expected no {key})",
            )


def _check_connections(testbed: Testbed, asked: SubscribersSection, source: Source) -> None:
    connections = testbed.connections
    gateway = f'with subscribers.mechanism = "{asked.mechanism}", the gateway'
    if asked.stateful and connections is None:
        source.refuse(
            ("connections",),
            f"is missing: {gateway} is stateful (expected, for example, count = 10000)",
        )
    if not asked.stateful and connections is not None:
        source.refuse(
            ("connections",), f"is not possible: {gateway} keeps no connections (expected none)"
        )
    if connections is not None and connections.initiator != asked.side:
        source.refuse(
            ("connections", "initiator"),
            f'"{connections.initiator}" is not the side of the subscribers (expected '
            f'"{asked.side}")',
        )


def _check_prefixes(testbed: Testbed, asked: SubscribersSection, source: Source) -> None:
    """Refuses addresses of others that are also subscribers': frames to them would go astray."""
    prefixes = {"ipv6_prefix": asked.ipv6_prefix, "ipv4_prefix": asked.ipv4_prefix}
    for where, address in _others(testbed, asked):
        for key, prefix in prefixes.items():
            if prefix is not None and ip_address(address) in ip_network(prefix):
                source.refuse(
                    where,
                    f"{address} is within subscribers.{key}, {prefix} (expected another address)",
                )


def _others(testbed: Testbed, asked: SubscribersSection) -> Iterator[tuple[Key, str]]:
    if asked.gateway is not None:
        yield ("subscribers", "gateway"), asked.gateway
    for side in SIDES:
        port = testbed.tester.port(side)
        for key in ("next_hop_ipv4", "next_hop_ipv6"):
            hop: str | None = getattr(port, key)
            if hop is not None:
                yield ("tester", side, key), hop
        for own in port.own_addresses:
            yield ("tester", side, "own_addresses"), own
    yield from _hosts(testbed, OTHER[asked.side])


def _hosts(testbed: Testbed, side: Side) -> Iterator[tuple[Key, str]]:
    """Yields the lowest and the highest IPv4 address of the hosts on this side."""
    host = testbed.tester.port(side).ipv4_real
    if host is not None:
        for end in AddressRange.of(testbed.traffic, side, host).ends:
            yield ("tester", side, "ipv4_real"), end


def _check_gateway_prefix(asked: SubscribersSection, source: Source) -> None:
    """Refuses IPv6 addresses that are both subscribers' and those of the other side's hosts."""
    if asked.gateway_prefix is None:
        return
    if IPv6Network(asked.gateway_prefix).overlaps(IPv6Network(asked.ipv6_prefix)):
        source.refuse(
            ("subscribers", "gateway_prefix"),
            f"{asked.gateway_prefix} overlaps ipv6_prefix, {asked.ipv6_prefix} (expected another "
            "prefix)",
        )


def check_connections(testbed: Testbed, ranges: Ranges, source: Source) -> None:
    """Raises ConfigurationError with the first key that contradicts `[connections]`."""
    traffic, asked = testbed.traffic, testbed.connections
    assert asked is not None, "the ranges are those of connections"
    if traffic.m == 0:
        source.refuse(("traffic", "m"), "0 leaves no frame for connections (expected 1 or more)")
    for side, networks in (("left", traffic.left_networks), ("right", traffic.right_networks)):
        if networks > 1:
            source.refuse(
                ("traffic", f"{side}_networks"),
                f"{networks} is not possible with connections (expected 1)",
            )
    if asked.is_tcp:
        _check_tcp(testbed, source)
    _check_combinations(testbed, asked, ranges, source)


def _check_tcp(testbed: Testbed, source: Source) -> None:
    if testbed.traffic.avoid_zero_checksum:
        source.refuse(
            ("traffic", "avoid_zero_checksum"),
            'true is not possible with connections.transport = "tcp", in which a checksum of 0 '
            "has no meaning (expected false)",
        )


def _check_combinations(
    testbed: Testbed, asked: ConnectionsSection, ranges: Ranges, source: Source
) -> None:
    combinations = ranges.combinations
    connections = testbed.traffic.foreground_among(asked.count)
    if asked.order != "repeating" and connections > combinations:
        source.refuse(
            ("connections", "count"),
            f"{asked.count} asks for {connections} connections, but the initiator's ports and "
            f"address fields have {combinations} combinations (expected fewer connections, or "
            "wider ranges)",
        )
    if combinations > MAX_CONNECTIONS:
        _check_subscribers(testbed, combinations, source)
        source.refuse(
            ("traffic", asked.outward),
            f"the ranges have {combinations} combinations (expected at most {MAX_CONNECTIONS})",
        )


def _check_subscribers(testbed: Testbed, combinations: int, source: Source) -> None:
    """Blames the subscribers where a single one would have few enough combinations."""
    subscribers, asked = testbed.subscribers, testbed.connections
    assert asked is not None, "the combinations are those of connections"
    if subscribers is None or combinations > MAX_CONNECTIONS * subscribers.count:
        return
    source.refuse(
        ("subscribers", "count"),
        f"{subscribers.count} subscribers make {combinations} combinations with the ranges of "
        f"ports in traffic.{asked.outward} (expected at most {MAX_CONNECTIONS}: narrow these "
        "ranges)",
    )


def check_tags(testbed: Testbed, source: Source) -> None:
    """Refuses VLAN tags that a packet socket would not show to the tester.

    The kernel hands over the outer tag beside the frame, and the driver puts it back as 802.1Q,
    whatever it was. The kernel also counts each frame that has a second tag as dropped, so that no
    trial would be valid.
    """
    for side in SIDES:
        port = testbed.tester.port(side)
        if not (port.device or "").startswith(PACKET_SOCKETS):
            continue
        if any(tag.tpid != "802.1Q" for tag in port.vlans) or len(port.vlans) > 1:
            source.refuse(
                ("tester", side, "vlans"),
                f"cannot be received by {PACKET_SOCKETS}, which keeps one tag and takes it for "
                '802.1Q (expected one tag with tpid = "802.1Q", or another device, such as '
                "net_af_xdp)",
            )
