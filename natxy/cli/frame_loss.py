"""`natxy frame-loss`: measures the frame loss rate over the offered rate."""

from fractions import Fraction
from typing import Annotated

import typer

from natxy.cli.options import loss_tolerance
from natxy.cli.rates import rates_of
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.procedure.frame_loss import PROFILES, FrameLossPlan
from natxy.procedure.frame_loss import frame_loss as measure

LOWEST_STEP_PERCENT, HIGHEST_STEP_PERCENT = Fraction(1, 10), 10  # a plan's, which are shares


@measuring(PROFILES)
def frame_loss(
    options: SeriesOptions,
    max_rate: Annotated[
        int | None,
        typer.Option(
            help="Rate of 100 %, in frames a second per direction [default: the media's rate].",
            metavar="FPS",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            help="Difference between two rates of the series, in % of the maximum [default: 10].",
            metavar="PERCENT",
        ),
    ] = None,
    rates: Annotated[
        str | None,
        typer.Option(
            help="Rates to measure instead of the series, in frames a second: a list such as "
            "1000,2000 or FIRST:LAST:STEP such as 1000:10000:1000.",
            metavar="FPS",
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="End the series when two successive rates lose at most this share of the frames, "
            "for example 0.01% [default: no loss].",
            metavar="PERCENT",
        ),
    ] = None,
) -> None:
    """Measure the frame loss rate over the offered rate (RFC 2544 section 26.3)."""
    if rates is not None and (max_rate is not None or step is not None):
        raise ConfigurationError(
            "--rates: is not possible with --max-rate or --step (expected either the rates "
            "themselves or the series that these two options make)"
        )
    base = options.profile_of(PROFILES)
    plan = FrameLossPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        max_rate_fps=max_rate,
        step=(Fraction(10) if step is None else _step_percent(step)) / 100,
        rates_fps=rates_of(rates),
        loss=loss_tolerance(loss),
    )
    run_series(options, "frame-loss", lambda tester, dut, seen: measure(plan, tester, dut, seen))


def _step_percent(step: float) -> Fraction:
    """Returns the step in percent; the plan has it as a share, which its errors would name."""
    percent = exact("--step", step)
    if not LOWEST_STEP_PERCENT <= percent <= HIGHEST_STEP_PERCENT:
        raise ConfigurationError(
            f"--step: {step:g} is out of range (expected {float(LOWEST_STEP_PERCENT):g} to "
            f"{HIGHEST_STEP_PERCENT})"
        )
    return percent
