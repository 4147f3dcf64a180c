"""`natxy doctor`: reports what disturbs a measurement on this machine."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from natxy.cli.options import CoresOption, JsonOption, cpus_of, result_console
from natxy.doctor.capabilities import examine_capabilities
from natxy.doctor.finding import Finding, Grade, Machine
from natxy.doctor.kernel import examine_kernel
from natxy.doctor.limits import examine_limits
from natxy.doctor.nodes import examine_nodes
from natxy.doctor.ports import examine_ports
from natxy.doctor.processor import examine_processor
from natxy.doctor.stack import examine_stack, ports_of
from natxy.doctor.tools import examine_tools
from natxy.model.testbed import read_testbed

MARKS = {
    Grade.GOOD: Text("●", "green"),
    Grade.COSTS: Text("▲", "yellow"),
    Grade.IMPOSSIBLE: Text("✖", "red"),
}
IMPOSSIBLE_STATUS = 1


def doctor(
    testbed: Annotated[
        Path | None,
        typer.Argument(
            help="Testbed file, whose cores and ports are examined [default: none].",
            show_default=False,
        ),
    ] = None,
    cores: CoresOption = "0",
    json_output: JsonOption = False,
) -> None:
    """Report what disturbs a measurement on this machine, its effect and the remedy."""
    tester = None if testbed is None else read_testbed(testbed)[0].tester
    machine, cpus = Machine(), cpus_of(cores) if tester is None else tester.cores
    findings = [
        *examine_tools(),
        *examine_capabilities(machine),
        *examine_limits(machine, cpus),
        *examine_processor(machine),
        *examine_kernel(machine, cpus),
        *(examine_stack(machine) if tester is None else [ports_of(tester)]),
        *examine_ports(machine),
        *examine_nodes(machine, cpus),
    ]
    show(findings, "Doctor", json_output=json_output, also=_sum_of(findings))


def show(findings: list[Finding], who: str, *, json_output: bool, also: str = "") -> None:
    """Prints findings, and a sentence under their table; exits if one makes it impossible."""
    if json_output:
        print(json.dumps([finding.model_dump(mode="json") for finding in findings], indent=2))
    else:
        result_console.print(findings_table(findings, who))
        if also:
            result_console.print(also)
    if any(finding.grade is Grade.IMPOSSIBLE for finding in findings):
        raise typer.Exit(IMPOSSIBLE_STATUS)


def findings_table(findings: list[Finding], who: str) -> Table:
    table = Table(title=f"{who} on {os.uname().nodename}", title_justify="left", show_lines=True)
    table.add_column("")
    for name in ("what", "state", "effect", "remedy"):
        table.add_column(name, overflow="fold")
    for finding in findings:
        table.add_row(
            MARKS[finding.grade],
            *map(Text, (finding.name, finding.state, finding.cost, finding.remedy)),
        )
    return table


def _sum_of(findings: list[Finding]) -> str:
    count = sum(1 for finding in findings if finding.grade is not Grade.GOOD)
    return (
        "Nothing on this machine disturbs a measurement."
        if count == 0
        else f"{count} of {len(findings)} checks found something that lowers figures or makes "
        "them vary. `natxy self-test` finds the rates that this tester reaches as it is."
    )
