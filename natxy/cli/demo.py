"""`natxy demo`: a campaign that measures real gateways in network namespaces of this machine.

A table of each gateway is shown when it is measured.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import click
from rich.console import Console

import natxy
from natxy.campaign.data import read_data
from natxy.campaign.folder import PAGE, CampaignFolder, read_asked
from natxy.campaign.plan import CampaignPlan, Cell, plan_of
from natxy.campaign.report import write_report
from natxy.campaign.runner import now
from natxy.cli.campaigns import check, start, tell
from natxy.cli.narrator import Narrator
from natxy.cli.options import (
    SeedOption,
    progress_console,
    repeat_command,
    result_console,
    seed_of,
)
from natxy.cli.sentences import quote, say
from natxy.dut.config import NamespaceConfig
from natxy.dut.execution import how_to_install, missing_programs
from natxy.dut.recipe import drivers
from natxy.errors import ConfigurationError
from natxy.exact import check as check_range
from natxy.installed import HOW
from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import Options
from natxy.model.measurement import Measurement
from natxy.report.gateway_table import conformance_notes, gateway_table, throughput_table
from natxy.report.results_json import cell_entry, write_entries
from natxy.setting import Setting

EXPERIMENT = Path("demo/demo.toml")  # in the folder of the experiments
TITLE = "Throughput, frames a second per direction"
NOT_A_RESULT = (
    "This is no result by RFC 2544: its trials last 60 s, these at most 0.2 s, beside whatever "
    "else runs on this machine; ≥ marks a lower bound."
)
OUTPUT = Path("natxy-results/demo")
REPETITIONS = Setting(
    "repetitions",
    "Number of repetitions of each measurement",
    "N",
    default="5 of throughput, 1 or 3 of the others",
    short="Number of repetitions of each measurement",
)
MOST_REPETITIONS = 10**6


def demo(
    output: Annotated[
        Path,
        Setting(
            "output",
            "Folder for the journal, the results and the report, in place of those of an earlier "
            "demo",
            "DIR",
            short="Folder for the journal, the results and the report",
            letter="o",
        ),
    ] = OUTPUT,
    gateway: Annotated[
        str,
        Setting(
            "gateway",
            'Measure only the gateways whose name contains TEXT, such as "NAT44"',
            "TEXT",
            default="all",
            short="Measure only the gateways whose name contains TEXT",
        ),
    ] = "",
    seed: SeedOption = None,
    repetitions: Annotated[int | None, REPETITIONS] = None,
) -> None:
    """Measure four gateways on this machine, with short trials, and write an HTML report.

    Examples:
        natxy demo
        natxy demo --gateway NAT44
        natxy demo --output /tmp/demo
    """
    if repetitions is not None:
        check_range(REPETITIONS, repetitions, lowest=1, highest=MOST_REPETITIONS)
    asked = read_asked(demo_experiment())
    options: Options = {} if repetitions is None else {"repetitions": repetitions}
    labels = _labels(asked.experiment, gateway) if gateway else None
    drawn = seed_of(seed)
    plan = plan_of(asked.experiment, asked.testbed, drawn, options=options, labels=labels)
    check(plan)
    if lacking := _lacking(plan):
        for label, sentence in lacking.items():
            tell(f"{label}: {sentence}")
        names = labels or [column.label for column in asked.experiment.columns]
        labels = [label for label in names if label not in lacking]
        if not labels:
            raise click.exceptions.Exit(1)
        plan = plan_of(asked.experiment, asked.testbed, drawn, options=options, labels=labels)
    folder = CampaignFolder(path=output)
    command = repeat_command(plan.seed)
    shown = GatewayTables(
        console=progress_console,
        tables=result_console,
        output=output / "results.json",
        command=command,
    )
    try:
        start(asked, plan, folder, command, watcher=shown, replace=True)
    finally:  # what was measured is shown in spite of a full disk
        shown.show_rest()
        throughputs = [result for result in shown.results if result.procedure == "throughput"]
        if throughputs:
            result_console.print(throughput_table(_title(throughputs), throughputs))
            tell(NOT_A_RESULT)
    for line in shown.failures():
        tell(line)
    quote(result_console, _report(folder.path))
    if shown.failed:
        raise click.exceptions.Exit(1)


def _labels(experiment: Experiment, text: str) -> list[str]:
    """Returns the gateways whose name contains the text; raises ConfigurationError if none does."""
    names = [column.label for column in experiment.columns]
    found = [name for name in names if text.casefold() in name.casefold()]
    if not found:
        expected = ", ".join(f'"{name}"' for name in names)
        raise ConfigurationError(
            f'--gateway: no gateway has "{text}" in its name (expected a part of one of {expected})'
        )
    return found


def _lacking(plan: CampaignPlan) -> dict[str, str]:
    """Returns the gateways whose programs are not installed here, each with how to install them."""
    found = {}
    for cell in plan.cells:
        dut = cell.testbed.get("dut", {})
        if dut.get("kind") != "namespace":
            continue
        driver = NamespaceConfig.model_validate(dut).driver
        if missing := missing_programs(drivers("namespace")[driver].in_lab.packages):
            found[cell.column.label] = f"left out; {how_to_install(missing)}"
    return found


def demo_experiment() -> Path:
    """Returns the file's path in the source tree or in the installed package."""
    package = Path(natxy.__file__).parent
    for folder in (package.parent / "experiments", package / "experiments"):
        if (path := folder / EXPERIMENT).is_file():
            return path
    raise ConfigurationError(
        f"experiments/{EXPERIMENT}: is not installed (expected in {package}; {HOW})"
    )


def _title(throughputs: Sequence[Measurement]) -> str:
    sizes = {result.conditions.frame_size_bytes for result in throughputs}
    octets = [f" ({size} B as IPv6, {size - 20} B as IPv4)" for size in sizes]
    return TITLE + (octets[0] if len(octets) == 1 else "")


def _report(folder: Path) -> str:
    """Writes the report; returns where it is, or how to get it."""
    try:
        write_report(read_data(folder), folder / "report", html=True)
    except ConfigurationError as error:  # tables and data are written
        return f"No HTML report: {error.in_options}; then `natxy report {folder}` writes it."
    return f"Report: {folder / PAGE}"


@dataclass(kw_only=True)
class GatewayTables(Narrator):
    """Writes all results to a file as they come; each column of the campaign is a gateway."""

    tables: Console
    output: Path
    command: str  # that repeats the demo
    _entries: list[dict[str, Any]] = field(default_factory=list, init=False)  # of the file
    _started: str = field(default="", init=False)  # the cell that runs
    results: list[Measurement] = field(default_factory=list, init=False)  # of all gateways
    failed: dict[str, list[str]] = field(default_factory=dict, init=False)  # cells, by error
    _left: Sequence[Cell] = field(default=(), init=False)  # after the cell that runs
    _shown: set[str] = field(default_factory=set, init=False)  # gateways

    def cell_started(self, left: Sequence[Cell], number: int, count: int) -> None:
        super().cell_started(left, number, count)
        self._left = left[1:]
        self._started = now()

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        super().cell_ended(cell, results, error)
        gateway = cell.column.label
        self.results += [_named(result, gateway) for result in results]
        made = {
            "command": self.command,
            "started": self._started,
            "natxy_version": natxy.__version__,
        }
        self._entries += [
            cell_entry(
                result,
                made,
                column=gateway,
                measure=cell.measure.name,
                number=cell.round,
                scaled_down=False,
            )
            for result in results
        ]
        if error:
            self.failed.setdefault(error, []).append(cell.title)
        if not any(other.column.label == gateway for other in self._left):
            self._show(gateway)
        write_entries(self.output, self._entries)

    def show_rest(self) -> None:
        """Shows the gateways whose measurements have not all ended."""
        for gateway in dict.fromkeys(result.conditions.dut for result in self.results):
            if gateway not in self._shown:
                self._show(gateway)

    def failures(self) -> Iterator[str]:
        """Yields a sentence for each error; a port in use, for example, fails all cells."""
        for error, cells in self.failed.items():
            which = cells[0] if len(cells) == 1 else f"{len(cells)} measurements"
            yield f"{which} failed: {error}"

    def _show(self, gateway: str) -> None:
        self._shown.add(gateway)
        results = [result for result in self.results if result.conditions.dut == gateway]
        if results:
            self.tables.print(gateway_table(gateway, results))
        for line in conformance_notes(results):
            say(self.tables, line)


def _named(result: Measurement, gateway: str) -> Measurement:
    conditions = result.conditions.model_copy(update={"dut": gateway})
    return result.model_copy(update={"conditions": conditions})
