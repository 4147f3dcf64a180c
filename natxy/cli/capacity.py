"""`natxy capacity`: how many connections a stateful gateway's table takes."""

from typing import Annotated

import typer

from natxy.cli.options import search_error
from natxy.cli.series import OF_PHASE_2, SeriesOptions, measuring_without, run_series
from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.procedure.capacity import PROFILES, CapacityPlan
from natxy.procedure.capacity import capacity as measure
from natxy.procedure.establishment import DEFAULT_ALPHA
from natxy.procedure.series_of_tables import connections_of
from natxy.search.capacity import FIRST_CPS, CapacityGoal


@measuring_without(*OF_PHASE_2, "networks")
def capacity(
    options: SeriesOptions,
    c0: Annotated[
        int | None,
        typer.Option(help="Connections that are surely taken; None: the testbed's.", metavar="N"),
    ] = None,
    error: Annotated[int, typer.Option(help="E, in connections.", metavar="N")] = 1,
    alpha: Annotated[
        float | None,
        typer.Option(help="Validation's rate, as a share of phase 1's.", metavar="ALPHA"),
    ] = None,
    beta: Annotated[
        float, typer.Option(help="A rate below this share of the last step's fails.")
    ] = 0.2,
    gamma: Annotated[float, typer.Option(help="The same, in the final search.")] = 0.4,
    rate_error: Annotated[
        str | None, typer.Option(help="Of rates within a step: 5% or 100.", metavar="ERROR")
    ] = None,
    first_rate: Annotated[
        int | None,
        typer.Option(
            help="Where the search for R0 begins; None: at phase 1's rate, or at 1000.",
            metavar="CPS",
        ),
    ] = None,
    max_rate: Annotated[
        int | None, typer.Option(help="The highest rate to try.", metavar="CPS")
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="Connections to try at most.", metavar="N")
    ] = None,
) -> None:
    """Find the connection tracking table capacity (RFC 9693)."""
    base = options.profile_of(PROFILES)
    for option, number in (("--c0", c0), ("--error", error), ("--most", most)):
        if number is not None and number < 1:  # refused before a lab is made for it
            raise ConfigurationError(f"{option}: {number} is out of range (expected 1 or more)")
    validation_share = DEFAULT_ALPHA if alpha is None else exact("--alpha", alpha)

    def plan(asked: ConnectionsSection) -> CapacityPlan:
        return CapacityPlan(
            timing=options.timing(base.timing),
            seed=options.seed_value,
            repetitions=options.repetitions_of(base),
            goal=_goal(asked),
            alpha=validation_share,
        )

    def _goal(asked: ConnectionsSection) -> CapacityGoal:
        return CapacityGoal(
            c0=asked.count if c0 is None else c0,
            error=error,
            beta=exact("--beta", beta),
            gamma=exact("--gamma", gamma),
            first_cps=(asked.rate_fps or FIRST_CPS) if first_rate is None else first_rate,
            rate_error=base.rate_error if rate_error is None else search_error(rate_error),
            max_cps=MAX_RATE_FPS if max_rate is None else max_rate,
            most=MAX_CONNECTIONS if most is None else most,
        )

    run_series(
        options,
        "capacity",
        lambda tester, dut, seen: measure(plan(connections_of(tester)), tester, dut, seen),
    )
