"""`natxy resume`: goes on with an interrupted campaign."""

from pathlib import Path
from typing import Annotated

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.plan import plan_again
from natxy.campaign.records import read_campaign
from natxy.cli.campaigns import (
    EventsOption,
    check,
    check_cells,
    further_of,
    go_on,
    narrator,
    pace_of,
    tell,
)
from natxy.cli.run import SchedulerOption
from natxy.setting import Argument, Setting

FolderArgument = Annotated[Path, Argument("folder", "Folder of the campaign", "DIR")]


def resume(
    folder: FolderArgument,
    retry: Annotated[
        bool, Setting("retry", "Measure failed cells again", short="Measure failed cells again")
    ] = False,
    scheduler: SchedulerOption = None,
    json_output: EventsOption = False,
) -> None:
    """Go on with an interrupted campaign.

    With one testbed, only the trial that was running is lost. No finished trial is repeated. With
    several testbeds, the cells that were running are lost, and are measured again. The exit status
    is 1 if a cell failed.

    Examples:
        natxy resume natxy-results/monday
        natxy resume natxy-results/monday --retry
        natxy resume natxy-results/monday --json
    """
    campaign = CampaignFolder(path=folder)
    asked = campaign.asked()
    with campaign.locked():
        state = read_campaign(campaign.journal)
        plan = plan_again(asked.experiment, asked.testbed, state.header)
        check(plan)
        further = further_of(asked, plan, scheduler)
        pace = pace_of(plan, state, testbeds=further.testbeds)
        watcher = narrator(pace, as_json=json_output)
        ended = go_on(plan, campaign, retries_failed=retry, watcher=watcher, further=further)
    if not json_output:
        tell(f"Campaign: {folder}")
    check_cells(campaign, ended)
