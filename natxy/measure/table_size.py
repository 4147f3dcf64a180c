"""Sizes of connection tables, for procedures that measure at several numbers of connections.

These name their columns by the numbers; no two columns share a name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check_settings
from natxy.model.testbed import PortRanges, Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import MAX_CONNECTIONS, Series
from natxy.setting import Setting
from natxy.trial.session import Session

COUNTS = Setting(
    "connections",
    "Number of connections",
    "LIST",
    option="counts",
    default="all combinations of the given ports",
    short="Numbers of connections, such as 10k,100k,1M",
    lowest=1,
    highest=MAX_CONNECTIONS,
)
SOURCE_PORTS = Setting("source_ports", "Source ports", "LIST", default="the testbed's")
DESTINATION_PORTS = Setting(
    "destination_ports",
    "Destination ports",
    "LIST",
    default=("as many as ", COUNTS, " needs"),
)
HIGHEST_PORT = 2**16 - 1
PORTS = 2  # of the sizes of ranges: source and destination ports; more are those of addresses


@dataclass(frozen=True, kw_only=True)
class PortRange:
    """A number of ports from `first` on; None: from the first port of the testbed's range."""

    count: int
    first: int | None = None

    def series(self, written: Series, setting: Setting) -> Series:
        first = written.min if self.first is None else self.first
        if self.count < 1 or first + self.count - 1 > HIGHEST_PORT:
            raise ConfigurationError(
                setting,
                f": {self.count} ports from {first} on are not possible (expected at most "
                f"{HIGHEST_PORT - first + 1})",
            )
        return Series.counted(first, self.count)


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a table: the number of connections, and the ports that the initiator uses.

    By default, the source ports are those of the testbed, and there are as many destination ports,
    from the testbed's first one on, as the connections need. So the number of destination ports
    grows with that of connections (RFC 9693; MP Table 12). If both kinds of ports are given, all of
    their combinations are connections, unless fewer are asked for.
    """

    connections: Annotated[int | None, COUNTS] = None
    source_ports: Annotated[PortRange | None, SOURCE_PORTS] = None
    destination_ports: Annotated[PortRange | None, DESTINATION_PORTS] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.connections is None and self.destination_ports is None:
            raise ConfigurationError(
                *(COUNTS, ", ", DESTINATION_PORTS),
                ": neither is given (expected one of them)",
            )

    def of(self, session: Session) -> Session:
        """Returns the session with this number of connections and these ranges."""
        outward = session.traffic.required_connections.outward
        written: PortRanges = getattr(session.testbed.traffic, outward)
        source = Series.counted(written.source_port.min, written.source_port.values)
        if self.source_ports is not None:
            source = self.source_ports.series(source, SOURCE_PORTS)
        fields = session.traffic.ranges.source_field.values
        fields *= session.traffic.ranges.destination_field.values
        each = source.values * fields  # of one destination port
        needed = self.destination_ports or PortRange(count=ceil((self.connections or 0) / each))
        setting = DESTINATION_PORTS if self.destination_ports else COUNTS
        destination = needed.series(written.destination_port, setting)
        combinations = each * destination.values
        if self.connections is not None and self.connections > combinations:
            raise ConfigurationError(
                COUNTS,
                f": {self.connections} connections are more than the {combinations} combinations "
                "of the ports and addresses (expected fewer connections, or more ports)",
            )
        ranges = PortRanges(source_port=source, destination_port=destination).model_dump()
        count = combinations if self.connections is None else self.connections
        if count > MAX_CONNECTIONS:
            raise ConfigurationError(
                *(SOURCE_PORTS, ", ", DESTINATION_PORTS),
                f": {count} is out of range (expected 1 to {MAX_CONNECTIONS})",
            )
        return session.with_connections(count=count).with_traffic(**{outward: ranges})

    def about(self, testbed: Testbed) -> int:
        """Returns the number of connections, before the address fields of the traffic are known."""
        if self.connections is not None:
            return self.connections
        assert self.destination_ports is not None, "one of them is given"
        asked = testbed.connections
        reverse = asked is not None and asked.initiator == "right"
        written = testbed.traffic.reverse if reverse else testbed.traffic.forward
        source = self.source_ports.count if self.source_ports else written.source_port.values
        return min(source * self.destination_ports.count, MAX_CONNECTIONS)


def check_each_frame_makes_one(traffic: TrafficPlan) -> None:
    """Refuses traffic in which N frames of phase 1 may not be N connections."""
    if traffic.testbed.traffic.has_background:
        raise ConfigurationError(
            "traffic.m: is less than n, but background traffic is not possible where connections "
            "are counted (expected m = n)"
        )
    if traffic.required_connections.order == "repeating":
        raise ConfigurationError(
            'connections.order: "repeating" is not possible where connections are counted '
            '(expected "pseudorandom", "increasing" or "decreasing")'
        )


def named_by_size(columns: Sequence[Session]) -> list[str]:
    """Returns the number of connections of each column.

    A column with as many connections as another one, but of other ranges, has the ranges too.
    """
    counts = [column.traffic.required_connections.count for column in columns]
    ranges = [column.traffic.ranges.sizes for column in columns]
    return [
        f"{count:,} connections{_of(sizes) if _is_ambiguous(count, counts, ranges) else ''}"
        for count, sizes in zip(counts, ranges, strict=True)
    ]


def _is_ambiguous(count: int, counts: Sequence[int], ranges: Sequence[tuple[int, ...]]) -> bool:
    return len({sizes for each, sizes in zip(counts, ranges, strict=True) if each == count}) > 1


def _of(sizes: tuple[int, ...]) -> str:
    what = "ports" if len(sizes) == PORTS else "ports and addresses"
    return f", {' x '.join(f'{size:,}' for size in sizes)} {what}"


def told_apart(name: str, earlier: Sequence[str]) -> str:
    """Returns the name of the next column, with its number if an earlier one has the same name."""
    return f"{name}, column {len(earlier) + 1}" if name in earlier else name
