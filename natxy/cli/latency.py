"""`natxy latency`: measures the delay of tagged frames at the throughput."""

from typing import Annotated

import typer

from natxy.cli.options import RateOption, RecordsOption, seconds
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import rate_plan
from natxy.procedure.latency import PROFILES, LatencyPlan
from natxy.procedure.latency import latency as measure


@measuring(PROFILES)
def latency(
    options: SeriesOptions,
    rate: RateOption = None,
    tags: Annotated[
        int, typer.Option(help="Tagged frames of a trial, per direction.", metavar="N")
    ] = 50_000,
    tags_after: Annotated[
        float | None,
        typer.Option(
            help="Seconds of a trial before its first tagged frame [default: half of the "
            "duration].",
            metavar="S",
        ),
    ] = None,
    records: RecordsOption = None,
) -> Work:
    """Measure typical and worst-case latency (RFC 8219 section 7.2)."""
    plan = rate_plan(
        LatencyPlan,
        PROFILES,
        options,
        rate=rate,
        records=records,
        tags=tags,
        tags_after_s=seconds("--tags-after", tags_after),
    )
    return Work(
        options=options, name="latency", measures=(planned(plan, measure),), records=records
    )
