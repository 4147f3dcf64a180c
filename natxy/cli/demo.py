"""`natxy demo`: measures the throughput of real gateways in network namespaces."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import natxy
from natxy.campaign.journal import FILE_NAME as JOURNAL
from natxy.campaign.journal import Journal
from natxy.campaign.provenance import provenance
from natxy.cli.journal_named import naming
from natxy.cli.options import (
    SeedOption,
    progress_console,
    repeat_command,
    result_console,
    seed_of,
)
from natxy.cli.progress import SearchDisplay
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.measurement import Measurement
from natxy.model.testbed import read_testbed
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_table import side_by_side, side_by_side_notes
from natxy.report.results_json import write_results
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observers
from natxy.trial.profile import QUICK
from natxy.trial.setup import set_up

# Name of the testbed file, of the result, and of the gateway in the progress display.
GATEWAYS = (
    ("ipv4-router", "Linux router, IPv4", "the Linux kernel as an IPv4 router"),
    ("ipv6-router", "Linux router, IPv6", "the Linux kernel as an IPv6 router"),
    ("stateless-nat64", "tayga, stateless NAT64", "tayga as a stateless NAT64, both directions"),
)
ERROR = SearchError(fraction=Fraction(1, 100))  # short trials vary by more than that
REPETITIONS = 5  # the speed of a core that is shared with other programs varies
PATIENCE_S = Fraction(60)  # for all repetitions of a gateway: a demo should not take long
TITLE = "Throughput, frames a second per direction"
OUTPUT = Path("build/demo/results.json")


class SetupRecord(Model):
    """A line of the journal: the gateway of the trials after it, and their provenance."""

    record: Literal["setup"] = "setup"
    name: str
    provenance: dict[str, Any]


def demo(
    output: Annotated[
        Path,
        typer.Option(
            help="File for the results as JSON; the journal is written beside it.", metavar="FILE"
        ),
    ] = OUTPUT,
    seed: SeedOption = None,
    repetitions: Annotated[
        int,
        typer.Option(
            min=1,
            help="Largest number of searches for each gateway's throughput; none begins more than "
            "60 seconds after the first.",
            metavar="N",
        ),
    ] = REPETITIONS,
) -> None:
    """Find the throughput of three gateways on this machine, with trials of 0.2 seconds."""
    plan_seed = seed_of(seed)
    header = {
        "natxy_version": natxy.__version__,
        "command": [repeat_command(plan_seed)],
        "seed": plan_seed,
    }
    results: list[Measurement] = []
    with Journal(output.parent / JOURNAL, header, replace=True) as journal, naming(journal):
        for number, (file_name, name, what) in enumerate(GATEWAYS, start=1):
            title = f"{number} of {len(GATEWAYS)}: {what}, seed {plan_seed}"
            plan = _plan(name, plan_seed, repetitions)
            results.append(_measure(demo_testbed(file_name), plan, title, journal))
            write_results(output, results)
    _show(results, plan_seed, output)


def demo_testbed(name: str) -> Path:
    """Returns the file's path in the source tree or in the installed package."""
    package = Path(natxy.__file__).parent
    for folder in (package.parent / "experiments", package / "experiments"):
        path = folder / "demo" / f"{name}.toml"
        if path.is_file():
            return path
    raise ConfigurationError(
        f"experiments/demo/{name}.toml: is not installed (expected in {package}; `make install` "
        "installs it)"
    )


def _plan(name: str, seed: int, repetitions: int) -> ThroughputPlan:
    return ThroughputPlan(
        timing=QUICK.timing,
        repetitions=repetitions,
        buffer_frames=QUICK.buffer_frames,
        loss_verifications=QUICK.loss_verifications,
        patience_s=PATIENCE_S,
        seed=seed,
        error=ERROR,
        dut_name=name,
    )


def _measure(path: Path, plan: ThroughputPlan, title: str, journal: Journal) -> Measurement:
    testbed, source = read_testbed(path)
    display = SearchDisplay(progress_console, title, float(ERROR.fraction))
    with set_up(testbed, source, dut_of(testbed, source)) as setup:
        kept = provenance(setup, seed=plan.seed, command=[repeat_command(plan.seed)])
        journal.append(SetupRecord(name=str(plan.dut_name), provenance=kept))
        with display:
            result = throughput(plan, setup.tester, setup.dut, Observers([journal, display]))
    journal.append(result)
    return result


def _show(results: list[Measurement], seed: int, output: Path) -> None:
    result_console.print(side_by_side(TITLE, results))
    lines = [
        *side_by_side_notes(results),
        "tayga 0.9.2 computes the UDP checksum of one frame in 65,536 wrong; the demo sends no "
        "such frame (avoid_zero_checksum in [traffic]).",
        f"Seed {seed}. Repeat it: {repeat_command(seed)}",
        f"Results: {output}, journal of all trials: {output.parent / JOURNAL}",
        "Next: `natxy doctor` reports what on this machine disturbs a measurement.",
    ]
    for line in lines:
        result_console.print(line, highlight=False, markup=False, soft_wrap=True)
