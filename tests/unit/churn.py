"""New connections beside a load, measured of a gateway that is arithmetic."""

from fractions import Fraction
from typing import Any

from natxy.dut.base import TableParameters
from natxy.model.measurement import Measurement
from natxy.procedure.churn import ChurnPlan, churn
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

RANGES = {
    "source_port": {"mode": "pseudorandom", "min": 10_000, "max": 19_999},
    "destination_port": {"mode": "pseudorandom", "min": 1, "max": 100},
}
PLAN = ChurnPlan(
    timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    seed=7,
    repetitions=1,
    error=SearchError(rate_fps=1),
    load_fps=8000,
)


def measure(
    plan: ChurnPlan,
    gateway: StatefulGateway,
    entries: int | None = None,
    connections: dict[str, Any] | None = None,
    **traffic: Any,
) -> Measurement:
    asked = {"rate_fps": 10_000} | (connections or {})
    planned = traffic_plan(asked, **({"forward": RANGES} | traffic))
    dut = StatefulDut(gateway=gateway, known=TableParameters(entries=entries))
    return churn(plan, FakeEngine(gateway=gateway).session(planned, dut))
