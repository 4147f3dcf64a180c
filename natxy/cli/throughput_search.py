"""Plans of the search for a throughput, and of measurements at the rate that it finds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from natxy.cli.options import search_error
from natxy.cli.series_options import SeriesOptions
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.trial.profile import PROFILES, RFC, Profile


def throughput_search(
    options: SeriesOptions,
    *,
    error: str | None = None,
    max_rate: int | None = None,
    frame_timeout: float | None = None,
) -> ThroughputPlan:
    """Returns the plan; `--duration` switches off the profile's shorter trials at high rates."""
    base = options.profile_of(PROFILES)
    return ThroughputPlan(
        **options.of_plan(PROFILES, frame_timeout),
        error=search_error(error),
        max_rate_fps=max_rate,
        buffer_frames=base.buffer_frames if options.duration is None else None,
        loss_verifications=base.loss_verifications,
    )


def found_first(options: SeriesOptions) -> ThroughputPlan:
    """Returns the plan of one search for the rate at which something else is then measured.

    Its trials last at most as long as RFC 2544 asks, also where the measurement's last longer.
    """
    search = throughput_search(options)
    timing = search.timing
    longest_s = min(timing.duration_s, RFC.timing.duration_s)
    return replace(search, repetitions=1, timing=replace(timing, duration_s=longest_s))


Plan = TypeVar("Plan", bound=RatePlan)


def rate_plan(
    kind: type[Plan],
    profiles: Mapping[str, Profile],
    options: SeriesOptions,
    *,
    rate: int | None,
    records: Path | None = None,
    **own: Any,
) -> Plan:
    """Returns the plan; `own` are the fields that only plans of this kind have."""
    return kind(
        **options.of_plan(profiles),
        rate_fps=rate,
        records=records is not None,
        search=found_first(options),
        **own,
    )
