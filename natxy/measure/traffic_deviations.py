"""Deviations of the traffic of a measurement: networks, flows, connections, sizes, mix, headers.

A series, of which a measurement is a part, may have what the measurement alone has not.
"""

from collections.abc import Iterator
from fractions import Fraction

from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.frame_sizes import rfc8219_sizes
from natxy.model.testbed import ConnectionsSection, PortRanges, Testbed, TrafficSection
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES
from natxy.trial.session import Session

MIXES = tuple(Fraction(percent, 100) for percent in (100, 90, 50, 10))  # of foreground traffic
NETWORKS = {1, 256}
# RFC 9693 section 4.1: "a few times ten thousand" source ports, and "from a few to several hundreds
# or thousands" of destination ports.
WIDE_PORTS = 10_000
OF_RESETS = "RFC 6201 section 4"


def session_deviations(session: Session) -> Deviations:
    """Returns the deviations of all that a testbed and a series say about the traffic."""
    return (*flow_deviations(session), *traffic_deviations(session))


def traffic_deviations(session: Session) -> Deviations:
    return (*_sizes(session), *_formats(session))


def flow_deviations(session: Session, *, networks: bool = True) -> Deviations:
    """Returns the deviations of networks and ports, or of connections and their use in phase 2.

    `networks`: whether the procedure needs one network, and then many.
    """
    if (asked := session.testbed.connections) is not None:
        return (*connection_deviations(session), *_uses(asked))
    return (*(networks_deviation(session) if networks else ()), *_ports(session.testbed))


def connection_deviations(session: Session) -> Deviations:
    """Returns the deviations of phase 1; none without connections."""
    if (asked := session.testbed.connections) is None:
        return ()
    return (*_ranges(session), *_order("RFC 9693 section 4.4", "created", asked.order))


def reset_deviations(session: Session) -> Deviations:
    """Returns the deviations: a reset needs the smallest frames alone, to networks that are
    connected directly, and each kind of reset."""
    return (
        # The driver of a gateway resets it in one way, which the remarks describe.
        Deviation.of(Differs.ONE_RESET, OF_RESETS),
        *_next_hops(session),
        *flow_deviations(session, networks=False),
        *_size_of_reset(session),
        *_formats(session),
    )


def tcp_deviations(section: str) -> Deviations:
    """Returns what RFC 8219 section 8 asks for, by a section of RFC 3511, and no result has."""
    return (
        Deviation.of(Differs.NO_TRANSFER, f"RFC 3511 section {section}.3"),
        Deviation.of(Differs.NO_AGING, f"RFC 3511 section {section}.2.1"),
        Deviation.of(Differs.NO_TIMES, f"RFC 3511 section {section}.4.2", times="establishment"),
    )


def closing_deviations(by: str) -> Deviations:
    """Returns the deviations of a tear-down rate."""
    clause = "RFC 3511 section 5.4.2"
    return (
        Deviation.of(Differs.BY_RST if by == "rst" else Differs.IN_PHASES, clause),
        Deviation.of(Differs.NO_AGING, clause),
        Deviation.of(Differs.NO_TIMES, "RFC 3511 section 5.4.4", times="tear-down"),
    )


def networks_deviation(session: Session) -> Deviations:
    """Returns the deviation of a measurement, or of the series that it is a part of, from the
    numbers of networks per side that the RFC asks for.

    Connections always use one network (RFC 9693).
    """
    measured = set(session.networks or (networks_of(session.testbed),))
    if session.testbed.connections is not None or measured >= NETWORKS:
        return ()
    has = tuple(map(float, sorted(measured)))
    return (Deviation.of(Differs.NETWORKS, "RFC 2544 section 12", networks=has),)


def networks_of(testbed: Testbed) -> int:
    """Returns the number of networks of the side that has more."""
    return max(testbed.traffic.left_networks, testbed.traffic.right_networks)


def possible_sizes(session: Session) -> tuple[int, ...]:
    """Returns the sizes of RFC 8219 that the testbed allows."""
    traffic = session.testbed.traffic
    versions = {traffic.left_ip_version, traffic.right_ip_version}
    ipv4_alone = versions == {4} and _foregrounds(session) == {Fraction(1)}
    each = {
        size: session.with_traffic(frame_size_bytes=size).traffic.sizes
        for size in rfc8219_sizes(ipv4_alone=ipv4_alone)
    }
    return tuple(size for size, of in each.items() if of.fit_mtu and of.hold_headers)


def _formats(session: Session) -> Iterator[Deviation]:
    """Yields the deviations of the mix, the directions and the extension headers."""
    traffic = session.testbed.traffic
    yield from _mix(session)
    if traffic.direction != "both":
        clause = "RFC 8219 section 5.3"
        yield Deviation.of(Differs.ONE_DIRECTION, clause, traffic.direction)
    yield from _headers(traffic)


def _sizes(session: Session) -> Iterator[Deviation]:
    measured = set(session.frame_sizes or (session.testbed.traffic.frame_size_bytes,))
    if not set(possible_sizes(session)) <= measured:
        has = tuple(map(float, sorted(measured)))
        yield Deviation.of(Differs.FRAME_SIZES, "RFC 8219 section 5.1.1", sizes_bytes=has)


def _mix(session: Session) -> Iterator[Deviation]:
    measured = _foregrounds(session)
    if not set(MIXES) <= measured:
        has = tuple(float(share) for share in sorted(measured, reverse=True))
        asked = tuple(map(float, MIXES))
        clause = "RFC 8219 section 5.3"
        yield Deviation.of(Differs.FOREGROUND, clause, has_share=has, asked_share=asked)


def _foregrounds(session: Session) -> set[Fraction]:
    traffic = session.testbed.traffic
    return set(session.foregrounds or (Fraction(traffic.m, traffic.n),))


def _headers(traffic: TrafficSection) -> Iterator[Deviation]:
    """Yields a deviation of IPv6 that is routed; translators need not forward extension headers
    (RFC 8219 section 5.2)."""
    if (traffic.left_ip_version, traffic.right_ip_version) == (6, 6):
        headers = traffic.extension_headers or ("none",)
        yield Deviation.of(Differs.HEADERS, "RFC 5180 section 5.3", headers=headers)


def _ports(testbed: Testbed) -> Iterator[Deviation]:
    """Yields a deviation for each direction whose ports are not those of RFC 4814.

    Subscribers have only the ports of their port sets.
    """
    for direction in testbed.traffic.directions if testbed.subscribers is None else ():
        ports = getattr(testbed.traffic, direction)
        if ports != PortRanges():
            facts = _of_ports(ports, "") | _of_ports(PortRanges(), "asked_")
            yield Deviation.of(Differs.PORTS, "RFC 4814 section 4.5", direction, **facts)


def _of_ports(ports: PortRanges, prefix: str) -> dict[str, str]:
    return {
        f"{prefix}{name}": f"{each.min}"
        if each.mode == "fixed"
        else f"{each.mode} from {each.min} to {each.max}"
        for name, each in (("source", ports.source_port), ("destination", ports.destination_port))
    }


def _ranges(session: Session) -> Iterator[Deviation]:
    """Yields the deviation of ports from the ranges that are recommended for one pair of addresses.

    Several addresses need narrower ranges, since all combinations are enumerated.
    """
    source, destination, *addresses = session.traffic.ranges.sizes
    alone = not addresses and session.testbed.subscribers is None
    if alone and not source >= WIDE_PORTS > destination:
        facts = {"source": source, "destination": destination}
        yield Deviation.of(Differs.PORT_RANGES, "RFC 9693 section 4.1", **facts)


def _uses(asked: ConnectionsSection) -> Iterator[Deviation]:
    """Yields the deviations of the order in which phase 2 uses the connections."""
    yield from _order("RFC 9693 section 4.10", "used by the initiator", asked.initiator_order)
    yield from _order("RFC 9693 section 4.10", "used by the responder", asked.responder_order)


def _order(clause: str, what: str, order: str) -> Iterator[Deviation]:
    if order != "pseudorandom":
        yield Deviation.of(Differs.ORDER, clause, what, order=order)


def _next_hops(session: Session) -> Iterator[Deviation]:
    if (several := networks_of(session.testbed)) > 1:
        yield Deviation.of(Differs.BEHIND_NEXT_HOPS, "RFC 2544 section 26.6", networks=several)


def _size_of_reset(session: Session) -> Iterator[Deviation]:
    size = session.testbed.traffic.frame_size_bytes
    smallest = min(possible_sizes(session), default=MIN_FRAME_SIZE_BYTES)
    if size > smallest:
        facts = {"size_bytes": size, "asked_bytes": smallest}
        yield Deviation.of(Differs.LARGER_FRAMES, OF_RESETS, **facts)
