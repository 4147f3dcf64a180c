"""`natxy degradation`: what more connections cost a stateful gateway."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.counts import numbers_of
from natxy.cli.searching import searching
from natxy.cli.series import SeriesOptions, measuring_without, run_series
from natxy.errors import ConfigurationError
from natxy.procedure.degradation import Column, DegradationPlan
from natxy.procedure.degradation import degradation as measure


@measuring_without("connections")
def degradation(
    options: SeriesOptions,
    counts: Annotated[
        str, typer.Option(help="Connections of each column: 1000,2000,4000.", metavar="LIST")
    ],
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
) -> None:
    """Measure a figure over the number of connections (RFC 9693)."""
    listed = numbers_of("--counts", counts)
    by_column = {
        option: _by_column(option, text, len(listed))
        for option, text in (
            ("--entries", entries),
            ("--hash-sizes", hash_sizes),
            ("--timeouts", timeouts),
        )
    }
    columns = tuple(
        Column(connections=count, entries=size, hash_size=buckets, timeout_s=timeout)
        for count, size, buckets, timeout in zip(listed, *by_column.values(), strict=True)
    )
    plan = DegradationPlan(
        search=searching(options, of, error=error, max_rate=max_rate), columns=columns
    )
    options = replace(options, connections=listed[0], seed=options.seed_value)
    run_series(options, "degradation", lambda tester, dut, seen: measure(plan, tester, dut, seen))


def _by_column(option: str, text: str | None, columns: int) -> list[int | None]:
    """One for all, or one for each."""
    listed = numbers_of(option, text)
    if not listed:
        return [None] * columns
    if len(listed) == 1:
        return [listed[0]] * columns
    if len(listed) != columns:
        raise ConfigurationError(
            f"{option}: {len(listed)} values for {columns} columns, as many, or one, is right"
        )
    return list(listed)
