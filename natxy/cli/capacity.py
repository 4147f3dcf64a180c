"""`natxy capacity`: measures how many connections a stateful gateway's table holds."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.options import max_rate_option, search_error
from natxy.cli.series import Planned, Work, needs_connections
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions, measuring
from natxy.exact import exact
from natxy.model.testbed import ConnectionsSection, Testbed
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.procedure.capacity import PROFILES, CapacityPlan
from natxy.procedure.capacity import capacity as measure
from natxy.procedure.establishment_search import DEFAULT_ALPHA
from natxy.search.capacity_goal import FIRST_CPS, CapacityGoal


@measuring(PROFILES, without=(*OF_PHASE_2, "networks"))
def capacity(
    options: SeriesOptions,
    c0: Annotated[
        int | None,
        typer.Option(
            help="C0: connections that the table certainly holds, with which the search begins "
            "[default: count in the testbed's [connections]].",
            metavar="N",
        ),
    ] = None,
    error: Annotated[
        int,
        typer.Option(
            help="E: end the search when the capacity is bounded to within N connections.",
            metavar="N",
        ),
    ] = 1,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Rate of validation, as a share of phase 1's rate [default: 0.5].",
            metavar="SHARE",
        ),
    ] = None,
    beta: Annotated[
        float,
        typer.Option(
            help="Fail a step of the exponential search if its establishment rate falls below "
            "RATIO times the previous step's.",
            metavar="RATIO",
        ),
    ] = 0.2,
    gamma: Annotated[
        float,
        typer.Option(
            help="Fail a step of the final search if its establishment rate falls below RATIO "
            "times that of the last step that passed in the exponential search.",
            metavar="RATIO",
        ),
    ] = 0.4,
    rate_error: Annotated[
        str | None,
        typer.Option(
            help="End the search for a step's establishment rate when this rate is known to within "
            "this error: a share of the rate, or connections a second [default: 5%; quick: 20%].",
            metavar="ERROR",
        ),
    ] = None,
    first_rate: Annotated[
        int | None,
        typer.Option(
            help="First rate of the search for R0, in connections a second [default: rate_fps in "
            "the testbed's [connections], or 1000].",
            metavar="CPS",
        ),
    ] = None,
    max_rate: Annotated[
        int | None, max_rate_option("connections a second", default="no limit")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            help="Largest number of connections to try [default: 4294967296].", metavar="N"
        ),
    ] = None,
) -> Work:
    """Find the connection tracking table capacity (RFC 9693)."""
    base = options.profile_of(PROFILES)
    validation_share = DEFAULT_ALPHA if alpha is None else exact("--alpha", alpha)
    goal = CapacityGoal(  # checked before a lab is made for it
        c0=1 if c0 is None else c0,
        error=error,
        beta=exact("--beta", beta),
        gamma=exact("--gamma", gamma),
        first_cps=FIRST_CPS if first_rate is None else first_rate,
        rate_error=base.rate_error if rate_error is None else search_error(rate_error),
        max_cps=MAX_RATE_FPS if max_rate is None else max_rate,
        most=MAX_CONNECTIONS if most is None else most,
    )

    def plan(testbed: Testbed) -> CapacityPlan:
        asked = testbed.connections or ConnectionsSection(count=goal.c0)  # or it is refused
        return CapacityPlan(
            **options.of_plan(PROFILES),
            goal=replace(
                goal,
                c0=asked.count if c0 is None else c0,
                first_cps=(asked.rate_fps or FIRST_CPS) if first_rate is None else first_rate,
            ),
            alpha=validation_share,
        )

    return Work(
        options=options,
        name="capacity",
        measures=(Planned(plan, measure),),
        check_traffic=needs_connections,
    )
