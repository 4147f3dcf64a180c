"""`natxy latency`: measures the delay of tagged frames at the throughput."""

from typing import Any

from natxy.cli.options import RecordsOption
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.latency import PROFILES, LatencyPlan
from natxy.procedure.latency import latency as measure


@measuring(PROFILES, [LatencyPlan], "rate_fps", "tags", "tags_after_s")
def latency(options: SeriesOptions, records: RecordsOption = None, **own: Any) -> Work:
    """Measure typical and worst-case latency (RFC 8219 section 7.2).

    Examples:
        natxy latency lab.toml --profile quick
        natxy latency lab.toml --rate 10k
        natxy latency lab.toml --rate 10k --records frames.parquet
    """
    plan = options.defaults.plan(LatencyPlan, records=records is not None, **own)
    return Work(
        options=options, name="latency", measures=(planned(plan, measure),), records=records
    )
