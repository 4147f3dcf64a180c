"""Refuses a testbed whose subscribers contradict its traffic, connections or addresses."""

from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from natxy.model.address_checks import OTHER
from natxy.model.addresses import version_of
from natxy.model.source import Source
from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import Testbed


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
    _check_connections(testbed, asked, source)
    _check_prefix(testbed, asked, source)


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


def _check_prefix(testbed: Testbed, asked: SubscribersSection, source: Source) -> None:
    """Refuses addresses of others that are also subscribers': frames to them would go astray."""
    subscribers = IPv6Network(asked.ipv6_prefix)
    for where, address in _others(testbed, asked):
        if version_of(address) == 6 and IPv6Address(address) in subscribers:
            source.refuse(
                where,
                f"{address} is within subscribers.ipv6_prefix, {asked.ipv6_prefix} (expected "
                "another address)",
            )


def _others(testbed: Testbed, asked: SubscribersSection) -> Iterator[tuple[tuple[Any, ...], str]]:
    port = testbed.tester.port(asked.side)
    if asked.gateway is not None:
        yield ("subscribers", "gateway"), asked.gateway
    if port.next_hop_ipv6 is not None:
        yield ("tester", asked.side, "next_hop_ipv6"), port.next_hop_ipv6
    for own in port.own_addresses:
        yield ("tester", asked.side, "own_addresses"), own
