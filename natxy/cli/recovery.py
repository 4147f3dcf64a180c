"""`natxy recovery`: measures how long frames are lost after an overload."""

from typing import Annotated

import typer

from natxy.cli.options import ThroughputOption, seconds
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import rate_plan
from natxy.procedure.recovery import PROFILES, RecoveryPlan
from natxy.procedure.recovery import recovery as measure


@measuring(PROFILES)
def recovery(
    options: SeriesOptions,
    throughput: ThroughputOption = None,
    after: Annotated[
        float | None,
        typer.Option(
            help="Seconds at the lower rate, after the overload [default: the duration].",
            metavar="S",
        ),
    ] = None,
) -> Work:
    """Measure the recovery from 110 % of the throughput (RFC 2544 section 26.5).

    --duration is that of the overload.
    """
    after_s = seconds("--after", after)
    plan = rate_plan(RecoveryPlan, PROFILES, options, rate=throughput, after_s=after_s)
    return Work(options=options, name="recovery", measures=(planned(plan, measure),))
