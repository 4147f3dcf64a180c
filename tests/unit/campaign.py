"""What tests of campaign share with others."""

from pathlib import Path
from typing import Any

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.records import read_campaign
from natxy.cli.campaigns import go_on
from tests.unit.campaigns import planned


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the product catches it on purpose."""


def resume(folder: Path) -> None:
    campaign = CampaignFolder(path=folder)
    with campaign.locked():
        go_on(planned(folder / "experiment.toml"), campaign, retries_failed=False)


def what_counts(folder: Path) -> dict[str, Any]:
    """The results of the cells, and their trials without the time of day."""
    trials: dict[str, list[Any]] = {}
    key = ""
    for record in read_journal(folder / "journal.jsonl.gz"):
        if record["record"] == "cell":
            key = record["key"]
        if record["record"] == "trial":
            trials.setdefault(key, []).append({**record, "started": ""})
    state = read_campaign(folder / "journal.jsonl.gz")
    return {
        key: (cell.end and cell.end.error, trials[key], [one.figures for one in cell.results])
        for key, cell in sorted(state.cells.items())
    }
