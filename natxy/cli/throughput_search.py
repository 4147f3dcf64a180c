"""Plans of the search for a throughput, and of measurements at the rate that it finds."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from natxy.cli.series_options import SeriesOptions
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.trial.profile import PROFILES, RFC, Profile


def throughput_search(
    options: SeriesOptions, frame_timeout_s: Fraction | None = None, **own: Any
) -> ThroughputPlan:
    """Returns the plan; `--duration` switches off the profile's shorter trials at high rates."""
    base = options.profile_of(PROFILES)
    buffer_frames = base.buffer_frames if options.duration is None else None
    return options.plan(
        ThroughputPlan,
        PROFILES,
        frame_timeout_s=frame_timeout_s,
        buffer_frames=buffer_frames,
        **own,
    )


def found_first(options: SeriesOptions) -> ThroughputPlan:
    """Returns the plan of one search for the rate at which something else is then measured.

    Its trials last at most as long as RFC 2544 asks, also where the measurement's last longer.
    """
    search = throughput_search(options)
    timing = search.timing
    longest_s = min(timing.duration_s, RFC.timing.duration_s)
    return replace(search, repetitions=1, timing=replace(timing, duration_s=longest_s))


AnyPlan = TypeVar("AnyPlan", bound=RatePlan)


def rate_plan(
    kind: type[AnyPlan],
    profiles: Mapping[str, Profile],
    options: SeriesOptions,
    records: Path | None = None,
    **own: Any,
) -> AnyPlan:
    """Returns the plan; `own` are the fields that only plans of this kind have."""
    return options.plan(
        kind, profiles, records=records is not None, search=found_first(options), **own
    )
