"""`natxy frame-loss`: measures the frame loss rate at each offered rate."""

import re
from dataclasses import replace
from typing import Annotated, Any

from natxy.cli.options import adding, words_of
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.procedure.frame_loss import PROFILES, RATES, STEP, FrameLossPlan
from natxy.procedure.frame_loss import frame_loss as measure

MOST_RATES = 10_000


@measuring(PROFILES, [FrameLossPlan], "max_rate_fps", "loss")
def frame_loss(
    options: SeriesOptions,
    step: Annotated[
        float | None, replace(adding(STEP, ", in % of the maximum"), default="10")
    ] = None,
    rates: Annotated[
        str | None,
        adding(RATES, ": a list such as 1000,2000 or FIRST:LAST:STEP such as 1000:10000:1000"),
    ] = None,
    **own: Any,
) -> Work:
    """Measure the frame loss rate at each offered rate (RFC 2544 section 26.3)."""
    if rates is not None and ("max_rate_fps" in own or step is not None):
        raise ConfigurationError(
            "--rates: is not possible with --max-rate or --step (expected either the rates "
            "themselves or the series that these two options make)"
        )
    if step is not None:
        own["step"] = exact(STEP, step) / 100
    plan = options.defaults.plan(FrameLossPlan, rates_fps=rates_of(rates), **own)
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
