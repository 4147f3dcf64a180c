"""`natxy throughput`: the highest rate at which nothing is lost."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from natxy.campaign.journal import FILE_NAME as JOURNAL
from natxy.campaign.journal import Journal
from natxy.campaign.provenance import provenance
from natxy.cli.options import (
    DirectionOption,
    DrainOption,
    DurationOption,
    FrameSizeOption,
    JsonOption,
    SeedOption,
    SettleOption,
    TestbedArgument,
    progress_console,
    repeat_command,
    result_console,
    search_error,
    seconds,
    seed_of,
    with_traffic_options,
)
from natxy.cli.progress import SearchDisplay
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError
from natxy.model.testbed import read_testbed
from natxy.model.throughput_result import ThroughputResult
from natxy.procedure.observer import Observers
from natxy.procedure.profile import PROFILES, Profile
from natxy.procedure.setup import Setup, set_up
from natxy.procedure.throughput import ThroughputPlan
from natxy.procedure.throughput import throughput as measure
from natxy.procedure.timing import Timing
from natxy.report.results_json import FILE_NAME as RESULTS
from natxy.report.results_json import result_entry, write_results
from natxy.report.throughput_table import notes, throughput_table


def throughput(
    testbed: TestbedArgument,
    profile: Annotated[
        str, typer.Option(help="rfc: 60 s trials, 10 repetitions. quick: 0.2 s, 3.", metavar="NAME")
    ] = "rfc",
    duration: DurationOption = None,
    drain: DrainOption = None,
    settle: SettleOption = None,
    repetitions: Annotated[int | None, typer.Option(help="Searches.", metavar="N")] = None,
    max_rate: Annotated[
        int | None, typer.Option(help="Highest rate to try, if not the media's.", metavar="FPS")
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="When to stop: 0.1% of the rate, or 100 fps.", metavar="E")
    ] = None,
    frame_size: FrameSizeOption = None,
    direction: DirectionOption = None,
    seed: SeedOption = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for journal and results.", metavar="DIR")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Find the throughput by bisection (RFC 2544 section 26.1, RFC 8219)."""
    base = _profile(profile)
    plan = ThroughputPlan(
        timing=Timing(
            duration_s=seconds("--duration", duration, base.timing.duration_s),
            drain_s=seconds("--drain", drain, base.timing.drain_s),
            settle_s=seconds("--settle", settle, base.timing.settle_s),
        ),
        repetitions=base.repetitions if repetitions is None else repetitions,
        error=search_error(error),
        max_rate_fps=max_rate,
        seed=seed_of(seed),
    )
    written, source = read_testbed(testbed)
    asked = with_traffic_options(written, frame_size=frame_size, direction=direction)
    folder = output or Path("natxy-results") / f"{datetime.now():%Y%m%dT%H%M%S}-throughput"
    with set_up(asked, source, dut_of(asked, source)) as setup:
        result = _measured(plan, setup, folder)
    write_results(folder / RESULTS, [result])
    _show(result, folder, as_json=json_output)


def _measured(plan: ThroughputPlan, setup: Setup, folder: Path) -> ThroughputResult:
    header = provenance(setup, seed=plan.seed, command=[repeat_command(plan.seed)])
    title = f"Throughput of {setup.dut_name}, seed {plan.seed}"
    display = SearchDisplay(progress_console, title, float(plan.error.fraction))
    with Journal(folder / JOURNAL, header) as journal, display:
        result = measure(plan, setup.tester, setup.dut, Observers([journal, display]))
        journal.append(result)
    return result


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise ConfigurationError(f'--profile: "{name}" is not known, {" or ".join(PROFILES)} is')
    return PROFILES[name]


def _show(result: ThroughputResult, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([result_entry(result)], indent=2))
        return
    result_console.print(throughput_table([result]))
    lines = [*notes([result]), f"Repeat it: {repeat_command(result.seed)}", f"Journal: {folder}"]
    for line in lines:
        result_console.print(line, highlight=False, markup=False, soft_wrap=True)
