"""Tests of a run that was killed in its first line, and of the sign that a campaign runs."""

from pathlib import Path

import pytest

from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.records import read_campaign
from natxy.errors import ConfigurationError
from tests.unit.campaigns import run


@pytest.mark.parametrize(
    "torn", [b"", b"\x1f", b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xaa"], ids=["empty", "an octet", "a part"]
)
def test_a_run_that_was_killed_in_its_first_line_can_begin_again(
    torn: bytes, experiment: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    journal = folder / "journal.jsonl.gz"
    journal.write_bytes(torn)
    with pytest.raises(ConfigurationError, match="is empty, since the run was killed before"):
        read_campaign(journal)
    run(experiment, folder)
    assert len(read_campaign(journal).cells) == 8
    with pytest.raises(ConfigurationError, match="holds a campaign already"):
        run(experiment, folder)


def test_a_run_that_begins_again_has_its_own_testbeds(experiment: Path, tmp_path: Path) -> None:
    folder = CampaignFolder(path=tmp_path / "campaign")
    testbed = experiment.parent / "testbed.toml"
    other = tmp_path / "other.toml"
    other.write_text(testbed.read_text().replace("cores = [0]", "cores = [1]"))
    folder.path.mkdir()
    folder.create(read_asked(experiment, (testbed, other)))
    folder.journal.write_bytes(b"")
    assert len(folder.asked().testbeds) == 2
    folder.create(read_asked(experiment))
    folder.journal.touch()
    assert len(folder.asked().testbeds) == 1


def test_a_damaged_journal_is_kept(experiment: Path, tmp_path: Path) -> None:
    """Only what a kill leaves is removed: this one has a first line that cannot be read."""
    journal = tmp_path / "campaign" / "journal.jsonl.gz"
    journal.parent.mkdir()
    journal.write_bytes(b"no journal\n")
    with pytest.raises(ConfigurationError, match="cannot be read as a journal"):
        run(experiment, journal.parent)
    assert journal.read_bytes() == b"no journal\n"


def test_who_looks_at_a_campaign_sees_whether_it_runs(tmp_path: Path) -> None:
    folder = CampaignFolder(path=tmp_path / "campaign")
    assert not folder.is_run, "there is none"
    with folder.locked():
        assert folder.is_run
    assert not folder.is_run
