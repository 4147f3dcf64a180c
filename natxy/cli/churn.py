"""`natxy churn`: finds the rate of new connections while a load runs, or the reverse."""

from typing import Annotated

import typer

from natxy.cli.options import VerifyLossOption, error_option, search_error
from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.churn import ChurnPlan
from natxy.procedure.churn import churn as measure
from natxy.trial.profile import PROFILES


@measuring(PROFILES, without=("networks", "foreground"))
def churn(
    options: SeriesOptions,
    load: Annotated[
        int | None,
        typer.Option(
            help="Frames a second per direction that use established connections; the rate of new "
            "connections is searched [default: searched, with --new].",
            metavar="FPS",
        ),
    ] = None,
    new: Annotated[
        int | None,
        typer.Option(
            help="New connections a second; the load of established connections is searched "
            "[default: searched, with --load].",
            metavar="CPS",
        ),
    ] = None,
    max_rate: Annotated[
        int | None,
        typer.Option(
            help="Highest rate to try [default: the media's rate, or what the ranges of ports and "
            "the gateway's table allow].",
            metavar="RATE",
        ),
    ] = None,
    error: Annotated[str | None, error_option("a number")] = None,
    verify_loss: VerifyLossOption = None,
) -> Work:
    """Find the highest rate of new connections while a given load runs, or the highest load at a
    given rate of new connections."""
    base = options.profile_of(PROFILES)
    plan = ChurnPlan(
        **options.of_plan(PROFILES),
        error=search_error(error),
        max_rate_fps=max_rate,
        load_fps=load,
        new_cps=new,
        loss_verifications=base.loss_verifications if verify_loss is None else verify_loss,
    )
    return Work(
        options=options,
        name="churn",
        measures=(planned(plan, measure),),
        check_traffic=needs_connections,
    )
