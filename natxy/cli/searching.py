"""Which figure a series is of: options that scale-up and degradation share."""

from natxy.cli.options import search_error
from natxy.cli.series import SeriesOptions
from natxy.cli.throughput_search import throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure.establishment import DEFAULT_ALPHA, EstablishmentPlan
from natxy.procedure.establishment import PROFILES as ESTABLISHMENT_PROFILES
from natxy.procedure.places import Searching

FIGURES = ("establishment", "validated", "throughput")


def searching(
    options: SeriesOptions, figure: str, *, error: str | None, max_rate: int | None
) -> Searching:
    if figure not in FIGURES:
        raise ConfigurationError(f'--of: "{figure}" is not known, {", ".join(FIGURES)} is right')
    if figure == "throughput":
        return throughput_search(options, error=error, max_rate=max_rate)
    base = options.profile_of(ESTABLISHMENT_PROFILES)
    return EstablishmentPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        max_rate_cps=max_rate,
        error=search_error(error),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
        loss_verifications=base.loss_verifications,
    )
