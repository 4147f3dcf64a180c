"""The rate of a measurement: the throughput, which is measured first, or a given rate."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.measure.networks import without_networks
from natxy.measure.plan import Plan
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.statistics import median
from natxy.trial.observer import Observer
from natxy.trial.seeds import repetition_seed
from natxy.trial.setup import ReadyTester

SEARCH_S = Fraction(60)  # longest trial of the search (RFC 2544 section 24)


@dataclass(frozen=True, kw_only=True)
class RatePlan(Plan):
    """The options of a measurement at one rate, checked when the plan is created."""

    rate_option: ClassVar[str] = "--rate"

    rate_fps: int | None = None  # per direction; None: the throughput, which is measured first
    search: ThroughputPlan | None = None  # its search; None: one repetition with this timing
    invalid_repeats: int = 10
    records: bool = False  # record every frame, to the pipe with which the tester was set up

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate_fps is not None:
            self.timing.check_rate(self.rate_option, self.rate_fps)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The rate of a measurement, per direction, and its origin."""

    fps: int
    found: str = ""  # how it was found: "found first: ..."; empty: it was given
    lower_bound: bool = False  # the gateway's throughput is at least this rate
    deviations: tuple[str, ...] = ()  # deviations of the search from RFC 2544

    @property
    def search_deviations(self) -> tuple[str, ...]:
        """The deviations of the search as one deviation of the procedure that uses its result."""
        return (f"a throughput with {', '.join(self.deviations)}",) if self.deviations else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        if not self.found:
            return ("The rate was given.",)
        how = f"The rate is the throughput, {self.found}."
        bound = (
            "It is a lower bound of the throughput: trials above it stayed invalid, or it is the "
            "highest rate that the search may try."
        )
        return (how, bound) if self.lower_bound else (how,)


def rate_of(plan: RatePlan, tester: ReadyTester, dut: Dut, observer: Observer) -> Rate:
    if plan.rate_fps is not None:
        return Rate(fps=plan.rate_fps)
    timing = replace(plan.timing, duration_s=min(plan.timing.duration_s, SEARCH_S))
    search = plan.search or ThroughputPlan(timing=timing, seed=plan.seed, repetitions=1)
    search = replace(search, seed=repetition_seed(plan.seed, 0))
    return found_rate(search, plan.rate_option, tester, dut, observer)


def rate_deviations(plan: RatePlan, rate: Rate) -> tuple[str, ...]:
    """Returns the deviations of a rate: RFC 8219 section 7 and RFC 2544 section 26.6 require the
    throughput itself."""
    if plan.rate_fps is not None:
        return ("a given rate, not the measured throughput",)
    bound = ("at a lower bound of the throughput",) if rate.lower_bound else ()
    return (*rate.search_deviations, *bound)


def found_rate(
    search: ThroughputPlan, option: str, tester: ReadyTester, dut: Dut, observer: Observer
) -> Rate:
    """Measures the throughput; returns the median of its repetitions, rounded down to a whole rate.

    `search` has another seed than the measurement that uses the rate, so that it draws other ports.
    `option` gives the rate of that measurement.
    """
    found = throughput(search, tester, dut, observer)
    figure = found.figures[0]
    rate_fps = int(median(figure.values))
    if rate_fps == 0:
        raise DutError(
            f"{found.conditions.dut} loses frames at every rate, so there is no throughput to "
            f"measure at; set {option}"
        )
    count = len(figure.values)
    return Rate(
        fps=rate_fps,
        found=f"found first: {count} search{'es' * (count > 1)}, trials of "
        f"{float(search.timing.duration_s):g} s, error {search.error}"
        f"{found.counts.invalid_clause}",
        lower_bound=figure.is_lower_bound(rate_fps),
        deviations=without_networks(found.deviations),
    )
