"""`natxy status`: says what a campaign has done."""

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.plan import Cell, plan_again
from natxy.campaign.records import CampaignState, CellState, read_campaign
from natxy.cli.campaigns import tell
from natxy.cli.narrator import found
from natxy.cli.resume import FolderArgument


def status(folder: FolderArgument) -> None:
    """Show which cells of a campaign are done, with their figures."""
    campaign = CampaignFolder(path=folder)
    asked = campaign.asked()
    state = read_campaign(campaign.journal)
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    ended = sum(state.ended(cell.key) for cell in plan.cells)
    failed = sum(each.failed for each in state.cells.values())
    tell(f"{asked.experiment.title}: {ended} of {len(plan.cells)} cells ended, {failed} failed")
    for number, cell in enumerate(plan.cells, start=1):
        tell(f"{number:4}  round {cell.round}  {cell.title}: {said_of(cell, state)}")


def said_of(cell: Cell, state: CampaignState) -> str:
    """Returns what a cell has found, or how far it is."""
    known: CellState | None = state.cells.get(cell.key)
    if known is None:
        return "not begun"
    if known.end is None:
        return f"interrupted after {known.trials} trials"
    failed = (f"failed: {known.end.error}",) if known.failed else ()
    return "; ".join((*map(found, known.results), *failed))
