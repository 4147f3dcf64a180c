"""`natxy tear-down`: measures how fast a stateful gateway deletes its connections."""

from functools import partial
from typing import Annotated, Any

from natxy.cli.choices import unknown_value
from natxy.cli.options import adding, only
from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    sizes_of,
)
from natxy.errors import ConfigurationError
from natxy.procedure.closing import BY, ClosingPlan, check_transport
from natxy.procedure.closing import closing as measure_closing
from natxy.procedure.establishment_search import MAX_RATE, PROFILES
from natxy.procedure.tear_down import TearDownPlan
from natxy.procedure.tear_down import tear_down as measure
from natxy.search.settings import error_of
from natxy.trial.closing import SEGMENTS, Closer

TABLE = "table"
ERROR = error_of("connections a second")
CLOSERS: dict[str, Closer] = {closer: closer for closer in SEGMENTS}


@measuring(
    PROFILES,
    [ClosingPlan],
    *(only("With --by fin or rst", each) for each in (MAX_RATE, ERROR)),
    without=("duration", "direction", "connections", "networks"),
)
def tear_down(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    by: Annotated[
        str,
        adding(
            BY,
            ": table (the gateway deletes its whole table); or, for TCP connections, fin or rst: "
            "the highest rate of these segments is searched",
        ),
    ] = TABLE,
    **own: Any,
) -> Work:
    """Measure the connection tear-down rate (RFC 9693).

    Examples:
        natxy tear-down nat.toml --profile quick
        natxy tear-down nat.toml --counts 10k,100k,1M
        natxy tear-down nat.toml --by fin
    """
    if by in CLOSERS:
        if counts or source_ports or destination_ports:
            raise ConfigurationError(
                f"--by: {by} is not possible with --counts, --source-ports or --destination-ports "
                "(expected connections.count in the testbed)"
            )
        closing = options.defaults.plan(ClosingPlan, by=CLOSERS[by], **own)
        return Work(
            options=options,
            name="tear-down",
            measures=(planned(closing, measure_closing),),
            check_traffic=partial(check_transport, by),
        )
    if by != TABLE:
        raise unknown_value("--by", by, (TABLE, *CLOSERS))
    for setting in (MAX_RATE, ERROR):
        if setting.name in own:
            raise ConfigurationError(
                setting,
                ": is an option of --by fin and --by rst, which search for a rate (expected none)",
            )
    sizes = sizes_of(counts, source_ports, destination_ports)
    plan = options.defaults.plan(TearDownPlan, sizes=sizes)
    return Work(
        options=options,
        name="tear-down",
        measures=(planned(plan, measure),),
        own_connections=bool(plan.sizes),
        check_traffic=needs_connections,
    )
