"""`natxy scale-up`: measures how a figure grows with the number of the gateway's cores."""

from typing import Annotated, Any

from natxy.cli.options import numbers_of
from natxy.cli.searching import OWN, FigureOption, searching
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.procedure.defaults import FIRST_CORES
from natxy.procedure.scale_up import CORES, ScaleUpPlan
from natxy.procedure.scale_up import scale_up as measure
from natxy.trial.profile import PROFILES


@measuring(PROFILES, *OWN)
def scale_up(
    options: SeriesOptions,
    cores: Annotated[str, CORES] = ",".join(map(str, FIRST_CORES)),
    of: FigureOption = "throughput",
    **own: Any,
) -> Work:
    """Measure how a figure grows with the gateway's cores (RFC 9693).

    Examples:
        natxy scale-up lab.toml --profile quick
        natxy scale-up lab.toml --cores 1,2,4
        natxy scale-up lab.toml --of establishment --max-rate 1M
    """
    search = searching(options, of, **own)
    plan = options.defaults.plan(ScaleUpPlan, search=search, cores=numbers_of(CORES, cores))
    return Work(options=options, name="scale-up", measures=(planned(plan, measure),))
