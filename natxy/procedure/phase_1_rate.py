"""The default rate of phase 1: a safe share of the establishment rate, which is measured first."""

from dataclasses import replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observer
from natxy.trial.seeds import repetition_seed
from natxy.trial.setup import ReadyTester, name_of
from natxy.trial.timing import Timing

SAFE = Fraction(1, 2)  # share of the highest rate at which no connection is lost
COARSE = SearchError(fraction=Fraction(1, 20))
SEARCH = -2  # gives a seed that no repetition has, so that its trials draw other ports


def with_phase_1_rate(
    tester: ReadyTester, dut: Dut, timing: Timing, *, seed: int, observer: Observer
) -> ReadyTester:
    """Returns the tester with a phase 1 rate; unchanged if it has one, or has no connections."""
    asked = tester.traffic.connections
    if asked is None or asked.rate_fps is not None:
        return tester
    plan = phase_1_search(timing, seed=seed)
    found = establishment(plan, tester, dut, observer)
    found_cps = int(found.figures[0].values[0])
    rate_fps = int(found_cps * SAFE)
    if not rate_fps:
        raise DutError(
            f"{name_of(dut)} loses connections at every rate, so there is no rate for phase 1; "
            "set --establishment-rate"
        )
    clause = found.counts.invalid_clause
    origin = f"half of the establishment rate, {found_cps:,}, found first{clause}"
    return replace(tester.with_connections(rate_fps=rate_fps), phase_1_origin=origin)


def phase_1_search(timing: Timing, *, seed: int) -> EstablishmentPlan:
    """Returns the plan of the search for the highest rate at which no connection is lost."""
    return EstablishmentPlan(
        timing=replace(timing, frame_timeout_s=Fraction(0)),
        seed=repetition_seed(seed, SEARCH),
        repetitions=1,
        error=COARSE,
    )
