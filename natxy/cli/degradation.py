"""`natxy degradation`: measures a figure at several numbers of a stateful gateway's connections."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import adding, numbers_of
from natxy.cli.searching import OWN, FigureOption, searching
from natxy.cli.series_options import Work, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    one_each,
    sizes_of,
)
from natxy.procedure.degradation import ENTRIES, HASH_SIZE, Column
from natxy.setting import Setting
from natxy.trial.connection_table import TIMEOUT


def by_column(setting: Setting) -> Setting:
    """Returns a setting of the gateway's table, which may differ from column to column."""
    return replace(adding(setting, ", one value for each column or one for all"), metavar="LIST")


@measuring("degradation", *OWN)
def degradation(
    work: Work,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    entries: Annotated[str | None, by_column(ENTRIES)] = None,
    hash_sizes: Annotated[str | None, by_column(HASH_SIZE)] = None,
    timeouts: Annotated[str | None, by_column(TIMEOUT)] = None,
    of: FigureOption = "throughput",
) -> Work:
    """Measure a figure at several numbers of connections (RFC 9693).

    Examples:
        natxy degradation nat.toml --counts 1k,10k,100k --profile quick
        natxy degradation nat.toml --counts 1k,1M --of establishment
        natxy degradation nat.toml --source-ports 40k --destination-ports 1,10
    """
    sizes = sizes_of(counts, source_ports, destination_ports)
    listed = (
        one_each(setting, numbers_of(setting, text), len(sizes))
        for setting, text in ((ENTRIES, entries), (HASH_SIZE, hash_sizes), (TIMEOUT, timeouts))
    )
    columns = tuple(
        Column(**vars(size), entries=most, hash_size=buckets, timeout_s=timeout)
        for size, most, buckets, timeout in zip(sizes, *listed, strict=True)
    )
    return replace(work, given={"search": searching(work, of), "columns": columns})
