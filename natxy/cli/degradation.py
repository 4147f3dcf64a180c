"""`natxy degradation`: measures a figure at several numbers of a stateful gateway's connections."""

from dataclasses import replace
from typing import Annotated, Any

from natxy.cli.options import adding, numbers_of
from natxy.cli.searching import OWN, FigureOption, searching
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    one_each,
    sizes_of,
)
from natxy.dut import recipe
from natxy.dut.config import table_limits
from natxy.errors import ConfigurationError
from natxy.model.traffic import TrafficPlan
from natxy.procedure.degradation import ENTRIES, HASH_SIZE, Column, DegradationPlan
from natxy.procedure.degradation import degradation as measure
from natxy.setting import Setting
from natxy.trial.connection_table import TIMEOUT
from natxy.trial.profile import PROFILES


def by_column(setting: Setting) -> Setting:
    """Returns a setting of the gateway's table, which may differ from column to column."""
    return replace(adding(setting, ", one value for each column or one for all"), metavar="LIST")


@measuring(PROFILES, *OWN, without=("connections", "networks"))
def degradation(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    entries: Annotated[str | None, by_column(ENTRIES)] = None,
    hash_sizes: Annotated[str | None, by_column(HASH_SIZE)] = None,
    timeouts: Annotated[str | None, by_column(TIMEOUT)] = None,
    of: FigureOption = "throughput",
    **own: Any,
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
    plan = DegradationPlan(search=searching(options, of, **own), columns=columns)
    return Work(
        options=options,
        name="degradation",
        measures=(planned(plan, measure),),
        own_connections=True,
        check_traffic=lambda traffic: _check_columns(columns, traffic),
    )


def _check_columns(columns: tuple[Column, ...], traffic: TrafficPlan) -> None:
    """Raises ConfigurationError if the gateway's table does not take a value of a column."""
    limits = table_limits(traffic.testbed.dut, traffic.source)
    for column in columns:
        for setting, name, value in (
            (ENTRIES, recipe.ENTRIES, column.entries),
            (HASH_SIZE, recipe.HASH_SIZE, column.hash_size),
            (TIMEOUT, recipe.TIMEOUT, column.timeout_s),
        ):
            most = limits.get(name)
            if value is not None and most is not None and value > most:
                raise ConfigurationError(
                    setting, f": {value} is out of range (expected at most {most})"
                )
