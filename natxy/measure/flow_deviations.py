"""Deviations of the flows of a measurement: their networks and ports, or their connections."""

from collections.abc import Iterator

from natxy.measure.networks import networks_deviation
from natxy.model.deviation import Deviation, Deviations
from natxy.model.testbed import ConnectionsSection, PortRanges, Testbed
from natxy.trial.setup import ReadyTester

# RFC 9693 section 4.1: "a few times ten thousand" source ports, and "from a few to several hundreds
# or thousands" of destination ports.
WIDE_PORTS = 10_000


def flow_deviations(tester: ReadyTester, *, networks: bool = True) -> Deviations:
    """Returns the deviations of networks and ports, or of connections and their use in phase 2.

    `networks`: whether the procedure needs one network, and then many.
    """
    if (asked := tester.testbed.connections) is not None:
        return (*connection_deviations(tester), *_uses(asked))
    return (*(networks_deviation(tester) if networks else ()), *_ports(tester.testbed))


def connection_deviations(tester: ReadyTester) -> Deviations:
    """Returns the deviations of phase 1; none without connections."""
    if (asked := tester.testbed.connections) is None:
        return ()
    order = _order("4.4", "created", asked.order)
    return (*_ranges(tester), *order)


def _ports(testbed: Testbed) -> Iterator[Deviation]:
    """Yields a deviation for each direction whose ports are not those of RFC 4814.

    Subscribers have only the ports of their port sets.
    """
    for direction in testbed.traffic.directions if testbed.subscribers is None else ():
        ports = getattr(testbed.traffic, direction)
        if ports != PortRanges():
            yield Deviation(
                clause="RFC 4814 section 4.5",
                has=f"{direction} {_said(ports)}",
                asked=_said(PortRanges()),
            )


def _said(ports: PortRanges) -> str:
    source, destination = (
        f"{each.min}" if each.mode == "fixed" else f"{each.mode} from {each.min} to {each.max}"
        for each in (ports.source_port, ports.destination_port)
    )
    return f"source ports {source} and destination ports {destination}"


def _ranges(tester: ReadyTester) -> Iterator[Deviation]:
    """Yields the deviation of ports from the ranges that are recommended for one pair of addresses.

    Several addresses need narrower ranges, since all combinations are enumerated.
    """
    source, destination, *addresses = tester.traffic.ranges.sizes
    alone = not addresses and tester.testbed.subscribers is None
    if alone and not source >= WIDE_PORTS > destination:
        yield Deviation(
            clause="RFC 9693 section 4.1",
            has=f"{source:,} source ports and {destination:,} destination ports",
            asked="a few times 10,000 and at most some thousands",
        )


def _uses(asked: ConnectionsSection) -> Iterator[Deviation]:
    """Yields the deviations of the order in which phase 2 uses the connections."""
    yield from _order("4.10", "used by the initiator", asked.initiator_order)
    yield from _order("4.10", "used by the responder", asked.responder_order)


def _order(section: str, what: str, order: str) -> Iterator[Deviation]:
    if order != "pseudorandom":
        has = f'connections {what} in the order "{order}"'
        yield Deviation(clause=f"RFC 9693 section {section}", has=has, asked='"pseudorandom"')
