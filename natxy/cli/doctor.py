"""`natxy doctor`: reports what disturbs a measurement on this machine."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import click
from rich.padding import Padding
from rich.text import Text

from natxy.cli.options import CoresOption, JsonOption, cpus_of, result_console
from natxy.cli.sentences import quote, say
from natxy.cli.streams import one_line
from natxy.doctor.finding import ONLY_IF, Finding, Grade, Machine
from natxy.doctor.kernel import examine_kernel
from natxy.doctor.limits import examine_capabilities, examine_limits
from natxy.doctor.ports import examine_nodes, examine_ports, examine_stack, ports_of
from natxy.doctor.processor import examine_processor
from natxy.doctor.tools import examine_tools
from natxy.errors import ConfigurationError
from natxy.model.testbed import read_testbed
from natxy.setting import Argument, Setting

MARKS = {Grade.IMPOSSIBLE: ("✖", "red"), Grade.COSTS: ("▲", "yellow"), Grade.GOOD: ("●", "green")}
IMPOSSIBLE_STATUS = 1
SELF_TEST = "`natxy self-test` finds the rates that this tester reaches as it is."


def doctor(
    testbed: Annotated[
        Path | None,
        Argument(
            "testbed",
            "Testbed file, whose cores and ports are examined",
            "TESTBED",
            default="none",
        ),
    ] = None,
    cores: CoresOption = "0",
    verbose: Annotated[
        bool,
        Setting("verbose", "List what is fine, too", short="List what is fine, too", letter="v"),
    ] = False,
    script: Annotated[
        bool,
        Setting(
            "script",
            "Print the remedies as a shell script; read it before you run it",
            short="Print the remedies as a shell script",
        ),
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Report what disturbs a measurement on this machine, its effect and the remedy.

    Examples:
        natxy doctor
        natxy doctor testbed.toml -v
        natxy doctor --script > remedies.sh
    """
    if script and json_output:
        raise ConfigurationError("--script: is not possible with --json (expected one of them)")
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
    if script:
        print("\n".join(_script(findings)))
        _end(findings)
        return
    show(findings, json_output=json_output, verbose=verbose)


def show(findings: Sequence[Finding], *, json_output: bool, verbose: bool) -> None:
    """Prints what is wrong, the worst first, and what is fine; exits if one makes it impossible."""
    if json_output:
        print(json.dumps([finding.model_dump(mode="json") for finding in findings], indent=2))
    else:
        wrong, fine = by_grade(findings)
        for finding in wrong:
            _show(finding)
        if verbose:
            for finding in fine:
                _head(finding)
        else:
            more = "; -v lists them" if fine else ""
            say(result_console, f"{_checks(len(fine))} passed{more}.")
        if wrong:
            say(result_console, SELF_TEST)
    _end(findings)


def by_grade(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Returns the findings that something is wrong with, the worst first, and the others."""
    order = list(MARKS)
    ordered = sorted(findings, key=lambda finding: order.index(finding.grade))
    count = sum(1 for finding in findings if finding.grade is not Grade.GOOD)
    return ordered[:count], ordered[count:]


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count} checks"


def _end(findings: Sequence[Finding]) -> None:
    if any(finding.grade is Grade.IMPOSSIBLE for finding in findings):
        raise click.exceptions.Exit(IMPOSSIBLE_STATUS)


def _show(finding: Finding) -> None:
    """Prints a problem; its remedy is not wrapped, so that it can be copied whole."""
    _head(finding)
    result_console.print(Padding(Text(finding.cost), (0, 0, 0, 2), expand=False))
    quote(result_console, f"  {finding.remedy}")
    result_console.print()


def _head(finding: Finding) -> None:
    mark, colour = MARKS[finding.grade]
    head = Text.assemble((mark, colour), " ", (finding.name, "bold"), f": {finding.state}")
    result_console.print(head)


def _script(findings: Sequence[Finding]) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "# The remedies of `natxy doctor`. Read each line before you run it: natxy runs none."
    yield '# Lines below an "Only if" could do harm: remove their # where the condition holds.'
    for finding in by_grade(findings)[0]:
        yield f"\n# {one_line(f'{finding.name}: {finding.state}')}"
        command, asks, condition = one_line(finding.remedy).partition(ONLY_IF)
        if asks:
            yield f"# Only if {condition}:"
        yield f"# {command}" if asks else command
