"""`natxy scale-up`: measures how a figure grows with the number of the gateway's cores."""

from typing import Annotated

import typer

from natxy.cli.options import LossOption, MaxRateOption, numbers_of
from natxy.cli.searching import ErrorOption, FigureOption, searching
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.scale_up import ScaleUpPlan
from natxy.procedure.scale_up import scale_up as measure
from natxy.trial.profile import PROFILES


@measuring(PROFILES)
def scale_up(
    options: SeriesOptions,
    cores: Annotated[
        str,
        typer.Option(help="Numbers of cores that the gateway uses, in turn.", metavar="LIST"),
    ] = "1,2",
    of: FigureOption = "throughput",
    error: ErrorOption = None,
    max_rate: MaxRateOption = None,
    loss: LossOption = None,
) -> Work:
    """Measure how a figure grows with the gateway's cores (RFC 9693)."""
    plan = ScaleUpPlan(
        search=searching(options, of, error=error, max_rate=max_rate, loss=loss),
        cores=numbers_of("--cores", cores),
    )
    return Work(options=options, name="scale-up", measures=(planned(plan, measure),))
