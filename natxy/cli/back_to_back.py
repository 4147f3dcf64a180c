"""`natxy back-to-back`: the longest burst that is not lost."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.cli.throughput_search import found_first
from natxy.procedure.back_to_back import PROFILES, BackToBackPlan
from natxy.procedure.back_to_back import back_to_back as measure


@measuring
def back_to_back(
    options: SeriesOptions,
    burst_rate: Annotated[
        int | None, typer.Option(help="Of the bursts, if not the media's rate.", metavar="FPS")
    ] = None,
    throughput: Annotated[
        int | None, typer.Option(help="Measured before; else it is found first.", metavar="FPS")
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            help="Where a search ends, in frames; a burst may take so much longer than its rate "
            "says as N frames do at the throughput [default: what passes in 20 us].",
            metavar="N",
        ),
    ] = None,
) -> None:
    """Find the longest burst without loss, and the buffer time (RFC 9004).

    --duration is that of the longest burst that is tried, --drain the least rest after each: it
    begins when the burst was received at the throughput.
    """
    base = options.profile_of(PROFILES)
    plan = BackToBackPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        burst_rate_fps=burst_rate,
        throughput_fps=throughput,
        # For a throughput, --duration and --drain are not meant: the profile's trials are run.
        search=found_first(replace(options, duration=None, drain=None)),
        step_frames=step,
    )
    run_series(options, "back-to-back", lambda tester, dut, seen: measure(plan, tester, dut, seen))
