"""`natxy plan`: says what a campaign will run, in which order, and about how long it takes."""

import shlex
from datetime import datetime, timedelta

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import CampaignPlan, Cell, plan_of
from natxy.cli.campaigns import check, command_line, tell, work_of
from natxy.cli.expected import duration_s
from natxy.cli.options import SeedOption, seed_of
from natxy.cli.run import ExperimentArgument, QuickOption
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.report.numbers import about

NOT_INCLUDED = (
    "The durations are estimates (docs/reference/durations.md). Commands of the experiment are not "
    "included, nor repeats of trials that noise makes invalid."
)


def plan(
    experiment: ExperimentArgument, quick: QuickOption = False, seed: SeedOption = None
) -> None:
    """Show the cells of a campaign in their order, their commands, and how long they take."""
    asked = read_asked(experiment)
    chosen = asked.experiment.seed if seed is None else seed
    planned = plan_of(asked.experiment, asked.testbed, seed_of(chosen), quick=quick)
    check(planned)
    lasting_s = durations_s(planned)
    total_s = sum(lasting_s)
    count = len(planned.cells)
    tell(f"{asked.experiment.title}: {count} cells, about {about(total_s)}, seed {planned.seed}")
    hooks = planned.experiment.hooks
    for when in ("before", "before_column", "after_column", "after"):
        for command in getattr(hooks, when):
            tell(f"{when}: {shlex.join(command)}")
    for number, (cell, cell_s) in enumerate(zip(planned.cells, lasting_s, strict=True), start=1):
        for command in cell.column.before:
            tell(f"before_column: {shlex.join(command)}")
        title = f"{number:4}  round {cell.round}  {cell.title} (about {about(cell_s)})"
        tell(f"{title}: {command_line(cell)}")
    tell(f"If it starts now, it ends about {ends(datetime.now(), total_s)}.")
    tell(NOT_INCLUDED)


def durations_s(planned: CampaignPlan) -> list[float]:
    """Returns about how long each cell takes; the rounds of a cell take equally long."""
    known: dict[tuple[str, str], float] = {}
    for cell in planned.cells:
        if (of := _of(cell)) not in known:
            testbed: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
            known[of] = float(duration_s(work_of(cell), testbed))
    return [known[_of(cell)] for cell in planned.cells]


def _of(cell: Cell) -> tuple[str, str]:
    return cell.column.label, cell.measure.name


def ends(begin: datetime, seconds: float) -> str:
    """Returns the time of the end, with the date if it is another day's."""
    end = begin + timedelta(seconds=seconds)
    return f"{end:%H:%M}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M}"
