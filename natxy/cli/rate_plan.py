"""Plans of measurements at one rate, from the profile and the options."""

from collections.abc import Mapping
from typing import Any, TypeVar

from natxy.cli.series_options import SeriesOptions
from natxy.cli.throughput_search import found_first
from natxy.procedure.at_rate import RatePlan
from natxy.trial.profile import Profile

Plan = TypeVar("Plan", bound=RatePlan)


def rate_plan(
    kind: type[Plan],
    profiles: Mapping[str, Profile],
    options: SeriesOptions,
    *,
    rate: int | None,
    **own: Any,
) -> Plan:
    """Returns the plan; `own` are the fields that only plans of this kind have."""
    return kind(
        **options.of_plan(profiles),
        rate_fps=rate,
        search=found_first(options),
        **own,
    )
