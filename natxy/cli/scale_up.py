"""`natxy scale-up`: what more cores of a gateway are good for."""

from typing import Annotated

import typer

from natxy.cli.counts import numbers_of
from natxy.cli.options import LossOption
from natxy.cli.searching import searching
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.procedure.scale_up import ScaleUpPlan
from natxy.procedure.scale_up import scale_up as measure


@measuring
def scale_up(
    options: SeriesOptions,
    cores: Annotated[
        str, typer.Option(help="Cores that the device may use, in turn.", metavar="LIST")
    ] = "1,2",
    of: Annotated[
        str, typer.Option("--of", help="establishment, validated or throughput.", metavar="FIGURE")
    ] = "throughput",
    error: Annotated[
        str | None, typer.Option(help="Where each search ends: 0.1% or 100.", metavar="ERROR")
    ] = None,
    max_rate: Annotated[
        int | None, typer.Option(help="The highest rate to try.", metavar="FPS")
    ] = None,
    loss: LossOption = None,
) -> None:
    """Measure the scale up with the device's cores (RFC 9693)."""
    plan = ScaleUpPlan(
        search=searching(options, of, error=error, max_rate=max_rate, loss=loss),
        cores=numbers_of("--cores", cores),
    )
    run_series(options, "scale-up", lambda tester, dut, seen: measure(plan, tester, dut, seen))
