"""Overload scalability: what throughput more network flows cost (RFC 8219 section 10)."""

from dataclasses import dataclass, replace
from math import gcd

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, DutError
from natxy.model.measurement import Conditions, Figure, Measurement, TrialCounts
from natxy.model.testbed import PortRanges, TrafficSection
from natxy.model.throughput_result import ThroughputResult
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.traffic_spec import Series
from natxy.model.trial_spec import Kind, Mix
from natxy.procedure.at_rate import conditions
from natxy.procedure.observer import Observer
from natxy.procedure.setup import ReadyTester
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.statistics import median

THROUGHPUT = "throughput"
DEGRADATION = "degradation"
FIRST_SOURCE_PORT, SOURCE_PORTS = 1024, 64512  # RFC 4814 section 4.5
FIRST_DESTINATION_PORT, DESTINATION_PORTS = 1, 49151
STARTED_IN_GROUPS = ("flows started in four groups, not one by one",)
QUARTERS = 4  # RFC 8219 section 10.2.2's intermediary points


@dataclass(frozen=True, kw_only=True)
class OverloadPlan:
    """`search` finds the throughput of one flow, and of each number of `flows`.

    Incremental: each trial sends a quarter, a half and three quarters of the flows first, each for
    the trial's duration and at its rate, without a loss.
    """

    search: ThroughputPlan
    flows: tuple[int, ...]
    incremental: bool = False

    def __post_init__(self) -> None:
        if not self.flows:
            raise ConfigurationError("--flows: none are given, 10,100,1000 is right")
        for flows in self.flows:
            ranges_of(flows)


@dataclass(frozen=True, kw_only=True)
class FlowRanges:
    """Ports in round robin: since their numbers have no common divisor, all pairs come by."""

    source_ports: int
    destination_ports: int


def ranges_of(flows: int) -> FlowRanges:
    """Ranges of which exactly this many pairs are in use; as few destination ports as possible."""
    for destinations in range(1, DESTINATION_PORTS + 1):
        sources, rest = divmod(flows, destinations)
        if rest or sources < 1 or sources > SOURCE_PORTS:
            continue
        if gcd(sources, destinations) == 1:
            return FlowRanges(source_ports=sources, destination_ports=destinations)
    raise ConfigurationError(
        f"--flows: {flows} flows cannot be made of ports; 1 to {SOURCE_PORTS}, or a product of two "
        f"coprime numbers up to {SOURCE_PORTS} and {DESTINATION_PORTS} is right"
    )


def overload(
    plan: OverloadPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """The throughput of each number of flows, and (X1 - Xn) / X1 x 100 %, X1 that of one flow."""
    observer = observer or Observer()
    traffic = tester.testbed.traffic
    found = {
        flows: throughput(_search(plan, flows), _tester(plan, tester, flows), dut, observer)
        for flows in (1, *(flows for flows in plan.flows if flows != 1))
    }
    alone = found[1]
    if not median(alone.rates_fps):
        raise DutError(f"{alone.dut} loses frames of a single flow at every rate: X1 is 0.")
    return Measurement(
        procedure="overload",
        title=f"Overload scalability, {'incremental' if plan.incremental else 'simultaneous'} load",
        reference=f"RFC 8219 section 10.2.{2 if plan.incremental else 1}",
        conditions=_conditions(plan, tester, dut),
        departures=(*alone.departures, *(STARTED_IN_GROUPS if plan.incremental else ())),
        remarks=(
            *_remarks(plan, traffic),
            *_unknown(found),
            *_too_few_frames(plan, traffic, found),
        ),
        figures=tuple(
            figure for flows, result in found.items() for figure in _figures(flows, result, alone)
        ),
        counts=_counts(list(found.values())),
    )


def _conditions(plan: OverloadPlan, tester: ReadyTester, dut: Dut) -> Conditions:
    """As many connections as there are flows, a different number in each line."""
    asked = plan.search
    of = conditions(
        tester, dut, asked.timing, seed=asked.seed, rate_fps=None, dut_name=asked.dut_name
    )
    if of.connections is None:
        return of
    flows = of.connections.model_copy(update={"count": None, "ranges": "all flows'"})
    return of.model_copy(update={"connections": flows})


def _search(plan: OverloadPlan, flows: int) -> ThroughputPlan:
    """Seeds differ, so that no nonce comes again."""
    return replace(plan.search, seed=(plan.search.seed + flows) % 2**63)


def _tester(plan: OverloadPlan, tester: ReadyTester, flows: int) -> ReadyTester:
    ready = with_flows(tester, flows)
    if not plan.incremental:
        return ready
    return replace(ready, ramp=_ramp(tester, flows))


def _ramp(tester: ReadyTester, flows: int) -> tuple[TrafficPlan, ...]:
    """Fewer flows than quarters have fewer steps. Where one destination port is enough for all,
    the flows of a step are among the next one's."""
    steps = sorted({flows * quarter // QUARTERS for quarter in range(1, QUARTERS)} - {0, flows})
    return tuple(with_flows(tester, step).traffic for step in steps)


def with_flows(tester: ReadyTester, flows: int) -> ReadyTester:
    """Each direction sends this many four-tuples in turn, the reverse one the same, swapped."""
    ranges = ranges_of(flows)
    source = _series(FIRST_SOURCE_PORT, ranges.source_ports)
    destination = _series(FIRST_DESTINATION_PORT, ranges.destination_ports)
    ready = tester if tester.testbed.connections is None else tester.with_connections(count=flows)
    return ready.with_traffic(
        forward=PortRanges(source_port=source, destination_port=destination).model_dump(),
        reverse=PortRanges(source_port=destination, destination_port=source).model_dump(),
        left_networks=1,
        right_networks=1,
    )


def _series(first: int, count: int) -> Series:
    return Series(mode="increasing" if count > 1 else "fixed", min=first, max=first + count - 1)


def _figures(flows: int, result: ThroughputResult, alone: ThroughputResult) -> tuple[Figure, ...]:
    at = f"{flows:,} flow{'s' if flows > 1 else ''}"
    bounds = tuple(repetition.lower_bound for repetition in result.repetitions)
    rates = tuple(float(rate_fps) for rate_fps in result.rates_fps)
    found = Figure(name=THROUGHPUT, unit="fps", at=at, values=rates, lower_bound=bounds)
    if flows == 1:
        return (found,)
    if _is_bound(result) or _is_bound(alone):
        return (found,)
    # X1 and Xn are results: repetitions of different searches have nothing in common.
    x1, xn = median(alone.rates_fps), median(rates)
    return found, Figure(name=DEGRADATION, unit="%", at=at, values=((x1 - xn) / x1 * 100,))


def _remarks(plan: OverloadPlan, traffic: TrafficSection) -> tuple[str, ...]:
    said = [
        "A flow is a four-tuple; each direction sends all of them in turn, on one pair of "
        "addresses, with the ports "
        + ", ".join(
            f"{ranges_of(flows).source_ports} x {ranges_of(flows).destination_ports}"
            for flows in plan.flows
        )
        + "."
    ]
    if traffic.m < traffic.n:
        said.append("Foreground and background have so many flows each.")
    if plan.incremental:
        said.append(
            "Each trial sends a quarter, a half, three quarters and all of the flows, each for its "
            "duration."
        )
    return tuple(said)


def _is_bound(result: ThroughputResult) -> bool:
    return result.is_lower_bound(median(result.rates_fps))


def _unknown(found: dict[int, ThroughputResult]) -> tuple[str, ...]:
    """A lower bound on either side leaves the degradation open in one direction or both."""
    if not any(_is_bound(result) for result in found.values()):
        return ()
    return ("No degradation is given where a throughput is known as a lower bound only.",)


def _too_few_frames(
    plan: OverloadPlan, traffic: TrafficSection, found: dict[int, ThroughputResult]
) -> tuple[str, ...]:
    """A trial with fewer frames of a kind than flows does not use all of this kind's."""
    mix = Mix(n=traffic.n, m=traffic.m)
    return tuple(
        f"Not all of the {flows:,} flows{of_kind} were in use: a trial at {rate_fps:,} fps has "
        f"only {frames:,} frames for them; longer trials are right."
        for flows, result in found.items()
        for rate_fps in (min(result.rates_fps),)
        for kind, of_kind in _kinds(traffic).items()
        if (frames := mix.frames_of(kind, frames_of(rate_fps, plan.search.duration_s(rate_fps))))
        < flows
    )


def _kinds(traffic: TrafficSection) -> dict[Kind, str]:
    """As said behind a number of flows, where there are two."""
    if traffic.m == traffic.n:
        return {"foreground": ""}
    return {"foreground": " of the foreground", "background": " of the background"}


def _counts(results: list[ThroughputResult]) -> TrialCounts:
    return TrialCounts.total(result.measurement().counts for result in results)
