"""Options that scale-up and degradation share: which figure they measure, and how."""

from typing import Annotated, Any

from natxy.cli.choices import unknown_value
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions
from natxy.errors import ConfigurationError
from natxy.procedure.establishment_search import DEFAULT_ALPHA, EstablishmentPlan
from natxy.procedure.series import Searching
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.settings import error_of
from natxy.setting import Setting

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
    [ThroughputPlan],
    error_of("frames a second", ends="End each search"),
    "max_rate_fps",
    "loss",
)


def searching(options: SeriesOptions, figure: str, **own: Any) -> Searching:
    if figure not in FIGURES:
        raise unknown_value("--of", figure, FIGURES)
    if figure == "throughput":
        return options.defaults.plan(ThroughputPlan, **own)
    _refuse_of_phase_2(options, figure)
    return options.defaults.plan(
        EstablishmentPlan,
        max_rate_cps=own.pop("max_rate_fps", None),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
        **own,
    )


def _refuse_of_phase_2(options: SeriesOptions, figure: str) -> None:
    """ConfigurationError if an option of phase 2 is given, which would change nothing."""
    for name in OF_PHASE_2:
        if getattr(options, name) is not None:
            raise ConfigurationError(
                f"--{name.replace('_', '-')}: is not possible with --of {figure}, which measures "
                "the rate of phase 1 and has no phase 2 (expected --of throughput)"
            )
