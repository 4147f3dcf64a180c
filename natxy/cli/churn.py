"""`natxy churn`: finds the rate of new connections while a load runs, or the reverse."""

from typing import Any

from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.churn import ChurnPlan
from natxy.procedure.churn import churn as measure
from natxy.trial.profile import PROFILES


@measuring(
    PROFILES,
    [ChurnPlan],
    *("load_fps", "new_cps", "max_rate_fps", "error", "loss_verifications"),
    without=("networks", "foreground"),
)
def churn(options: SeriesOptions, **own: Any) -> Work:
    """Find the highest rate of new connections while a given load runs, or the highest load at a
    given rate of new connections.

    Examples:
        natxy churn nat.toml --load 100k --profile quick
        natxy churn nat.toml --new 5k
        natxy churn nat.toml --load 100k --max-rate 50k
    """
    return Work(
        options=options,
        name="churn",
        measures=(planned(options.defaults.plan(ChurnPlan, **own), measure),),
        check_traffic=needs_connections,
    )
