"""`natxy tear-down`: measures how fast a stateful gateway deletes its connections."""

from functools import partial
from typing import Annotated

import typer

from natxy.cli.choices import unknown_value
from natxy.cli.options import error_option, max_rate_option, search_error
from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    sizes_of,
)
from natxy.errors import ConfigurationError
from natxy.procedure.closing import ClosingPlan, check_transport
from natxy.procedure.closing import closing as measure_closing
from natxy.procedure.establishment_search import PROFILES
from natxy.procedure.tear_down import TearDownPlan
from natxy.procedure.tear_down import tear_down as measure
from natxy.trial.closing import SEGMENTS, Closer

TABLE = "table"
CLOSERS: dict[str, Closer] = {closer: closer for closer in SEGMENTS}


@measuring(PROFILES, without=("duration", "direction", "connections", "networks"))
def tear_down(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    by: Annotated[
        str,
        typer.Option(
            help="What ends the connections: table (the gateway deletes its whole table); or, for "
            "TCP connections, fin or rst: the highest rate of these segments is searched.",
            metavar="HOW",
        ),
    ] = TABLE,
    max_rate: Annotated[
        int | None,
        max_rate_option("connections a second", what="With --by fin or rst: highest rate to try"),
    ] = None,
    error: Annotated[
        str | None,
        error_option("connections a second", ends="With --by fin or rst: end the search"),
    ] = None,
) -> Work:
    """Measure the connection tear-down rate (RFC 9693)."""
    if by in CLOSERS:
        if counts or source_ports or destination_ports:
            raise ConfigurationError(
                f"--by: {by} is not possible with --counts, --source-ports or --destination-ports "
                "(expected connections.count in the testbed)"
            )
        closing = ClosingPlan(
            **options.of_plan(PROFILES),
            loss_verifications=options.profile_of(PROFILES).loss_verifications,
            by=CLOSERS[by],
            max_rate_cps=max_rate,
            error=search_error(error),
        )
        return Work(
            options=options,
            name="tear-down",
            measures=(planned(closing, measure_closing),),
            check_traffic=partial(check_transport, by),
        )
    if by != TABLE:
        raise unknown_value("--by", by, (TABLE, *CLOSERS))
    if max_rate is not None or error is not None:
        option = "--max-rate" if max_rate is not None else "--error"
        raise ConfigurationError(
            f"{option}: is an option of --by fin and --by rst, which search for a rate (expected "
            "none)"
        )
    plan = TearDownPlan(
        **options.of_plan(PROFILES),
        sizes=sizes_of(counts, source_ports, destination_ports),
    )
    return Work(
        options=options,
        name="tear-down",
        measures=(planned(plan, measure),),
        own_connections=bool(plan.sizes),
        check_traffic=needs_connections,
    )
