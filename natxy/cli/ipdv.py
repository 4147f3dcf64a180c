"""`natxy ipdv`: measures the differences between the delays of consecutive frames."""

from typing import Any

from natxy.cli.options import RecordsOption
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.delay_variation import PROFILES, IpdvPlan
from natxy.procedure.delay_variation import ipdv as measure


@measuring(PROFILES, [IpdvPlan], "rate_fps")
def ipdv(options: SeriesOptions, records: RecordsOption = None, **own: Any) -> Work:
    """Measure IPDV: minimum, median and maximum (RFC 8219 section 7.3.2).

    Examples:
        natxy ipdv lab.toml --profile quick
        natxy ipdv lab.toml --rate 10k
        natxy ipdv lab.toml --frame-size 84,512,1518
    """
    plan = options.defaults.plan(IpdvPlan, records=records is not None, **own)
    return Work(options=options, name="ipdv", measures=(planned(plan, measure),), records=records)
