"""`natxy tear-down`: measures how fast a stateful gateway deletes its connections."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import adding, only
from natxy.cli.series_options import Work, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    sizes_of,
)
from natxy.errors import ConfigurationError, unknown_value
from natxy.procedure.closing import BY, ClosingPlan
from natxy.procedure.defaults import MEASURES
from natxy.procedure.establishment_search import MAX_RATE
from natxy.search.settings import error_of
from natxy.trial.establishing import SEGMENTS, Closer

TABLE = "table"
ERROR = error_of("connections a second")
CLOSERS: dict[str, Closer] = {closer: closer for closer in SEGMENTS}


@measuring(
    "tear_down",
    *(only("With --by fin or rst", each) for each in (MAX_RATE, ERROR)),
    plans=[ClosingPlan],
)
def tear_down(
    work: Work,
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
        return replace(work, measure=MEASURES["closing"]).giving(by=CLOSERS[by])
    if by != TABLE:
        raise unknown_value("--by", by, (TABLE, *CLOSERS))
    for setting in (MAX_RATE, ERROR):
        if setting.name in work.given:
            raise ConfigurationError(
                setting,
                ": is an option of --by fin and --by rst, which search for a rate (expected none)",
            )
    return work.giving(sizes=sizes_of(counts, source_ports, destination_ports))
