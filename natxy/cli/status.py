"""`natxy status`: says what a campaign has done."""

from collections.abc import Sequence

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.plan import Cell, plan_again
from natxy.campaign.records import CampaignState, CellState, read_campaign
from natxy.cli.campaigns import pace_of, tell
from natxy.cli.narrator import Pace
from natxy.cli.run import FolderArgument
from natxy.report.found_words import found
from natxy.report.numbers import seconds_left


def status(folder: FolderArgument) -> None:
    """Show which cells of a campaign are done, with their figures.

    Examples:
        natxy status natxy-results/monday
    """
    campaign = CampaignFolder(path=folder)
    asked = campaign.asked()
    state = read_campaign(campaign.journal)
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    runs = campaign.is_run
    failed = sum(each.failed for each in state.cells.values())
    open_cells = [cell for cell in plan.cells if not state.ended(cell.key)]
    ended = len(plan.cells) - len(open_cells)
    left = left_of(open_cells, pace_of(plan, state, testbeds=len(asked.testbeds)))
    said = f"{ended} of {len(plan.cells)} cells ended, {failed} failed{left}"
    tell(f"{asked.experiment.title}: {said}")
    for number, cell in enumerate(plan.cells, start=1):
        tell(f"{number:4}  round {cell.round}  {cell.title}: {said_of(cell, state, runs=runs)}")


def left_of(cells: Sequence[Cell], pace: Pace) -> str:
    """Returns how long cells that have not ended take, in words; empty: it is not known."""
    left_s = pace.left_s(cells) if cells else None
    return "" if left_s is None else f", about {seconds_left(left_s)} left"


def said_of(cell: Cell, state: CampaignState, *, runs: bool) -> str:
    """Returns what a cell has found, or how far it is."""
    known: CellState | None = state.cells.get(cell.key)
    if known is None:
        return "not begun"
    if known.end is None:
        trials = f"{known.trials} trials"
        return (
            f"running, {trials} so far"
            if runs and cell.key == state.last
            else f"interrupted after {trials}; a trial that had not ended is lost"
        )
    failed = (f"failed: {known.end.error}",) if known.failed else ()
    figures = found(known.results, summed=cell.measure.both_directions)
    return "; ".join((*figures, *failed))
