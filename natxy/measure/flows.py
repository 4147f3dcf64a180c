"""Network flows of one pair of addresses: four-tuples that are used in turn; or subscribers."""

from dataclasses import dataclass
from math import gcd

from natxy.errors import ConfigurationError
from natxy.model.source import Source
from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import AddressField, PortRanges
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Series
from natxy.setting import Setting
from natxy.trial.session import Session

FLOWS = Setting(
    "flows",
    "Numbers of network flows to measure; each is compared with one flow",
    "N,...",
    short="Numbers of flows; each is compared with one flow",
)
SUBSCRIBERS = Setting(
    "subscribers",
    "Numbers of subscribers to measure instead, for a testbed with [subscribers]; each is compared "
    "with one subscriber",
    "N,...",
    default="flows are measured",
)
FIRST_SOURCE_PORT, SOURCE_PORTS = 1024, 64512  # RFC 4814 section 4.5
FIRST_DESTINATION_PORT, DESTINATION_PORTS = 1, 49151


@dataclass(frozen=True, kw_only=True)
class FlowRanges:
    """Counts of ports, both used in turn; the counts are coprime, so that all pairs are used."""

    source_ports: int
    destination_ports: int

    def __str__(self) -> str:
        return f"{self.source_ports:,} x {self.destination_ports:,}"

    def is_within(self, other: "FlowRanges") -> bool:
        """Returns whether the other ranges have all of these flows."""
        return (
            self.source_ports <= other.source_ports
            and self.destination_ports <= other.destination_ports
        )


def ranges_of(flows: int) -> FlowRanges:
    """Returns ranges with exactly this many pairs and as few destination ports as possible."""
    for destinations in range(1, DESTINATION_PORTS + 1):
        sources, rest = divmod(flows, destinations)
        if rest or sources < 1 or sources > SOURCE_PORTS:
            continue
        if gcd(sources, destinations) == 1:
            return FlowRanges(source_ports=sources, destination_ports=destinations)
    raise ConfigurationError(
        FLOWS,
        f": {flows} is not a possible number of port pairs (expected 1 to {SOURCE_PORTS}, or a "
        f"product of two coprime numbers up to {SOURCE_PORTS} and {DESTINATION_PORTS})",
    )


def with_flows(session: Session, flows: int) -> Session:
    """Returns a session that sends this many four-tuples in turn; those of reverse are swapped.

    Raises ConfigurationError if the testbed has subscribers, whose numbers determine addresses and
    ports.
    """
    if session.testbed.subscribers is not None:
        session.traffic.source.refuse(
            ("subscribers",),
            "is not possible with a given number of flows, since subscribers have addresses and "
            "ports of their own (expected a testbed without it; to measure numbers of ",
            *("subscribers, ", SUBSCRIBERS),
            ', or an experiment with [[vary]] and key = "subscribers.count")',
        )
    ranges = ranges_of(flows)
    source = Series.counted(FIRST_SOURCE_PORT, ranges.source_ports)
    destination = Series.counted(FIRST_DESTINATION_PORT, ranges.destination_ports)
    if session.testbed.connections is not None:
        session = session.with_connections(count=flows)
    one_address = AddressField().model_dump()
    return session.with_traffic(
        forward=PortRanges(source_port=source, destination_port=destination).model_dump(),
        reverse=PortRanges(source_port=destination, destination_port=source).model_dump(),
        left_networks=1,
        right_networks=1,
        left_field=one_address,
        right_field=one_address,
    )


def with_subscribers(session: Session, count: int) -> Session:
    """Returns a session with this many subscribers; ConfigurationError if they do not fit."""
    asked, option = session.testbed.subscribers, Source(name=SUBSCRIBERS)
    if asked is None:
        session.traffic.source.refuse(
            ("subscribers",), "is missing: ", SUBSCRIBERS, " needs it (expected a mechanism)"
        )
    if session.testbed.dut.get("driver") == "aftr" and count > asked.count:
        raise ConfigurationError(
            SUBSCRIBERS,
            f": {count} is more than subscribers.count, for which the lab has softwires (expected "
            f"at most {asked.count})",
        )
    written = asked.model_dump(mode="json", exclude_none=True) | {"count": count}
    section: SubscribersSection = option.validated(SubscribersSection, written, at=("subscribers",))
    changed = session.testbed.model_copy(update={"subscribers": section})
    TrafficPlan(testbed=changed, source=option).check()
    return session.with_testbed(changed)
