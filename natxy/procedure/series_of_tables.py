"""What procedures have in common that measure at several numbers of connections."""

from dataclasses import dataclass
from math import ceil

from natxy.dut.base import ConnectionTable, Dut
from natxy.errors import ConfigurationError, DutError
from natxy.model.testbed import ConnectionsSection, PortRanges
from natxy.model.traffic_spec import MAX_CONNECTIONS, Series
from natxy.procedure.setup import ReadyTester, name_of

HIGHEST_PORT = 2**16 - 1


@dataclass(frozen=True, kw_only=True)
class PortRange:
    """So many ports, from `first` on; None: from where the testbed's range begins."""

    count: int
    first: int | None = None

    def series(self, written: Series, option: str) -> Series:
        first = written.min if self.first is None else self.first
        if self.count < 1 or first + self.count - 1 > HIGHEST_PORT:
            raise ConfigurationError(
                f"{option}: {self.count} ports from {first} on are not possible, at most "
                f"{HIGHEST_PORT - first + 1} is right"
            )
        return Series.counted(first, self.count)


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of a table: its connections, and the ports that the initiator makes them of.

    The source ports are the testbed's. Of destination ports there are as many as the connections
    need, from the testbed's first one on: their number is what grows with that of connections
    (RFC 9693; MP Table 12). Where ports of both kinds are given, all of their combinations are
    connections, unless fewer are asked for.
    """

    connections: int | None = None  # None: every combination of the ranges
    source_ports: PortRange | None = None  # None: the testbed's
    destination_ports: PortRange | None = None  # None: as many as are needed

    def __post_init__(self) -> None:
        if self.connections is not None:
            _check_connections("--counts", self.connections)
        elif self.destination_ports is None:
            raise ConfigurationError(
                "--counts, --destination-ports: neither is given, one of them is right"
            )

    def of(self, tester: ReadyTester) -> ReadyTester:
        """The same tester with so many connections, of these ranges."""
        outward = connections_of(tester).outward
        written: PortRanges = getattr(tester.testbed.traffic, outward)
        source = Series.counted(written.source_port.min, written.source_port.values)
        if self.source_ports is not None:
            source = self.source_ports.series(source, "--source-ports")
        fields = tester.traffic.ranges.source_field.values
        fields *= tester.traffic.ranges.destination_field.values
        each = source.values * fields  # of one destination port
        needed = self.destination_ports or PortRange(count=ceil((self.connections or 0) / each))
        option = "--destination-ports" if self.destination_ports else "--counts"
        destination = needed.series(written.destination_port, option)
        combinations = each * destination.values
        if self.connections is not None and self.connections > combinations:
            raise ConfigurationError(
                f"--counts: {self.connections} connections are more than the {combinations} "
                "combinations of the ports and addresses, fewer connections or more ports are right"
            )
        ranges = PortRanges(source_port=source, destination_port=destination).model_dump()
        count = combinations if self.connections is None else self.connections
        _check_connections("--source-ports, --destination-ports", count)
        return tester.with_connections(count=count).with_traffic(**{outward: ranges})


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


def _check_connections(option: str, count: int) -> None:
    if not 1 <= count <= MAX_CONNECTIONS:
        raise ConfigurationError(
            f"{option}: {count} is out of range, 1 to {MAX_CONNECTIONS} is right"
        )
