"""`natxy back-to-back`: the longest burst that is not lost."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.options import seconds
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.procedure.back_to_back import PROFILES, BackToBackPlan
from natxy.procedure.back_to_back import back_to_back as measure
from natxy.procedure.profile import PROFILES as THROUGHPUT_PROFILES
from natxy.procedure.throughput import ThroughputPlan


@measuring
def back_to_back(
    options: SeriesOptions,
    burst_rate: Annotated[
        int | None, typer.Option(help="Of the bursts, if not the media's rate.", metavar="FPS")
    ] = None,
    throughput: Annotated[
        int | None, typer.Option(help="Measured before; else it is found first.", metavar="FPS")
    ] = None,
    step: Annotated[int, typer.Option(help="Where a search ends, in frames.", metavar="N")] = 1,
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
        search=_search(options),
        step_frames=step,
    )
    run_series(options, "back-to-back", lambda tester, dut, seen: measure(plan, tester, dut, seen))


def _search(options: SeriesOptions) -> ThroughputPlan:
    """For a throughput, --duration and --drain are not meant: the profile's trials are run."""
    base = THROUGHPUT_PROFILES[options.profile]
    timing = base.timing
    settle_s = seconds("--settle", options.settle, timing.settle_s)
    return ThroughputPlan(
        timing=replace(timing, settle_s=settle_s),
        seed=options.seed_value,
        repetitions=1,
        loss_verifications=base.loss_verifications,
    )
