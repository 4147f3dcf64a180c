"""Refuses a testbed whose connections contradict its traffic."""

from natxy.model.ranges import Ranges
from natxy.model.source import Source
from natxy.model.testbed import ConnectionsSection, Testbed
from natxy.model.traffic_spec import MAX_CONNECTIONS


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
