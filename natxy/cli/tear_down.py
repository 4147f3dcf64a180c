"""`natxy tear-down`: how fast a stateful gateway deletes its connections."""

from dataclasses import replace
from typing import Annotated

import typer

from natxy.cli.counts import numbers_of
from natxy.cli.series import SeriesOptions, measuring_without, run_series
from natxy.dut.base import Dut
from natxy.model.measurement import Measurement
from natxy.procedure.establishment import PROFILES
from natxy.procedure.observer import Observer
from natxy.procedure.series_of_tables import check_connections, connections_of
from natxy.procedure.setup import ReadyTester
from natxy.procedure.tear_down import TearDownPlan
from natxy.procedure.tear_down import tear_down as measure


@measuring_without("duration", "direction", "connections")
def tear_down(
    options: SeriesOptions,
    counts: Annotated[
        str | None,
        typer.Option(help="1000,10000,100000: the list of N. None: the testbed's.", metavar="N"),
    ] = None,
) -> None:
    """Measure the connection tear-down rate (RFC 9693)."""
    base = options.profile_of(PROFILES)
    listed = numbers_of("--counts", counts)
    if listed:
        check_connections("--counts", listed)
        options = replace(options, connections=listed[0])

    def run(tester: ReadyTester, dut: Dut, seen: Observer) -> Measurement:
        plan = TearDownPlan(
            timing=options.timing(base.timing),
            seed=options.seed_value,
            repetitions=options.repetitions_of(base),
            counts=listed or (connections_of(tester).count,),
        )
        return measure(plan, tester, dut, seen)

    run_series(options, "tear-down", run)
