"""Deviations of the traffic of a measurement: its sizes, mix, directions and extension headers.

A series, of which a measurement is a part, may have what the measurement alone has not.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from natxy.measure.flow_deviations import flow_deviations
from natxy.model.deviation import Deviation, Deviations
from natxy.model.frame_sizes import rfc8219_sizes
from natxy.model.testbed import TrafficSection
from natxy.trial.setup import ReadyTester

MIXES = tuple(Fraction(percent, 100) for percent in (100, 90, 50, 10))  # of foreground traffic


def setup_deviations(tester: ReadyTester) -> Deviations:
    """Returns the deviations of all that a testbed and a series say about the traffic."""
    return (*flow_deviations(tester), *traffic_deviations(tester))


def traffic_deviations(tester: ReadyTester) -> Deviations:
    return (*_sizes(tester), *format_deviations(tester))


def format_deviations(tester: ReadyTester) -> Deviations:
    """Returns the deviations of the mix, the directions and the extension headers."""
    traffic = tester.testbed.traffic
    return (*_mix(tester), *_directions(traffic), *_headers(traffic))


def possible_sizes(tester: ReadyTester) -> tuple[int, ...]:
    """Returns the sizes of RFC 8219 that the testbed allows."""
    traffic = tester.testbed.traffic
    versions = {traffic.left_ip_version, traffic.right_ip_version}
    ipv4_alone = versions == {4} and _foregrounds(tester) == {Fraction(1)}
    each = {
        size: tester.with_traffic(frame_size_bytes=size).traffic.sizes
        for size in rfc8219_sizes(ipv4_alone=ipv4_alone)
    }
    return tuple(size for size, of in each.items() if of.fit_mtu and of.hold_headers)


def _sizes(tester: ReadyTester) -> Iterator[Deviation]:
    measured = tester.frame_sizes or (tester.testbed.traffic.frame_size_bytes,)
    if set(possible_sizes(tester)) <= set(measured):
        return
    yield Deviation(
        clause="RFC 8219 section 5.1.1",
        has=f"frames of {', '.join(f'{size}' for size in sorted(set(measured)))} bytes",
        asked="of each size that fits the MTU",
    )


def _mix(tester: ReadyTester) -> Iterator[Deviation]:
    measured = _foregrounds(tester)
    if set(MIXES) <= measured:
        return
    yield Deviation(
        clause="RFC 8219 section 5.3",
        has=f"{_percent(measured)} % foreground traffic",
        asked=f"{_percent(MIXES)} %",
    )


def _foregrounds(tester: ReadyTester) -> set[Fraction]:
    traffic = tester.testbed.traffic
    return set(tester.foregrounds or (Fraction(traffic.m, traffic.n),))


def _percent(shares: Iterable[Fraction]) -> str:
    return ", ".join(f"{float(share * 100):g}" for share in sorted(shares, reverse=True))


def _directions(traffic: TrafficSection) -> Iterator[Deviation]:
    if traffic.direction != "both":
        yield Deviation(
            clause="RFC 8219 section 5.3",
            has=f"traffic in one direction ({traffic.direction})",
            asked="in both",
        )


def _headers(traffic: TrafficSection) -> Iterator[Deviation]:
    """Yields a deviation of IPv6 that is routed; translators need not forward extension headers
    (RFC 8219 section 5.2)."""
    if (traffic.left_ip_version, traffic.right_ip_version) != (6, 6):
        return
    yield Deviation(
        clause="RFC 5180 section 5.3",
        has=f"extension headers: {', '.join(traffic.extension_headers) or 'none'}",
        asked="none, each one, and a chain of them",
    )
