"""`natxy tear-down`: measures how fast a stateful gateway deletes its connections."""

from natxy.cli.series import planned, run_series
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    sizes_of,
)
from natxy.procedure.establishment import PROFILES
from natxy.procedure.tear_down import TearDownPlan
from natxy.procedure.tear_down import tear_down as measure


@measuring(PROFILES, without=("duration", "direction", "connections", "networks"))
def tear_down(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
) -> None:
    """Measure the connection tear-down rate (RFC 9693)."""
    base = options.profile_of(PROFILES)
    plan = TearDownPlan(
        timing=options.timing(base.timing),
        seed=options.seed_value,
        repetitions=options.repetitions_of(base),
        sizes=sizes_of(counts, source_ports, destination_ports),
    )
    run_series(
        options,
        "tear-down",
        planned(plan, measure),
        own_connections=bool(plan.sizes),
    )
