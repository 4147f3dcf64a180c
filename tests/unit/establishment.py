"""The establishment rate of a gateway that is arithmetic."""

from fractions import Fraction
from typing import Any

from natxy.dut.base import TableParameters
from natxy.model.measurement import Measurement
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

PLAN = EstablishmentPlan(
    timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    seed=7,
    repetitions=1,
    error=SearchError(rate_fps=1),
)
HALF = Fraction(1, 2)


def measure(
    gateway: StatefulGateway,
    plan: EstablishmentPlan = PLAN,
    *,
    known: TableParameters | None = None,
    observer: Observer | None = None,
    engine: dict[str, Any] | None = None,
    **connections: Any,
) -> Measurement:
    engine_of = FakeEngine(gateway=gateway, **(engine or {}))
    dut = StatefulDut(gateway=gateway, known=known or TableParameters())
    return establishment(plan, engine_of.session(traffic_plan(connections), dut, observer))
