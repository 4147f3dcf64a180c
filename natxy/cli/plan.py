"""`natxy plan`: says what a campaign will run, in which order."""

import shlex

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from natxy.cli.campaigns import check, command_line, tell
from natxy.cli.options import SeedOption, seed_of
from natxy.cli.run import ExperimentArgument, QuickOption


def plan(
    experiment: ExperimentArgument, quick: QuickOption = False, seed: SeedOption = None
) -> None:
    """Show the cells of a campaign in their order, and the commands that it runs."""
    asked = read_asked(experiment)
    chosen = asked.experiment.seed if seed is None else seed
    planned = plan_of(asked.experiment, asked.testbed, seed_of(chosen), quick=quick)
    check(planned)
    tell(f"{asked.experiment.title}: {len(planned.cells)} cells, seed {planned.seed}")
    hooks = planned.experiment.hooks
    for when in ("before", "before_column", "after_column", "after"):
        for command in getattr(hooks, when):
            tell(f"{when}: {shlex.join(command)}")
    for number, cell in enumerate(planned.cells, start=1):
        for command in cell.column.before:
            tell(f"before_column: {shlex.join(command)}")
        tell(f"{number:4}  round {cell.round}  {cell.title}: {command_line(cell)}")
