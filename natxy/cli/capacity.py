"""`natxy capacity`: measures how many connections a stateful gateway's table holds."""

from dataclasses import replace
from typing import Any

from natxy.cli.series import Planned, Work, needs_connections
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions, measuring
from natxy.model.testbed import Testbed
from natxy.procedure.capacity import PROFILES, CapacityPlan
from natxy.procedure.capacity import capacity as measure
from natxy.search.capacity_goal import CapacityGoal


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
    options.defaults.plan(CapacityPlan, **own)  # checks it

    def plan(testbed: Testbed) -> CapacityPlan:
        of_testbed = replace(options.defaults, connections=testbed.connections)
        return of_testbed.plan(CapacityPlan, **own)

    return Work(
        options=options,
        name="capacity",
        measures=(Planned(plan, measure),),
        check_traffic=needs_connections,
    )
