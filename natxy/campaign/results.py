"""results.json of a campaign: what its cells found, for programs."""

from collections.abc import Iterator
from typing import Any

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.records import CampaignState
from natxy.report.results_json import FILE_NAME, Made, cell_entry, write_entries


def write_campaign_results(folder: CampaignFolder, state: CampaignState) -> None:
    """Writes the file, in place of that of an earlier run of the same campaign."""
    write_entries(folder.path / FILE_NAME, list(_entries(state)))


def _entries(state: CampaignState) -> Iterator[dict[str, Any]]:
    for cell in state.cells.values():
        version = cell.begun.provenance.get("natxy_version", state.header["natxy_version"])
        made = Made(
            command=state.header["command"][0],
            started=cell.begun.started,
            natxy_version=version,
        )
        for result in cell.results:
            yield cell_entry(
                result,
                made,
                column=cell.begun.column,
                measure=cell.begun.measure,
                number=cell.begun.round,
                scaled_down=state.header["quick"],
            )
