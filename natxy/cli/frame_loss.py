"""`natxy frame-loss`: how much is lost at which rate."""

from fractions import Fraction
from typing import Annotated

import typer

from natxy.cli.options import loss_tolerance, seconds
from natxy.cli.rates import rates_of
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.errors import ConfigurationError
from natxy.procedure.frame_loss import PROFILES, FrameLossPlan
from natxy.procedure.frame_loss import frame_loss as measure


@measuring
def frame_loss(
    options: SeriesOptions,
    max_rate: Annotated[
        int | None, typer.Option(help="What 100 % is, if not the media's rate.", metavar="FPS")
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            help="From rate to rate, in % of the maximum [default: 10].", metavar="PERCENT"
        ),
    ] = None,
    rates: Annotated[
        str | None,
        typer.Option(help="1000,2000 or 1000:10000:1000 instead of the series.", metavar="FPS"),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Share of the frames, 0.01%: the series ends where no more are lost.",
            metavar="PERCENT",
        ),
    ] = None,
) -> None:
    """Measure the frame loss rate over the load (RFC 2544 section 26.3)."""
    if rates is not None and (max_rate is not None or step is not None):
        raise ConfigurationError(
            "--rates: is instead of the series that --max-rate and --step make, one or the other "
            "is right"
        )
    base = options.profile_of(PROFILES)
    plan = FrameLossPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        max_rate_fps=max_rate,
        step=seconds("--step", step, Fraction(10)) / 100,
        rates_fps=rates_of(rates),
        loss=loss_tolerance(loss),
    )
    run_series(options, "frame-loss", lambda tester, dut, seen: measure(plan, tester, dut, seen))
