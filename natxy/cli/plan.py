"""`natxy plan`: says what a campaign runs, in which order, what it needs, and for how long."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from heapq import heapreplace
from importlib.util import find_spec

from natxy.campaign.plan import CampaignPlan
from natxy.campaign.shared_machine import shared_cpus, shared_tables
from natxy.cli.campaigns import (
    command_line,
    durations_s,
    further_plans,
    most_repeats_s,
    of_each,
    tell,
)
from natxy.cli.gateway_commands import gateway_commands
from natxy.cli.needs import needs_of
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
from natxy.report.numbers import about

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
