"""Phase 1's rate where nobody gives one: a safe fraction of the establishment rate, found first."""

from dataclasses import replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.procedure.establishment import EstablishmentPlan, establishment
from natxy.procedure.observer import Observer
from natxy.procedure.seeds import repetition_seed
from natxy.procedure.setup import ReadyTester, name_of
from natxy.procedure.timing import Timing
from natxy.search.bisection import SearchError

SAFE = Fraction(1, 2)  # of the rate at which just no connection is lost
COARSE = SearchError(fraction=Fraction(1, 20))
SEARCH = -2  # its seed is that of no repetition, so that no nonce comes again


def with_phase_1_rate(
    tester: ReadyTester, dut: Dut, timing: Timing, *, seed: int, observer: Observer
) -> ReadyTester:
    """As it is where the testbed gives a rate, or has no connections."""
    asked = tester.traffic.connections
    if asked is None or asked.rate_fps is not None:
        return tester
    plan = EstablishmentPlan(
        timing=replace(timing, frame_timeout_s=Fraction(0)),
        seed=repetition_seed(seed, SEARCH),
        repetitions=1,
        error=COARSE,
    )
    found_cps = int(establishment(plan, tester, dut, observer).figures[0].values[0])
    rate_fps = int(found_cps * SAFE)
    if not rate_fps:
        raise DutError(
            f"{name_of(dut)} loses connections at every rate: there is none for phase 1; "
            "--establishment-rate gives one"
        )
    origin = f"half of the establishment rate, {found_cps:,}, found first"
    return replace(tester.with_connections(rate_fps=rate_fps), phase_1_origin=origin)
