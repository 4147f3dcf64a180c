"""`natxy degradation`: what more connections cost a stateful gateway."""

from typing import Annotated

import typer

from natxy.cli.counts import numbers_of
from natxy.cli.options import LossOption
from natxy.cli.searching import searching
from natxy.cli.series import SeriesOptions, measuring_without, run_series
from natxy.cli.sizes import (
    CountsOption,
    DestinationPortsOption,
    SourcePortsOption,
    one_each,
    sizes_of,
)
from natxy.procedure.degradation import Column, DegradationPlan
from natxy.procedure.degradation import degradation as measure


@measuring_without("connections", "networks")
def degradation(
    options: SeriesOptions,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    entries: Annotated[
        str | None, typer.Option(help="The device's table, by column.", metavar="LIST")
    ] = None,
    hash_sizes: Annotated[
        str | None, typer.Option(help="The device's hash buckets, by column.", metavar="LIST")
    ] = None,
    timeouts: Annotated[
        str | None, typer.Option(help="Of idle connections, seconds, by column.", metavar="LIST")
    ] = None,
    of: Annotated[
        str, typer.Option("--of", help="establishment, validated or throughput.", metavar="FIGURE")
    ] = "throughput",
    error: Annotated[
        str | None, typer.Option(help="Where each search ends: 0.1% or 100.", metavar="ERROR")
    ] = None,
    max_rate: Annotated[
        int | None, typer.Option(help="The highest rate to try.", metavar="FPS")
    ] = None,
    loss: LossOption = None,
) -> None:
    """Measure a figure over the number of connections (RFC 9693)."""
    sizes = sizes_of(counts, source_ports, destination_ports)
    by_column = (
        one_each(option, numbers_of(option, text), len(sizes))
        for option, text in (
            ("--entries", entries),
            ("--hash-sizes", hash_sizes),
            ("--timeouts", timeouts),
        )
    )
    columns = tuple(
        Column(**vars(size), entries=most, hash_size=buckets, timeout_s=timeout)
        for size, most, buckets, timeout in zip(sizes, *by_column, strict=True)
    )
    plan = DegradationPlan(
        search=searching(options, of, error=error, max_rate=max_rate, loss=loss), columns=columns
    )
    run_series(
        options,
        "degradation",
        lambda tester, dut, seen: measure(plan, tester, dut, seen),
        own_connections=True,
    )
