"""`natxy recovery`: measures how long frames are lost after an overload."""

from typing import Any

from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.recovery import PROFILES, RecoveryPlan
from natxy.procedure.recovery import recovery as measure


@measuring(PROFILES, [RecoveryPlan], "rate_fps", "after_s")
def recovery(options: SeriesOptions, **own: Any) -> Work:
    """Measure the recovery from 110 % of the throughput (RFC 2544 section 26.5).

    --duration is that of the overload.

    Examples:
        natxy recovery lab.toml --profile quick
        natxy recovery lab.toml --throughput 200k
        natxy recovery lab.toml --after 10
    """
    plan = options.defaults.plan(RecoveryPlan, **own)
    return Work(options=options, name="recovery", measures=(planned(plan, measure),))
