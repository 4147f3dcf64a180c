"""The tests of RFC 8219 section 7, with the formula for the degradation of each (section 10.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from natxy.model.measurement import Figure, Measurement
from natxy.procedure.back_to_back import BackToBackPlan, back_to_back
from natxy.procedure.delay_variation import IpdvPlan, PdvPlan, ipdv, pdv
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.reset import ResetPlan, reset
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.trial.session import Session

Benchmarked = (
    ThroughputPlan
    | LatencyPlan
    | PdvPlan
    | IpdvPlan
    | FrameLossPlan
    | BackToBackPlan
    | RecoveryPlan
    | ResetPlan
)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A test of RFC 8219 section 7, with its function and its formula of section 10.2.1."""

    name: str
    run: Callable[[Any, Session], Measurement]
    higher_is_better: bool = False
    starts: bool = True  # flows can start one after another before it
    searches: bool = False  # its figure is a rate that was searched for

    def is_bound(self, figure: Figure) -> bool:
        """Returns whether the result of a figure is only a bound."""
        return figure.benchmark_bound != "exact"

    def is_above_0(self, figure: Figure) -> bool:
        """Returns whether the result of a figure is above 0, also if it is wrong by its error."""
        return figure.benchmark > figure.benchmark_error

    def degradation_error(self, alone: Figure, figure: Figure) -> float:
        """Returns the largest error of the degradation, in %; `alone` is above 0.

        With X1 + d1 and Xn + dn, the ratio changes by (dn - d1 Xn / X1) / (X1 + d1).
        """
        x1, xn = alone.benchmark, figure.benchmark
        e1, en = alone.benchmark_error, figure.benchmark_error
        return (en + e1 * abs(xn) / x1) / (x1 - e1) * 100

    def degradation(self, x1: float, xn: float) -> float:
        """Returns the degradation in %; it is above 0 if n flows are worse than one."""
        return ((x1 - xn) if self.higher_is_better else (xn - x1)) / x1 * 100


BENCHMARKS: dict[type, Benchmark] = {
    ThroughputPlan: Benchmark(
        name="throughput", run=throughput, higher_is_better=True, searches=True
    ),
    LatencyPlan: Benchmark(name="latency", run=latency),
    PdvPlan: Benchmark(name="PDV", run=pdv),
    IpdvPlan: Benchmark(name="IPDV", run=ipdv),
    FrameLossPlan: Benchmark(name="frame loss rate", run=frame_loss),
    BackToBackPlan: Benchmark(
        name="back-to-back frames",
        run=back_to_back,
        higher_is_better=True,
        starts=False,
    ),
    RecoveryPlan: Benchmark(name="system recovery", run=recovery, starts=False),
    ResetPlan: Benchmark(name="reset", run=reset, starts=False),
}
