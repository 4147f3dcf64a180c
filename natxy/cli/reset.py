"""`natxy reset`: measures how long a gateway forwards nothing when it is reset."""

from typing import Any

from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.reset import PROFILES, ResetPlan
from natxy.procedure.reset import reset as measure


@measuring(PROFILES, [ResetPlan], "rate_fps", "reset_after_s")
def reset(options: SeriesOptions, **own: Any) -> Work:
    """Measure the time without forwarding after a reset (RFC 2544 section 26.6, RFC 6201).

    Examples:
        natxy reset lab.toml --profile quick
        natxy reset lab.toml --rate 10k
        natxy reset lab.toml --rate 10k --reset-after 5
    """
    plan = options.defaults.plan(ResetPlan, **own)
    return Work(options=options, name="reset", measures=(planned(plan, measure),))
