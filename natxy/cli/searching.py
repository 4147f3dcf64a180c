"""Options that scale-up and degradation share: which figure they measure, and how."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.choices import unknown_value
from natxy.cli.options import error_option, loss_tolerance, search_error
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions
from natxy.cli.throughput_search import throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure.establishment_search import DEFAULT_ALPHA, EstablishmentPlan
from natxy.procedure.establishment_search import PROFILES as ESTABLISHMENT_PROFILES
from natxy.procedure.series import Searching

FIGURES = ("establishment", "validated", "throughput")
FigureOption = Annotated[
    str,
    typer.Option(
        help="Figure to measure: establishment, validated (establishment with validation) or "
        "throughput.",
        metavar="FIGURE",
    ),
]
ErrorOption = Annotated[str | None, error_option("frames a second", ends="End each search")]


def searching(
    options: SeriesOptions,
    figure: str,
    *,
    error: str | None,
    max_rate: int | None,
    loss: str | None = None,
) -> Searching:
    if figure not in FIGURES:
        raise unknown_value("--of", figure, FIGURES)
    if figure == "throughput":
        of_phase_2 = throughput_search(options, error=error, max_rate=max_rate)
        return replace(of_phase_2, loss=loss_tolerance(loss))
    _refuse_of_phase_2(options, figure)
    base = options.profile_of(ESTABLISHMENT_PROFILES)
    return EstablishmentPlan(
        **options.of_plan(ESTABLISHMENT_PROFILES),
        max_rate_cps=max_rate,
        error=search_error(error),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
        loss=loss_tolerance(loss),
        loss_verifications=base.loss_verifications,
    )


def _refuse_of_phase_2(options: SeriesOptions, figure: str) -> None:
    """ConfigurationError if an option of phase 2 is given, which would change nothing."""
    for name in OF_PHASE_2:
        if getattr(options, name) is not None:
            raise ConfigurationError(
                f"--{name.replace('_', '-')}: is not possible with --of {figure}, which measures "
                "the rate of phase 1 and has no phase 2 (expected --of throughput)"
            )
