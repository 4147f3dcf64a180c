"""`natxy reset`: measures how long a gateway forwards nothing when it is reset."""

from typing import Annotated

import typer

from natxy.cli.options import RateOption, seconds
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import rate_plan
from natxy.procedure.reset import PROFILES, ResetPlan
from natxy.procedure.reset import reset as measure


@measuring(PROFILES)
def reset(
    options: SeriesOptions,
    rate: RateOption = None,
    reset_after: Annotated[
        float | None,
        typer.Option(
            help="Seconds of sending before the reset [default: a third of the duration].",
            metavar="S",
        ),
    ] = None,
) -> Work:
    """Measure the time without forwarding after a reset (RFC 2544 section 26.6, RFC 6201)."""
    after_s = seconds("--reset-after", reset_after)
    plan = rate_plan(ResetPlan, PROFILES, options, rate=rate, reset_after_s=after_s)
    return Work(options=options, name="reset", measures=(planned(plan, measure),))
