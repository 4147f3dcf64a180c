"""The figure of a procedure at several places of a series: so many cores, so many connections."""

from collections.abc import Sequence
from dataclasses import replace

from natxy.dut.base import Dut
from natxy.model.measurement import Figure, Measurement, TrialCounts
from natxy.procedure.establishment import EstablishmentPlan, establishment
from natxy.procedure.observer import Observer
from natxy.procedure.setup import ReadyTester
from natxy.procedure.throughput import ThroughputPlan, throughput

Searching = EstablishmentPlan | ThroughputPlan


def measured(
    plan: Searching, place: int, tester: ReadyTester, dut: Dut, observer: Observer
) -> Measurement:
    """Seeds differ from place to place, so that no nonce comes again."""
    seed = (plan.seed + place) % 2**63
    if isinstance(plan, EstablishmentPlan):
        return establishment(replace(plan, seed=seed), tester, dut, observer)
    return throughput(replace(plan, seed=seed), tester, dut, observer).measurement()


def figure_of(measurement: Measurement, at: str) -> Figure:
    """Its primary figure, at this place."""
    primary = next(figure for figure in measurement.figures if figure.primary)
    return primary.model_copy(update={"at": at})


def is_bound(figure: Figure) -> bool:
    return any(figure.lower_bound)


def total(counts: Sequence[TrialCounts]) -> TrialCounts:
    """Of all places together."""
    return TrialCounts.total(counts)
