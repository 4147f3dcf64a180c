"""What procedures have in common that measure at several numbers of connections."""

from dataclasses import dataclass
from math import ceil, isqrt

from natxy.dut.base import ConnectionTable, Dut
from natxy.errors import ConfigurationError, DutError
from natxy.model.testbed import ConnectionsSection, PortRanges
from natxy.model.traffic_spec import MAX_CONNECTIONS, Series
from natxy.procedure.setup import ReadyTester, name_of

FIRST_SOURCE_PORT, SOURCE_PORTS = 1024, 64512  # RFC 4814 section 4.5
FIRST_DESTINATION_PORT, DESTINATION_PORTS = 1, 49151


@dataclass(frozen=True, kw_only=True)
class PortCounts:
    """Ranges whose combinations are enough; about four times as many source ports (SD Figure 4)."""

    sources: int
    destinations: int

    def __str__(self) -> str:
        return f"{self.sources:,} x {self.destinations:,}"


def ports_for(connections: int) -> PortCounts:
    sources = min(max(1, 2 * isqrt(connections - 1) + 2), SOURCE_PORTS, connections)
    destinations = ceil(connections / sources)
    if destinations > DESTINATION_PORTS:
        raise ConfigurationError(
            f"{connections} connections are more than one pair of addresses has ports for; at most "
            f"{SOURCE_PORTS * DESTINATION_PORTS} is right"
        )
    return PortCounts(sources=sources, destinations=destinations)


def with_connections(
    tester: ReadyTester, connections: int, *, ports: PortCounts | None = None
) -> ReadyTester:
    """The same tester with so many connections, and with port ranges of this size."""
    asked = connections_of(tester)
    section = asked.model_copy(update={"count": connections})
    changed = tester.with_testbed(tester.testbed.model_copy(update={"connections": section}))
    if ports is None:
        return changed
    ranges = PortRanges(
        source_port=_series(FIRST_SOURCE_PORT, ports.sources),
        destination_port=_series(FIRST_DESTINATION_PORT, ports.destinations),
    )
    return changed.with_traffic(**{asked.outward: ranges.model_dump()})


def _series(first: int, count: int) -> Series:
    return Series(mode="increasing" if count > 1 else "fixed", min=first, max=first + count - 1)


def connections_of(tester: ReadyTester) -> ConnectionsSection:
    """ConfigurationError where the testbed has none."""
    asked = tester.traffic.connections
    if asked is None:
        raise ConfigurationError(
            "connections: is missing: a stateful gateway is measured; --connections 10000 is right"
        )
    return asked


def check_each_frame_makes_one(tester: ReadyTester) -> None:
    """Where connections are counted, N frames of phase 1 must be N connections."""
    if tester.testbed.traffic.has_background:
        raise ConfigurationError(
            "traffic.m: background traffic is not possible where connections are counted, n is "
            "right"
        )
    if connections_of(tester).order == "repeating":
        raise ConfigurationError(
            'connections.order: "repeating" is not possible where connections are counted, '
            '"pseudorandom" is right'
        )


def table_of(dut: Dut) -> ConnectionTable:
    """DutError where nobody can get at it."""
    if dut.table is None:
        raise DutError(
            f"{name_of(dut)} has no connection table that could be counted and emptied from here; "
            '[dut] with kind "command" and its commands, or another device, is right.'
        )
    return dut.table


def check_connections(option: str, counts: tuple[int, ...]) -> None:
    if not counts:
        raise ConfigurationError(f"{option}: none are given, 1000,10000,100000 is right")
    for count in counts:
        if not 1 <= count <= MAX_CONNECTIONS:
            raise ConfigurationError(
                f"{option}: {count} is out of range, 1 to {MAX_CONNECTIONS} is right"
            )
