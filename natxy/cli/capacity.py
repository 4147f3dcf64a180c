"""`natxy capacity`: measures how many connections a stateful gateway's table holds."""

from typing import Any

from natxy.cli.series import Planned, Work, needs_connections
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions, measuring
from natxy.model.testbed import Testbed
from natxy.procedure.capacity import PROFILES, CapacityPlan
from natxy.procedure.capacity import capacity as measure
from natxy.search.capacity_goal import FIRST_CPS, CapacityGoal
from natxy.setting import settings_of

OF_GOAL = {field.name for field, _ in settings_of(CapacityGoal)}


@measuring(
    PROFILES,
    [CapacityPlan, CapacityGoal],
    *("c0", "error", "alpha", "beta", "gamma", "rate_error", "first_cps", "max_cps", "most"),
    without=(*OF_PHASE_2, "networks"),
)
def capacity(options: SeriesOptions, **own: Any) -> Work:
    """Find the connection tracking table capacity (RFC 9693).

    Examples:
        natxy capacity nat.toml --profile quick
        natxy capacity nat.toml --c0 10k --most 1M
        natxy capacity nat.toml --error 100
    """
    of_goal = {name: own.pop(name) for name in OF_GOAL if name in own}
    of_goal.setdefault("rate_error", options.profile_of(PROFILES).rate_error)
    options.plan(CapacityPlan, PROFILES, goal=_goal(of_goal, 1, FIRST_CPS), **own)  # checks it

    def plan(testbed: Testbed) -> CapacityPlan:
        asked = testbed.connections  # or it is refused
        goal = _goal(of_goal, asked.count if asked else 1, (asked and asked.rate_fps) or FIRST_CPS)
        return options.plan(CapacityPlan, PROFILES, goal=goal, **own)

    return Work(
        options=options,
        name="capacity",
        measures=(Planned(plan, measure),),
        check_traffic=needs_connections,
    )


def _goal(given: dict[str, Any], c0: int, first_cps: int) -> CapacityGoal:
    return CapacityGoal(**{"c0": c0, "first_cps": first_cps, **given})
