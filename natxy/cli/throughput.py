"""`natxy throughput`: the highest rate at which nothing is lost."""

from typing import Annotated

import typer

from natxy.cli.options import search_error
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.procedure.profile import PROFILES
from natxy.procedure.throughput import ThroughputPlan
from natxy.procedure.throughput import throughput as measure


@measuring
def throughput(
    options: SeriesOptions,
    max_rate: Annotated[
        int | None, typer.Option(help="Highest rate to try, if not the media's.", metavar="FPS")
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="When to stop: 0.1% of the rate, or 100 fps.", metavar="E")
    ] = None,
) -> None:
    """Find the throughput by bisection (RFC 2544 section 26.1, RFC 8219)."""
    base = options.profile_of(PROFILES)
    plan = ThroughputPlan(
        timing=options.timing(base.timing),
        repetitions=options.repetitions_of(base),
        error=search_error(error),
        max_rate_fps=max_rate,
        seed=options.seed_value,
    )
    run_series(options, "throughput", lambda tester, dut, seen: measure(plan, tester, dut, seen))
