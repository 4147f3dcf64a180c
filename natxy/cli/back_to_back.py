"""`natxy back-to-back`: finds the longest burst without loss."""

from typing import Any

from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.back_to_back import PROFILES, BackToBackPlan
from natxy.procedure.back_to_back import back_to_back as measure


@measuring(PROFILES, [BackToBackPlan], "burst_rate_fps", "throughput_fps", "step_frames")
def back_to_back(options: SeriesOptions, **own: Any) -> Work:
    """Find the longest burst without loss, and the buffer time (RFC 9004).

    --duration is the duration of the longest burst that is tried. --drain is the shortest wait
    after a burst. The wait begins when the gateway, at its throughput, can have forwarded the
    burst.

    Examples:
        natxy back-to-back lab.toml --burst-rate 1M --profile quick
        natxy back-to-back nics.toml
        natxy back-to-back nics.toml --throughput 850k
    """
    plan = options.defaults.plan(BackToBackPlan, **own)
    return Work(options=options, name="back-to-back", measures=(planned(plan, measure),))
