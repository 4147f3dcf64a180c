"""Which figure a series is of: options that scale-up and degradation share."""

from natxy.cli.options import search_error
from natxy.cli.series import SeriesOptions
from natxy.errors import ConfigurationError
from natxy.procedure.establishment import DEFAULT_ALPHA, EstablishmentPlan
from natxy.procedure.establishment import PROFILES as ESTABLISHMENT_PROFILES
from natxy.procedure.places import Searching
from natxy.procedure.profile import PROFILES
from natxy.procedure.throughput import ThroughputPlan

FIGURES = ("establishment", "validated", "throughput")


def searching(
    options: SeriesOptions, figure: str, *, error: str | None, max_rate: int | None
) -> Searching:
    if figure not in FIGURES:
        raise ConfigurationError(f'--of: "{figure}" is not known, {", ".join(FIGURES)} is right')
    if figure == "throughput":
        base = options.profile_of(PROFILES)
        return ThroughputPlan(
            timing=options.timing(base.timing),
            seed=options.seed_value,
            repetitions=options.repetitions_of(base),
            max_rate_fps=max_rate,
            error=search_error(error),
            loss_verifications=base.loss_verifications,
        )
    base = options.profile_of(ESTABLISHMENT_PROFILES)
    return EstablishmentPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        max_rate_cps=max_rate,
        error=search_error(error),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
    )
