"""`natxy frame-loss`: measures the frame loss rate at each offered rate."""

import re
from typing import Annotated

import typer

from natxy.cli.options import loss_tolerance, words_of
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.procedure.frame_loss import HIGHEST_STEP, PROFILES, FrameLossPlan
from natxy.procedure.frame_loss import frame_loss as measure

MOST_RATES = 10_000


@measuring(PROFILES)
def frame_loss(
    options: SeriesOptions,
    max_rate: Annotated[
        int | None,
        typer.Option(
            help="Rate that is 100 % of the series, in frames a second per direction "
            "[default: the media's rate].",
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
) -> Work:
    """Measure the frame loss rate at each offered rate (RFC 2544 section 26.3)."""
    if rates is not None and (max_rate is not None or step is not None):
        raise ConfigurationError(
            "--rates: is not possible with --max-rate or --step (expected either the rates "
            "themselves or the series that these two options make)"
        )
    plan = FrameLossPlan(
        **options.of_plan(PROFILES),
        max_rate_fps=max_rate,
        step=HIGHEST_STEP if step is None else exact("--step", step) / 100,
        rates_fps=rates_of(rates),
        loss=loss_tolerance(loss),
    )
    return Work(options=options, name="frame-loss", measures=(planned(plan, measure),))


def rates_of(text: str | None) -> tuple[int, ...]:
    """Reads `1000,2000` or `1000:10000:1000`, LAST included; returns none if there is no text."""
    if text is None:
        return ()
    if re.fullmatch(r"[1-9]\d{0,9}(,[1-9]\d{0,9})*", text):
        return tuple(int(rate) for rate in words_of("--rates", text))
    match = re.fullmatch(r"([1-9]\d{0,9}):([1-9]\d{0,9}):([1-9]\d{0,9})", text)
    if match:
        first, last, step = (int(rate) for rate in match.groups())
        rates = range(first, last + 1, step)
        if 0 < len(rates) <= MOST_RATES:
            return tuple(rates)
    raise ConfigurationError(
        f'--rates: "{text}" is not a series of rates (expected for example 1000,2000 or '
        "1000:10000:1000)"
    )
