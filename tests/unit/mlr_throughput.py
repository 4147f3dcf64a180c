"""What tests of mlr throughput share with others."""

from fractions import Fraction
from functools import partial

from natxy.procedure.mlr_throughput import MlrThroughputPlan
from natxy.search.loss_tolerance import LossTolerance
from natxy.search.mlr_goal import pdr_goal, rfc2544_goal
from natxy.trial.timing import Timing
from tests.unit.fake_engine import beyond

LASTS_S = Fraction(1, 20)


NDR = rfc2544_goal(final_duration_s=LASTS_S)


PDR = pdr_goal(LossTolerance(fraction=Fraction(1, 100)), final_duration_s=LASTS_S)


def plan(**changes: object) -> MlrThroughputPlan:
    timing = Timing(duration_s=LASTS_S, drain_s=Fraction(0))
    values: dict[str, object] = {
        "timing": timing,
        "goals": (NDR, PDR),
        "seed": 7,
        "max_rate_fps": 200_000,
    }
    return MlrThroughputPlan(**(values | changes))  # type: ignore[arg-type]


LIMIT_FPS = 50_000


limited = partial(beyond, LIMIT_FPS)
