"""`natxy pdv`: measures how far the frames' delays lie above the smallest."""

from typing import Any

from natxy.cli.options import RecordsOption
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.delay_variation import PROFILES, PdvPlan
from natxy.procedure.delay_variation import pdv as measure


@measuring(PROFILES, [PdvPlan], "rate_fps")
def pdv(options: SeriesOptions, records: RecordsOption = None, **own: Any) -> Work:
    """Measure PDV: the delays' P99.9 minus their minimum (RFC 8219 section 7.3.1).

    Examples:
        natxy pdv lab.toml --profile quick
        natxy pdv lab.toml --rate 10k
        natxy pdv lab.toml --frame-size 84,512,1518
    """
    plan = options.defaults.plan(PdvPlan, records=records is not None, **own)
    return Work(options=options, name="pdv", measures=(planned(plan, measure),), records=records)
