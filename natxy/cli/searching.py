"""Options that scale-up and degradation share: which figure they measure, and how."""

from typing import Annotated

from natxy.cli.series_options import SeriesOptions, Work
from natxy.errors import ConfigurationError, unknown_value
from natxy.measure.traffic_settings import DIRECTION, ESTABLISHMENT_RATE
from natxy.procedure.establishment_search import DEFAULT_ALPHA, EstablishmentPlan
from natxy.procedure.series import Searching
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.settings import error_of
from natxy.setting import Setting
from natxy.trial.timing import DURATION

FIGURES = ("establishment", "validated", "throughput")
FigureOption = Annotated[
    str,
    Setting(
        "of",
        "Figure to measure: establishment, validated (establishment with validation) or throughput",
        "FIGURE",
        short="establishment, validated or throughput (the default)",
    ),
]
OWN = (
    error_of("frames a second", ends="End each search"),
    "max_rate_fps",
    "loss",
)


def searching(work: Work, figure: str) -> Searching:
    own, defaults = dict(work.given), work.options.defaults
    if figure not in FIGURES:
        raise unknown_value("--of", figure, FIGURES)
    if figure == "throughput":
        return defaults.plan(ThroughputPlan, **own)
    _refuse_of_phase_2(work.options, figure)
    return defaults.plan(
        EstablishmentPlan,
        max_rate_cps=own.pop("max_rate_fps", None),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
        **own,
    )


def _refuse_of_phase_2(options: SeriesOptions, figure: str) -> None:
    """ConfigurationError if an option of phase 2 is given, which would change nothing."""
    for setting, given in (
        (DURATION, options.duration),
        (DIRECTION, options.direction),
        (ESTABLISHMENT_RATE, options.establishment_rate),
    ):
        if given is not None:
            raise ConfigurationError(
                setting,
                f": is not possible with --of {figure}, which measures the rate of phase 1 and has "
                "no phase 2 (expected --of throughput)",
            )
