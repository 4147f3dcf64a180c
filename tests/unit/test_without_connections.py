"""No measurement of phase 2 has figures where the gateway has lost the connections of phase 1."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import MeasurementError
from natxy.model.measurement import Measurement
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.timing import Timing
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway

GIVEN: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20)),
    "seed": 7,
    "repetitions": 1,
}
COARSE = SearchError(rate_fps=1000)  # the lowest rates have too few frames to tell
GOAL = rfc2544_goal(final_duration_s=Fraction(1, 10))
PROCEDURES: dict[str, tuple[Callable[..., Measurement], Any]] = {
    "throughput": (throughput, ThroughputPlan(max_rate_fps=5000, error=COARSE, **GIVEN)),
    "mlr": (mlr_throughput, MlrThroughputPlan(goals=(GOAL,), max_rate_fps=5000, **GIVEN)),
    "frame loss": (frame_loss, FrameLossPlan(rates_fps=(5000,), **GIVEN)),
    "recovery": (recovery, RecoveryPlan(rate_fps=5000, **GIVEN)),
    "pdv": (pdv, PdvPlan(rate_fps=5000, **GIVEN)),
}


@pytest.mark.parametrize("name", PROCEDURES)
def test_connections_that_are_gone_are_no_loss_of_the_rates(name: str) -> None:
    procedure, plan = PROCEDURES[name]
    gateway = StatefulGateway(flushes=True, counts_replies=True)
    session = FakeEngine(gateway=gateway).session(traffic_plan({}))
    with pytest.raises(MeasurementError, match="connections"):
        procedure(plan, session)
