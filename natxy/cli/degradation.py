"""`natxy degradation`: measures a figure at several numbers of a stateful gateway's connections."""

from typing import Annotated, Any

import typer

from natxy.cli.options import LossOption, MaxRateOption, numbers_of
from natxy.cli.searching import ErrorOption, FigureOption, searching
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    one_each,
    sizes_of,
)
from natxy.dut.recipe import ENTRIES, HASH_SIZE, TIMEOUT
from natxy.dut.table_limits import table_limits
from natxy.errors import ConfigurationError
from natxy.model.traffic import TrafficPlan
from natxy.procedure.degradation import Column, DegradationPlan
from natxy.procedure.degradation import degradation as measure
from natxy.trial.profile import PROFILES


def by_column(what: str) -> Any:
    """Returns an option of the gateway's table, which may differ from column to column."""
    return typer.Option(
        help=f"{what}, one value for each column or one for all [default: unchanged].",
        metavar="LIST",
    )


@measuring(PROFILES, without=("connections", "networks"))
def degradation(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    entries: Annotated[str | None, by_column("Entries of the gateway's table")] = None,
    hash_sizes: Annotated[str | None, by_column("Hash buckets of the gateway's table")] = None,
    timeouts: Annotated[
        str | None, by_column("Seconds after which the gateway drops an idle connection")
    ] = None,
    of: FigureOption = "throughput",
    error: ErrorOption = None,
    max_rate: MaxRateOption = None,
    loss: LossOption = None,
) -> Work:
    """Measure a figure at several numbers of connections (RFC 9693)."""
    sizes = sizes_of(counts, source_ports, destination_ports)
    listed = (
        one_each(option, numbers_of(option, text), len(sizes))
        for option, text in (
            ("--entries", entries),
            ("--hash-sizes", hash_sizes),
            ("--timeouts", timeouts),
        )
    )
    columns = tuple(
        Column(**vars(size), entries=most, hash_size=buckets, timeout_s=timeout)
        for size, most, buckets, timeout in zip(sizes, *listed, strict=True)
    )
    plan = DegradationPlan(
        search=searching(options, of, error=error, max_rate=max_rate, loss=loss), columns=columns
    )
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
        for option, name, value in (
            ("--entries", ENTRIES, column.entries),
            ("--hash-sizes", HASH_SIZE, column.hash_size),
            ("--timeouts", TIMEOUT, column.timeout_s),
        ):
            most = limits.get(name)
            if value is not None and most is not None and value > most:
                raise ConfigurationError(
                    f"{option}: {value} is out of range (expected at most {most})"
                )
