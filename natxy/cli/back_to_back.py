"""`natxy back-to-back`: finds the longest burst without loss."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.options import ThroughputOption
from natxy.cli.series import Work, planned
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
    throughput: ThroughputOption = None,
    step: Annotated[
        int | None,
        typer.Option(
            help="Error of the search in frames: it ends when the longest burst is known to within "
            "N frames. A trial is invalid if its burst left too slowly, by more than N frames take "
            "at the throughput [default: the frames that pass in 20 us at the throughput].",
            metavar="N",
        ),
    ] = None,
) -> Work:
    """Find the longest burst without loss, and the buffer time (RFC 9004).

    --duration is the duration of the longest burst that is tried. --drain is the shortest wait
    after a burst. The wait begins when the gateway, at its throughput, can have forwarded the
    burst.
    """
    plan = BackToBackPlan(
        **options.of_plan(PROFILES),
        burst_rate_fps=burst_rate,
        throughput_fps=throughput,
        # --duration and --drain are the bursts'; the search has the profile's trials.
        search=found_first(replace(options, duration=None, drain=None)),
        step_frames=step,
    )
    return Work(options=options, name="back-to-back", measures=(planned(plan, measure),))
