"""The pages of a running campaign: on loopback, as the journal is now, and nothing else."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import Journal, read_journal
from natxy.cli.serve import live, served
from natxy.errors import ConfigurationError
from natxy.report.html_text import EVENTS, live_page
from tests.unit.campaigns import HEADER, run
from tests.unit.serve import running


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        text: str = answer.read().decode()
        return text


@pytest.fixture
def folder(experiment: Path, tmp_path: Path) -> Path:
    run(experiment, tmp_path / "campaign")
    return tmp_path / "campaign"


def test_a_browser_sees_the_cells_and_the_report(folder: Path) -> None:
    with running(served(folder)) as address:
        text = read(address)
        assert "throughput, 84 B, round 2" in text
        assert "throughput 50,000 fps" in text
        assert 'id="chart-throughput"' in read(f"{address}/report.html")


@pytest.mark.parametrize("path", ["/journal.jsonl.gz", "/../../etc/passwd", "/report.html/x"])
def test_nothing_else_can_be_read(folder: Path, path: str) -> None:
    with running(served(folder)) as address, pytest.raises(urllib.error.HTTPError) as refused:
        read(address + path)
    with refused.value as answer:
        assert answer.code == 404


def test_what_the_page_knows_cannot_end_its_script() -> None:
    known = {"title": "Rates & </script><b>", "cells": [], "trials": []}
    text = live_page(known)
    assert "<title>Rates &amp; &lt;/script&gt;&lt;b&gt;</title>" in text
    assert text.count("</script>") == 2
    assert "Rates & \\u003c/script>" in text


def test_it_tells_what_failed_and_what_each_cell_has_found(folder: Path) -> None:
    known = live(CampaignFolder(path=folder))
    assert (known["ended"], known["failed"], len(known["cells"])) == (8, 0, 8)
    assert known["trials"] == [], "nothing runs"
    assert {cell["state"] for cell in known["cells"]} == {""}


def test_events_have_the_trials_of_the_cell_that_runs(folder: Path) -> None:
    """The journal ends within the last cell, whose trials the page draws."""
    campaign = CampaignFolder(path=folder)
    records = list(read_journal(campaign.journal))
    cut = max(place for place, each in enumerate(records) if each["record"] == "trial")
    with Journal(campaign.journal, records[0], replace=True) as journal:
        journal.append_written(records[1 : cut + 1])
    with (
        campaign.locked(),
        running(served(folder)) as address,
        urllib.request.urlopen(f"{address}{EVENTS}", timeout=30) as answer,
    ):
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        line = answer.readline().decode()
    known = json.loads(line.removeprefix("data: "))
    (cell,) = (each for each in known["cells"] if each["state"] == "running")
    assert not cell["ended"]
    assert known["total"] == len(known["trials"]) > 0
    assert known["quantity"] == "frames a second per direction"
    last = known["trials"][-1]
    assert (last["number"], last["verdict"]) == (records[cut]["number"], records[cut]["verdict"])
    assert last["median_us"] > 0


def test_it_listens_on_loopback_unless_asked(folder: Path) -> None:
    with served(folder) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_and_a_folder_of_nothing_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    with served(folder) as server:
        taken = int(server.server_address[1])
        with pytest.raises(ConfigurationError, match="cannot be listened on"):
            served(folder, port=taken)
    single = tmp_path / "measurement"
    Journal(single / "journal.jsonl.gz", HEADER).close()
    for other in (tmp_path, single):
        with pytest.raises(ConfigurationError, match="holds no campaign"):
            served(other)


def test_it_tells_how_many_trials_there_were_though_it_sends_the_newest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = CampaignFolder(path=folder)
    records = list(read_journal(campaign.journal))
    cut = max(place for place, each in enumerate(records) if each["record"] == "trial")
    with Journal(campaign.journal, records[0], replace=True) as journal:
        journal.append_written(records[1 : cut + 1])
    with campaign.locked():
        total = len(live(campaign)["trials"])
        monkeypatch.setattr("natxy.cli.serve.MOST_TRIALS", 1)
        known = live(campaign)
    assert (len(known["trials"]), known["total"]) == (1, total)
