"""`natxy plan`: says what a campaign runs, in which order, what it needs, and for how long.

A cell needs privileges, programs, CPUs and memory; its gateway may be controlled by commands, which
are shown as well.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from heapq import heapreplace
from importlib.util import find_spec
from typing import Any

from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.testbeds import shared_cpus, shared_tables
from natxy.cli.campaigns import (
    command_line,
    durations_s,
    further_plans,
    most_repeats_s,
    of_each,
    tell,
    work_of,
)
from natxy.cli.options import SeedOption
from natxy.cli.run import (
    DutOption,
    ExperimentArgument,
    OwnOptions,
    QuickOption,
    TestbedsOption,
    asked_of,
    planned_of,
)
from natxy.cli.sentences import joined
from natxy.doctor.kernel import ENGINE_MB
from natxy.dut.config import LABS, CommandConfig, NamespaceConfig, SshConfig
from natxy.dut.cpus import gateway_cpu, gateway_cpus
from natxy.dut.execution import LAB_PACKAGES
from natxy.dut.recipe import drivers
from natxy.errors import DutError
from natxy.guest.machine import QEMU
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.report.numbers import about

# Ports in memory or in files.
WITHOUT_ROOT = ("ring", "net_memif", "net_ring", "net_null", "net_pcap")
TESTER_BYTES = 8  # of the tester's table, for each connection (docs/performance.md)
# Of the kernel's objects of a connection with NAT, as `natxy capacity` measures it, and of a hash
# bucket (struct hlist_nulls_head).
CONNECTION_BYTES, BUCKET_BYTES = 384, 8
NOT_INCLUDED = (
    "The durations are estimates (docs/reference/durations.md). Commands of the experiment are not "
    'included, nor repeats of trials that noise makes invalid, except where a cell says "up to".'
)


def plan(
    experiment: ExperimentArgument,
    quick: QuickOption = False,
    seed: SeedOption = None,
    dut: DutOption = None,
    option: OwnOptions = None,
    testbeds: TestbedsOption = None,
) -> None:
    """Show a campaign's cells in their order, what they need, and how long they take.

    It runs nothing. Read the commands that it shows before you run an experiment, a testbed or a
    recipe of somebody else: they run with your rights.

    Examples:
        natxy plan experiment.toml
        natxy plan experiment.toml --quick
        natxy plan experiment.toml --dut router.toml
    """
    asked = asked_of(experiment, testbeds, dut)
    planned = planned_of(asked, seed, quick=quick, option=option)
    plans = (planned, *further_plans(asked, planned))
    lasting_s = durations_s(planned)
    total_s = in_parallel_s(lasting_s, len(plans))
    several = f" on {len(plans)} testbeds at once" if len(plans) > 1 else ""
    count = len(planned.cells)
    tell(
        f"{asked.experiment.title}: {count} cells, about {about(total_s)}{several}, seed "
        f"{planned.seed}"
    )
    for remark in asked.remarks:
        tell(str(remark))
    hooks = planned.experiment.hooks
    for when in ("before", "before_column", "after_column", "after"):
        for command in getattr(hooks, when):
            tell(f"{when}: {joined(command)}")
    for line in gateway_commands(plans):
        tell(line)
    each = zip(planned.cells, lasting_s, most_repeats_s(planned), strict=True)
    for number, (cell, cell_s, more_s) in enumerate(each, start=1):
        for command in cell.column.before:
            tell(f"before_column: {joined(command)}")
        longest = f", up to {about(cell_s + more_s)} if trials are invalid" if more_s else ""
        title = f"{number:4}  round {cell.round}  {cell.title} (about {about(cell_s)}{longest})"
        tell(f"{title}: {command_line(cell)}")
    for line in _needs(plans):
        tell(line)
    numbered = dict(enumerate(plans, start=1))
    for shared in (*shared_cpus(numbered), *shared_tables(numbered)):
        tell(f"On one machine: {shared}")
    if several:
        tell(f"One after another, the cells take about {about(sum(lasting_s))}.")
    tell(f"If it starts now, it ends about {ends(datetime.now(), total_s)}.")
    tell(NOT_INCLUDED)


def _needs(plans: Sequence[CampaignPlan]) -> Iterator[str]:
    """Yields what the cells need, a line for those that need the same."""
    for number, planned in enumerate(plans, start=1):
        cells: dict[str, list[int]] = {}
        for place, needs in enumerate(of_each(planned, needs_of), start=1):
            cells.setdefault(needs, []).append(place)
        where = f"Testbed {number} needs" if len(plans) > 1 else "Needs"
        for needs, places in cells.items():
            of_cells = f", for cells {ranges(places)}" if len(cells) > 1 else ""
            yield f"{where}{of_cells}: {needs}."
    if len(plans) > 1:
        absent = "" if find_spec("distributed") else " (not installed here)"
        yield f"Several testbeds need the extra natxy[distributed]{absent}."


def ranges(numbers: Sequence[int]) -> str:
    """Returns increasing numbers as text: "1-3, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def in_parallel_s(lasting_s: Sequence[float], testbeds: int) -> float:
    """Returns when the last cell ends, where the testbed that is free first gets the next one."""
    free_at_s = [0.0] * testbeds
    for cell_s in lasting_s:
        heapreplace(free_at_s, free_at_s[0] + cell_s)
    return max(free_at_s)


def ends(begin: datetime, seconds: float) -> str:
    """Returns the time of the end, with the date if it is another day's."""
    end = begin + timedelta(seconds=seconds)
    return f"{end:%H:%M}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M}"


def gateway_commands(plans: Sequence[CampaignPlan]) -> Iterator[str]:
    """Yields a line for each line of a command, once for all cells whose gateway has it."""
    lines = (
        line for plan in plans for cell in plan.cells for line in _lines(cell.testbed.get("dut"))
    )
    yield from dict.fromkeys(lines)


def _lines(section: Any) -> Iterator[str]:
    match section:
        case {"kind": "command"}:
            for key, command in CommandConfig.model_validate(section):
                if key != "kind" and isinstance(command, str):
                    yield from (f"dut.{key}: {line}" for line in command.split("\n"))
        case {"kind": "ssh"}:
            config = SshConfig.model_validate(section)
            yield (
                f"dut.recipe: {config.recipe} as {config.user} on {config.host} (`natxy dut show "
                f"{config.recipe}` shows its commands)"
            )


def needs_of(cell: Cell) -> str:
    """Returns in words what the cell needs on the machine that measures it."""
    written: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
    testbed = work_of(cell).asked(written)
    parts = (
        "root" if _needs_root(testbed) else "no privileges",
        *_programs(testbed),
        _cpus(testbed, cell.column.cores),
        f"about {_size(memory_bytes(testbed, cell.options))} of memory",
    )
    return "; ".join(parts)


def _needs_root(testbed: Testbed) -> bool:
    """docs/privileges.md lists what needs root, and what a user can be given instead."""
    kind = testbed.dut.get("kind")
    if kind in LABS:
        return bool(kind != "calibration")
    ports = (testbed.tester.left.device, testbed.tester.right.device)
    return any(device is not None and not device.startswith(WITHOUT_ROOT) for device in ports)


def _programs(testbed: Testbed) -> Iterator[str]:
    if testbed.dut.get("kind") == "command":
        yield "the programs that the commands of [dut] call"
    if testbed.dut.get("kind") == "ssh":
        yield "the extra natxy[ssh]"
    if testbed.dut.get("kind") == "guest":
        yield _named([QEMU])
    if testbed.dut.get("kind") != "namespace":
        return
    lab = drivers("namespace")[NamespaceConfig.model_validate(testbed.dut).driver].in_lab
    yield _named(sorted({*LAB_PACKAGES, *lab.packages}))


def _named(names: Sequence[str]) -> str:
    missing = [name for name in names if shutil.which(name) is None]
    absent = f" (not installed here: {', '.join(missing)})" if missing else ""
    return f"programs {', '.join(names)}{absent}"


def _cpus(testbed: Testbed, cores: int | None) -> str:
    tester = testbed.tester.cores
    return f"{_numbered(tester)} for the tester{_of_the_gateway(testbed, cores)}"


def _of_the_gateway(testbed: Testbed, cores: int | None) -> str:
    if testbed.dut.get("kind") not in LABS:
        return ""
    tester = testbed.tester.cores
    given: int | None = testbed.dut.get("gateway_cpu")  # perhaps of another machine
    first = gateway_cpu(None, tester) if given is None else given
    if first is None:
        return ", none is free for the gateway"
    try:
        return f", {_numbered(gateway_cpus(first, tester, cores or 1))} for the gateway"
    except DutError:
        return f", {cores} for the gateway (this machine has fewer)"


def _numbered(cpus: Sequence[int]) -> str:
    return f"CPU{'s' * (len(cpus) > 1)} {', '.join(map(str, cpus))}"


def memory_bytes(testbed: Testbed, options: dict[str, Any]) -> int:
    """Returns about how much memory tester and lab take; that of other gateways is unknown."""
    engine_mb = testbed.tester.memory_mb or ENGINE_MB
    connections = _connections(testbed, options)
    total = engine_mb * 2**20 + connections * TESTER_BYTES
    if testbed.dut.get("kind") == "namespace" and connections:
        lab = NamespaceConfig.model_validate(testbed.dut)
        entries = lab.conntrack_entries or connections
        total += min(connections, entries) * CONNECTION_BYTES
        total += (lab.hash_size or entries) * BUCKET_BYTES
    return total


def _connections(testbed: Testbed, options: dict[str, Any]) -> int:
    """Returns the most connections of a trial; a search for the capacity fills the whole table."""
    if testbed.connections is None:
        return 0
    asked = [testbed.connections.count]
    asked += map(int, re.findall(r"\d+", str(options.get("counts", ""))))
    if "c0" in options:
        asked.append(testbed.dut.get("conntrack_entries") or int(str(options["c0"])))
    return max(asked)


def _size(octets: int) -> str:
    return f"{octets / 1e9:.1f} GB" if octets >= 1e9 else f"{octets / 1e6:.0f} MB"
