"""A campaign that is killed again and again, against a gateway whose table is known."""

import random
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.records import read_campaign
from natxy.procedure.capacity import CAPACITY

ENTRIES = (2_000, 3_001)
TESTBED = """
[tester]
cores = [0]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = 1000
rate_fps = 20000
[dut]
kind = "calibration"
poll_gap_limit_us = 20000
nat = { mapping = "address-and-port-dependent", entries = 1000, deletion_ns = 2000 }
"""
EXPERIMENT = f"""
title = "Capacity and tear-down of known tables"
testbed = "testbed.toml"
seed = 7
options = {{ profile = "quick", repetitions = 2 }}
[[vary]]
key = "dut.nat.entries"
values = {list(ENTRIES)}
label = "{{}} entries"
[[measure]]
command = "capacity"
options = {{ first_rate = 40000, max_rate = 160000, rate_error = "25%" }}
[[measure]]
command = "tear-down"
"""
NATXY = [str(Path(sys.executable).with_name("natxy"))]


def campaign(folder: Path) -> Path:
    (folder / "testbed.toml").write_text(TESTBED)
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def ran(*arguments: str, kill_after_s: float | None = None) -> int:
    """Runs natxy, to its end or until it is killed; returns its exit status, -9 if killed."""
    process = subprocess.Popen(
        [*NATXY, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        _, said = process.communicate(timeout=kill_after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return process.returncode
    assert process.returncode == 0, said
    return 0


def trials_of(folder: Path) -> dict[str, list[int]]:
    """The numbers of the trials of each cell, as the journal has them."""
    numbers: dict[str, list[int]] = {}
    key = ""
    for record in read_journal(folder / "journal.jsonl.gz"):
        if record["record"] == "cell":
            key = record["key"]
        elif record["record"] == "trial":
            numbers.setdefault(key, []).append(record["number"])
    return numbers


def capacities(folder: Path) -> dict[str, Any]:
    state = read_campaign(CampaignFolder(path=folder).journal)
    assert all(cell.end is not None and not cell.end.error for cell in state.cells.values())
    return {
        cell.begun.column: cell.results[0].figure(CAPACITY).values
        for cell in state.cells.values()
        if cell.begun.measure == "capacity"
    }


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.long)])
def test_a_campaign_that_is_killed_finds_what_it_finds_undisturbed(
    kills: int, tmp_path: Path
) -> None:
    """A campaign may end before it has been killed often enough; then another one goes on."""
    draw = random.Random(kills)
    killed = 0
    for number in count():
        killed += killed_campaign(tmp_path / str(number), draw, kills - killed)
        if killed == kills:
            return


def killed_campaign(folder: Path, draw: random.Random, most: int) -> int:
    """Runs a campaign that is killed so often at most, and returns how often it was."""
    folder.mkdir()
    begin_s = time.monotonic()
    words: tuple[str, ...] = ("run", str(campaign(folder)), "--output", str(folder / "campaign"))
    for killed in count():
        patience_s = draw.uniform(1.0, 4.0) if killed < most else None
        if ran(*words, kill_after_s=patience_s) == 0:
            break
        words = ("resume", str(folder / "campaign"))
        assert time.monotonic() - begin_s < 600
    found = capacities(folder / "campaign")
    assert found == {f"{entries:,} entries": (entries, entries) for entries in ENTRIES}
    for key, numbers in trials_of(folder / "campaign").items():
        assert sorted(set(numbers)) == list(range(1, max(numbers) + 1)), key
        # A trial is run again only if the kill came before the deletion of its connections.
        assert len(numbers) == len(set(numbers)) or "tear-down" in key
    return killed
