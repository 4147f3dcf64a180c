"""`natxy overload`: what more network flows cost."""

import re
from typing import Annotated

import typer

from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.cli.throughput_search import throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure.overload import OverloadPlan
from natxy.procedure.overload import overload as measure


@measuring
def overload(
    options: SeriesOptions,
    flows: Annotated[
        str, typer.Option(help="Numbers of flows, each against one flow.", metavar="N,...")
    ] = "10,100,1000,10000",
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Flows start one group after the other.")
    ] = False,
    max_rate: Annotated[
        int | None, typer.Option(help="Highest rate to try, if not the media's.", metavar="FPS")
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="When to stop: 0.1% of the rate, or 100 fps.", metavar="E")
    ] = None,
) -> None:
    """Measure the degradation of throughput with network flows (RFC 8219 section 10)."""
    plan = OverloadPlan(
        search=throughput_search(options, error=error, max_rate=max_rate),
        flows=_flows(flows),
        incremental=incremental,
    )
    run_series(options, "overload", lambda tester, dut, seen: measure(plan, tester, dut, seen))


def _flows(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,9}(,[1-9]\d{0,9})*", text):
        raise ConfigurationError(f'--flows: "{text}" is no list of numbers, 10,100 is right')
    return tuple(dict.fromkeys(int(flows) for flows in text.split(",")))
