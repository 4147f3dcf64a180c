"""Overload scalability: how a figure degrades with more network flows (RFC 8219 section 10).

Behind a gateway of IPv4-as-a-Service, the number may be that of subscribers instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError, DutError
from natxy.exact import check_settings
from natxy.measure.flows import (
    FLOWS,
    INCREMENTAL,
    SUBSCRIBERS,
    check_parts,
    group_deviations,
    group_remarks,
    ramp_of,
    ranges_of,
    unused_flows,
    unused_in_parts,
    with_flows,
    with_subscribers,
)
from natxy.measure.plan import check_members, frame_formats
from natxy.measure.traffic_deviations import flow_deviations
from natxy.model.deviation import Deviations, each_once, without
from natxy.model.measurement import Conditions, Figure, Measurement, TrialCounts
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.testbed import TrafficSection
from natxy.procedure.benchmarks import BENCHMARKS, Benchmark, Benchmarked
from natxy.setting import Setting
from natxy.statistics import median
from natxy.trial.session import Session
from natxy.trial.timing import LONGEST_S

DEGRADATION = "degradation"
STEP = Setting(
    "step_s",
    (
        *("With ", INCREMENTAL, ": seconds between the starts of two flows. A drain follows each "),
        "quarter of the flows",
    ),
    "S",
    default="each quarter is sent for a trial's duration",
    lowest=Fraction(1, 10**6),
    highest=LONGEST_S,
)


@dataclass(frozen=True, kw_only=True)
class OverloadPlan:
    """The options of a measurement, checked when the plan is created.

    `test` is measured with one flow, and with each number of `flows`. With `incremental`, each
    trial first sends a quarter, a half and three quarters of the flows, which must not lose a
    frame, with a drain after each of these parts. `step_s` is the time between the starts of two
    flows, without the drains; by default, each part lasts as long as the trial.

    With `subscribers`, `test` is measured with one subscriber of the testbed, and with each of
    these numbers.
    """

    test: Benchmarked
    flows: Annotated[tuple[int, ...], FLOWS] = ()
    subscribers: Annotated[tuple[int, ...], SUBSCRIBERS] = ()
    incremental: Annotated[bool, INCREMENTAL] = False
    step_s: Annotated[Fraction | None, STEP] = None

    def __post_init__(self) -> None:
        check_members(self, test=Benchmarked)
        if self.subscribers:
            self._check_subscribers()
        elif not self.flows:
            raise ConfigurationError(FLOWS, ": is empty (expected a list such as 10,100,1000)")
        for flows in self.flows:
            ranges_of(flows)
            if self.incremental:
                check_parts(flows)
        if self.incremental and not self.benchmark.starts:
            raise ConfigurationError(
                INCREMENTAL,
                f": is not possible with {self.benchmark.name}, which has its own rates or resets "
                "(expected simultaneous load)",
            )
        if self.step_s is not None and not self.incremental:
            raise ConfigurationError(STEP, ": needs ", INCREMENTAL, " (expected both, or neither)")
        check_settings(self)

    def _check_subscribers(self) -> None:
        for setting, given in ((FLOWS, self.flows), (INCREMENTAL, self.incremental)):
            if given:
                raise ConfigurationError(
                    setting, ": is not possible with ", SUBSCRIBERS, " (expected one of them)"
                )

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of flows, or of subscribers."""
        return self.flows or self.subscribers

    @property
    def noun(self) -> str:
        return "flow" if self.flows else "subscriber"

    def counted(self, number: int) -> str:
        return f"{number:,} {self.noun}{'s' if number > 1 else ''}"

    @property
    def benchmark(self) -> Benchmark:
        return BENCHMARKS[type(self.test)]


def overload(plan: OverloadPlan, session: Session) -> Measurement:
    """Measures the test's figures for each number, and their degradation against one."""
    numbers = (1, *(number for number in plan.numbers if number != 1))
    ready = {number: _of(plan, session, number) for number in numbers}  # or none is measured
    found = {number: _measured(plan, number, ready[number]) for number in numbers}
    alone = found[1]
    traffic = session.testbed.traffic
    degraded = tuple(
        each for number, result in found.items() for each in _figures(plan, number, result, alone)
    )
    return Measurement(
        procedure="overload",
        title=f"Overload scalability of {plan.benchmark.name}, "
        f"{'incremental' if plan.incremental else 'simultaneous'} load",
        reference=f"RFC 8219 section 10.2.{2 if plan.incremental else 1}",
        conditions=_conditions(plan, ready, found),
        deviations=_deviations(plan, ready, found),
        remarks=(
            *_remarks(plan, traffic, degraded),
            *_left_open(plan, degraded),
            *_unused(plan, traffic, found),
            *_wrong_by(degraded),
            *(each for each in _of_tests(plan, found) if _is_told(plan, each)),
        ),
        figures=degraded,
        counts=TrialCounts.total(result.counts for result in found.values()),
    )


def _deviations(
    plan: OverloadPlan, ready: Mapping[int, Session], found: Mapping[int, Measurement]
) -> Deviations:
    """Returns the deviations of the test, without those of flows, which the series varies."""
    said = each_once(
        without(result.deviations, flow_deviations(ready[number]) if plan.flows else ())
        for number, result in found.items()
    )
    return (*said, *(group_deviations(plan.flows) if plan.incremental else ()))


def _measured(plan: OverloadPlan, number: int, session: Session) -> Measurement:
    """Returns the result for a number; raises DutError if the rate of one flow is 0.

    Seeds differ between numbers, so that other subscribers, for example, are drawn for each.
    """
    test = replace(plan.test, seed=(plan.test.seed + number) % 2**63)
    result = plan.benchmark.run(test, session)
    if plan.benchmark.searches and number == 1 and not median(result.figures[0].values):
        raise DutError(
            f"{result.conditions.dut} loses frames of a single {plan.noun} at every rate, so there "
            "is no figure to compare with (X1 is 0)."
        )
    return result


def _conditions(
    plan: OverloadPlan, ready: dict[int, Session], found: dict[int, Measurement]
) -> Conditions:
    """Returns the conditions that all numbers share.

    The number of connections is that of flows and differs from line to line. The rate is stated if
    it is the same for all.
    """
    of = found[1].conditions
    rates = {result.conditions.rate_fps for result in found.values()}
    changed: dict[str, object] = {"seed": plan.test.seed}
    changed["rate_fps"] = of.rate_fps if len(rates) == 1 else None
    if plan.subscribers:
        changed["formats"] = frame_formats(ready[max(ready)].traffic, up_to=True)
    if of.search is not None:
        changed["search"] = of.search.model_copy(update={"error_fps": None})
    if of.connections is not None:
        several: dict[str, object] = {"ranges": f"all {plan.noun}s'"}
        if plan.flows:
            several["count"] = None
        changed["connections"] = of.connections.model_copy(update=several)
    return of.model_copy(update=changed)


def _of(plan: OverloadPlan, session: Session, number: int) -> Session:
    if plan.subscribers:
        return with_subscribers(session, number)
    ready = with_flows(session, number)
    if not plan.incremental:
        return ready
    return replace(ready, ramp=ramp_of(session, number, plan.step_s))


def _figures(
    plan: OverloadPlan, number: int, result: Measurement, alone: Measurement
) -> tuple[Figure, ...]:
    """Returns each figure at its number, followed by its degradation."""
    found_fps, at = _found_fps(plan, result), plan.counted(number)
    return tuple(
        each.model_copy(
            update={
                "at": f"{at}, {figure.at}" if figure.at else at,
                "at_value": number,
                "at_unit": f"{plan.noun}s",
                "rate_fps": figure.rate_fps or found_fps,
                "found": f"at {found_fps:,} fps" if found_fps else "",
            }
        )
        for figure in result.figures
        for each in (figure, *(() if number == 1 else _degradation(plan, figure, alone)))
    )


def _found_fps(plan: OverloadPlan, result: Measurement) -> int | None:
    """Returns the rate of a result if it was found for its number."""
    return result.conditions.rate_fps if plan.test.finds_rate else None


def _degradation(plan: OverloadPlan, figure: Figure, alone: Measurement) -> tuple[Figure, ...]:
    """Returns the degradation of a figure; empty if a figure is a bound, or if X1 may not be above
    0.

    X1 and Xn are averages over repetitions, since single repetitions cannot be compared.
    """
    same = [
        each
        for each in alone.figures
        if (each.name, each.direction, each.at) == (figure.name, figure.direction, figure.at)
    ]
    if (
        not figure.primary
        or not same
        or not (figure.values and same[0].values)
        or plan.benchmark.is_bound(figure)
        or plan.benchmark.is_bound(same[0])
    ):
        return ()
    if not plan.benchmark.is_above_0(same[0]):
        return ()
    x1, xn = same[0].benchmark, figure.benchmark
    error = plan.benchmark.degradation_error(same[0], figure)
    return (
        figure.model_copy(
            update={
                "name": f"{DEGRADATION} of {figure.name}",
                "unit": "%",
                "values": (plan.benchmark.degradation(x1, xn),),
                **dict.fromkeys(("lower_bound", "upper_bound"), ()),
                "errors": (error,) if figure.errors or same[0].errors else (),
            }
        ),
    )


def _remarks(
    plan: OverloadPlan, traffic: TrafficSection, figures: tuple[Figure, ...]
) -> Iterator[Remark]:
    formula = "(X1 - Xn) / X1" if plan.benchmark.higher_is_better else "(Xn - X1) / X1"
    if any(map(_is_degradation, figures)):
        test = plan.benchmark.name
        yield Remark.of(Topic.DEGRADATION, formula=formula, unit=plan.noun, test=test)
    if plan.subscribers:
        yield Remark.of(Topic.SUBSCRIBERS)
        return
    yield Remark.of(Topic.FLOWS, ports=tuple(str(ranges_of(flows)) for flows in plan.flows))
    if traffic.has_background:
        yield Remark.of(Topic.FLOWS_OF_KINDS)
    if plan.incremental:
        yield from group_remarks(plan.flows, plan.step_s, plan.test.timing)


def _left_open(plan: OverloadPlan, figures: tuple[Figure, ...]) -> Iterator[Remark]:
    """Yields why some figures have no degradation."""
    primary = [f for f in figures if f.primary and f.values and not _is_degradation(f)]
    if any(plan.benchmark.is_bound(figure) for figure in primary):
        yield Remark.of(Topic.BOUND_DOES_NOT_DEGRADE)
    if not all(plan.benchmark.is_above_0(f) for f in primary if f.at_value == 1):
        yield Remark.of(Topic.ZERO_DOES_NOT_DEGRADE, unit=plan.noun)


def _wrong_by(figures: tuple[Figure, ...]) -> Iterator[Remark]:
    """Yields the largest error of a degradation, if it is not 0."""
    errors = [error for each in figures if _is_degradation(each) for error in each.errors]
    if any(errors):
        yield Remark.of(Topic.DEGRADATION_ERROR, error_points=max(errors))


def _is_degradation(figure: Figure) -> bool:
    return figure.name.startswith(DEGRADATION)


def _is_told(plan: OverloadPlan, remark: Remark) -> bool:
    """Tells whether a remark of a test is one of the series: errors, the definition of a delay and
    the origin of a rate are; of searches, only which repetitions are lacking."""
    return not plan.benchmark.searches or "lacking" in remark.facts


def _of_tests(plan: OverloadPlan, found: dict[int, Measurement]) -> Remarks:
    """Returns the remarks of the tests: first those that all numbers have."""
    first, *others = (result.remarks for result in found.values())
    shared = [said for said in first if all(str(said) in map(str, all_of) for all_of in others)]
    own = [
        said.at(plan.counted(number))
        for number, result in found.items()
        for said in result.remarks
        if str(said) not in map(str, shared)
    ]
    return (*shared, *own)


def _unused(
    plan: OverloadPlan, traffic: TrafficSection, found: dict[int, Measurement]
) -> Iterator[Remark]:
    """Yields remarks about trials, and parts of them, in which not all flows were used."""
    for number, result in found.items():
        sent = plan.test.sent(result)
        yield from unused_flows(sent, number, traffic, f"{plan.noun}s")
        if plan.incremental:
            yield from unused_in_parts(sent, number, plan.step_s, traffic)
