"""Network flows of one pair of addresses: four-tuples that are used in turn; or subscribers.

In groups of flows (RFC 8219 section 10.2.2), a trial first sends a quarter, a half and three
quarters of its flows, in a part each. A remark names trials that have fewer frames than flows, so
that not all flows are used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import Self

from natxy.errors import ConfigurationError
from natxy.model.coded import Fact
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.remark import Remark, Topic
from natxy.model.source import Source
from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import AddressField, PortRanges, TrafficSection
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.traffic_spec import Series
from natxy.model.trial_spec import Kind, Mix
from natxy.setting import Setting
from natxy.trial.phases import Starting
from natxy.trial.session import Session
from natxy.trial.timing import Timing

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
QUARTERS = 4  # the intermediary points of RFC 8219 section 10.2.2
CLAUSE = "RFC 8219 section 10.2.2"
INCREMENTAL = Setting("incremental", "Start the flows one after the other within a trial")


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


def parts_of(flows: int, step_s: Fraction | None = None) -> list[tuple[int, Fraction | None]]:
    """Returns the number of flows in each part of a trial before the last one, which has all, and
    how long it lasts: until the next flows start; None: as long as the trial.

    Fewer flows than quarters have fewer parts.
    """
    numbers = {flows * quarter // QUARTERS for quarter in range(1, QUARTERS)} - {0, flows}
    return [
        (part, None if step_s is None else (after - part) * step_s)
        for part, after in pairwise((*sorted(numbers), flows))
    ]


def check_parts(flows: int) -> None:
    """Refuses numbers of flows whose parts cannot be made of ranges of ports."""
    for part, _ in parts_of(flows):
        try:
            ranges_of(part)
        except ConfigurationError as error:
            raise ConfigurationError(
                *(FLOWS, f": {flows} is not possible with ", INCREMENTAL, ", since its part of "),
                f"{part} flows is no possible number of port pairs (expected a number whose "
                "quarters are possible too)",
            ) from error


def ramp_of(session: Session, flows: int, step_s: Fraction | None) -> tuple[Starting, ...]:
    """Returns what a trial sends before all flows have started."""
    return tuple(
        Starting(traffic=with_flows(session, part).traffic, lasts_s=lasts_s)
        for part, lasts_s in parts_of(flows, step_s)
    )


def group_deviations(numbers: Sequence[int]) -> Deviations:
    few = any(1 < flows <= QUARTERS for flows in numbers)
    said = {Differs.IN_GROUPS: max(numbers) > QUARTERS, Differs.WITH_DRAINS: few}
    return tuple(Deviation.of(code, CLAUSE) for code, applies in said.items() if applies)


def group_remarks(
    numbers: Sequence[int], step_s: Fraction | None, timing: Timing
) -> Iterator[Remark]:
    """Yields how flows start, with T, the time between the starts of two flows, which RFC 8219
    section 10.2.2 requires; and each number of flows of which some end before the trial does."""
    if step_s is None:
        yield Remark.of(Topic.PARTS_AS_TRIALS, drain_s=timing.drain_s)
    else:
        yield Remark.of(Topic.PARTS_BY_STEP, step_s=step_s, drain_s=timing.drain_s)
    for flows in numbers:
        ranges = [ranges_of(each) for each in (*(part for part, _ in parts_of(flows)), flows)]
        if not all(before.is_within(after) for before, after in pairwise(ranges)):
            yield Remark.of(Topic.PARTS_DIFFER, f"{flows:,} flows", ports=tuple(map(str, ranges)))


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The frames of a direction in a trial, or in its burst."""

    rate_fps: int
    frames: int
    is_burst: bool = False

    @classmethod
    def lasting(cls, rate_fps: int, duration_s: Fraction) -> Self:
        return cls(rate_fps=rate_fps, frames=frames_of(rate_fps, duration_s))


def unused_flows(
    sent: Sequence[Sent], flows: int, traffic: TrafficSection, units: str
) -> Iterator[Remark]:
    """Yields a remark for each kind of traffic that has fewer frames than flows in trials that
    count; `units` is what has this number, in the plural."""
    mix = Mix(n=traffic.n, m=traffic.m)
    for kind in _kinds(traffic):
        if few := [each for each in sent if mix.frames_of(kind, each.frames) < flows]:
            frames = [mix.frames_of(kind, each.frames) for each in few]
            said = _too_few(few, frames, {"number": float(flows), "units": units})
            yield said.at(kind) if traffic.has_background else said


def unused_in_parts(
    sent: Sequence[Sent], flows: int, step_s: Fraction | None, traffic: TrafficSection
) -> Iterator[Remark]:
    """Yields a remark for each kind that has fewer frames than flows while flows start."""
    mix, parts = Mix(n=traffic.n, m=traffic.m), parts_of(flows, step_s)
    lowest = min(sent, key=lambda each: each.rate_fps, default=None)
    if lowest is None or not parts:
        return
    for kind in _kinds(traffic):
        frames = [(mix.frames_of(kind, _frames_in(lasts_s, lowest)), n) for n, lasts_s in parts]
        few = [(float(has), float(part)) for has, part in frames if has < part]
        if few:
            yield Remark.of(
                Topic.FEW_IN_PARTS if step_s is None else Topic.FEW_IN_STEPS,
                kind if traffic.has_background else "",
                flows=flows,
                rate_fps=lowest.rate_fps,
                frames=tuple(has for has, _ in few),
                part_flows=tuple(part for _, part in few),
            )


def _frames_in(lasts_s: Fraction | None, trial: Sent) -> int:
    return trial.frames if lasts_s is None else frames_of(trial.rate_fps, lasts_s)


def _too_few(trials: Sequence[Sent], frames: Sequence[int], of: Mapping[str, Fact]) -> Remark:
    first, least = trials[0], min(frames)
    if first.is_burst:
        return Remark.of(Topic.FEW_IN_BURST, **of, burst=first.frames, frames=least)
    if len(trials) == 1:
        return Remark.of(Topic.FEW_IN_TRIAL, **of, rate_fps=first.rate_fps, frames=least)
    rates = [each.rate_fps for each in trials]
    return Remark.of(
        Topic.FEW_IN_TRIALS,
        **of,
        lowest_fps=min(rates),
        highest_fps=max(rates),
        least=least,
        most=max(frames),
    )


def _kinds(traffic: TrafficSection) -> tuple[Kind, ...]:
    return ("foreground", "background") if traffic.has_background else ("foreground",)
