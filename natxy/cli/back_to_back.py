"""`natxy back-to-back`: finds the longest burst without loss."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.series import planned, run_series
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import found_first
from natxy.procedure.back_to_back import PROFILES, BackToBackPlan
from natxy.procedure.back_to_back import back_to_back as measure


@measuring(PROFILES)
def back_to_back(
    options: SeriesOptions,
    burst_rate: Annotated[
        int | None,
        typer.Option(
            help="Rate within a burst, in frames a second [default: the media's rate].",
            metavar="FPS",
        ),
    ] = None,
    throughput: Annotated[
        int | None,
        typer.Option(
            help="Throughput that was measured before, in frames a second [default: it is "
            "searched for first].",
            metavar="FPS",
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            help="End a search when the longest burst is bounded to within N frames. The trial of "
            "a burst is invalid if the burst took longer than its rate says by more than the time "
            "of N frames at the throughput [default: the frames that pass in 20 us at the "
            "throughput].",
            metavar="N",
        ),
    ] = None,
) -> None:
    """Find the longest burst without loss, and the buffer time (RFC 9004).

    --duration is the duration of the longest burst that is tried. --drain is the shortest rest
    after a burst. The rest begins when, at the throughput, the gateway can have forwarded
    the burst.
    """
    base = options.profile_of(PROFILES)
    plan = BackToBackPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        burst_rate_fps=burst_rate,
        throughput_fps=throughput,
        # --duration and --drain are the bursts'; the search has the profile's trials.
        search=found_first(replace(options, duration=None, drain=None)),
        step_frames=step,
    )
    run_series(options, "back-to-back", planned(plan, measure))
