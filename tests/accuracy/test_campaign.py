"""A campaign that is killed again and again, against a gateway whose table is known."""

import json
import random
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.records import read_campaign
from natxy.procedure.capacity import CAPACITY
from natxy.trial.repeats import INVALID_REPEATS
from tests.valid import with_and_without_noise

ENTRIES = (2_000, 3_001)
C0 = 1_000  # connections, the number of the testbed
LIMIT_FPS = 5_000  # of the measurement that searches for its rate
DEPTH = 200  # frames; it bridges 40 ms, twice as long as gateway and tester may be away
MOST_FPS = LIMIT_FPS + DEPTH / 0.2  # a trial of 0.2 s passes if it sends no more than both
NOISE = 0.1  # of the rate that is found
TESTBED = f"""
[tester]
cores = [0]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = {C0}
rate_fps = 20000
[dut]
kind = "calibration"
poll_gap_limit_us = 20000
nat = {{ mapping = "address-and-port-dependent", entries = 1000, deletion_ns = 2000 }}
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
[[measure]]
command = "ipdv"
columns = ["{ENTRIES[0]:,} entries"]
[measure.testbed]
connections = {{ count = 100, rate_fps = 2000 }}
dut = {{ faults = [{{ kind = "rate_limit", rate_fps = {LIMIT_FPS}, depth = {DEPTH} }}] }}
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


def trials_of(folder: Path) -> dict[tuple[str, bool], list[int]]:
    """The numbers of the trials of each cell, as the journal has them: those of the search for a
    rate apart from those of the delays at this rate, since both begin with 1."""
    numbers: dict[tuple[str, bool], list[int]] = {}
    key = ""
    for record in read_journal(folder / "journal.jsonl.gz"):
        if record["record"] == "cell":
            key = record["key"]
        elif record["record"] == "trial":
            of = (key, record["measures_delays"])
            numbers.setdefault(of, []).append(record["number"])
    return numbers


def check_capacities(folder: Path) -> None:
    """Each is that of the table; where trials stayed invalid, it may be a lower bound."""
    state = read_campaign(CampaignFolder(path=folder).journal)
    assert all(cell.end is not None and not cell.end.error for cell in state.cells.values())
    found = {
        cell.begun.column: cell.results[0]
        for cell in state.cells.values()
        if cell.begun.measure == "capacity"
    }
    assert found.keys() == {f"{entries:,} entries" for entries in ENTRIES}
    for entries in ENTRIES:
        result = found[f"{entries:,} entries"]
        figure = result.figure(CAPACITY)
        assert len(figure.values) == 2
        for value, is_bound in zip(figure.values, figure.lower_bound, strict=True):
            assert value == entries or (is_bound and C0 <= value < entries)
        assert not any(figure.lower_bound) or result.counts.invalid_trials > INVALID_REPEATS


def check_rate(folder: Path) -> None:
    """Checks the throughput that a measurement of delays searched for first."""
    state = read_campaign(CampaignFolder(path=folder).journal)
    (cell,) = (cell for cell in state.cells.values() if cell.begun.measure == "ipdv")
    rate_fps = cell.results[0].conditions.rate_fps
    assert rate_fps is not None
    assert LIMIT_FPS * (1 - NOISE) <= rate_fps <= MOST_FPS * (1 + NOISE)


def described(folder: Path) -> dict[str, Any]:
    """The seed and the figures of each cell. Values that are rates and times differ from run to
    run, also undisturbed."""
    state = read_campaign(CampaignFolder(path=folder).journal)
    return {
        key: (
            cell.begun.seed,
            [
                (figure.name, figure.at, figure.unit, len(figure.values))
                for result in cell.results
                for figure in result.figures
            ],
        )
        for key, cell in state.cells.items()
    }


def check_trials(folder: Path) -> None:
    """Each trial is in the journal and in the report once."""
    written = []
    for (key, _), numbers in trials_of(folder).items():
        column, measure, _ = json.loads(key)
        assert numbers == list(range(1, len(numbers) + 1)), key
        written += [(column, measure, number) for number in numbers]
    points = read_data(folder).trials
    counted = [(point.column, point.measure, point.number) for point in points]
    assert sorted(counted) == sorted(written)


@pytest.mark.long
@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize("kills", [2, 20])
def test_a_campaign_that_is_killed_finds_what_it_finds_undisturbed(
    kills: int, tmp_path: Path
) -> None:
    """A campaign may end before it has been killed often enough; then another one goes on.

    The long variant also makes an undisturbed run; the short one knows what that would find.
    """
    draw = random.Random(kills)
    killed = 0
    for number in count():
        killed += killed_campaign(tmp_path / str(number), draw, kills - killed)
        if killed == kills:
            break
    if kills > 2:
        assert killed_campaign(tmp_path / "whole", draw, 0) == 0
        whole = described(tmp_path / "whole" / "campaign")
        for each in range(number + 1):
            assert described(tmp_path / str(each) / "campaign") == whole


def killed_campaign(folder: Path, draw: random.Random, most: int) -> int:
    """Runs a campaign that is killed so often at most, and returns how often it was."""
    folder.mkdir()
    begin_s = time.monotonic()
    begin = ("run", str(campaign(folder)), "--output", str(folder / "campaign"))
    go_on = ("resume", str(folder / "campaign"))
    for killed in count():
        patience_s = draw.uniform(1.0, 4.0) if killed < most else None
        words = go_on if has_begun(folder / "campaign") else begin
        if ran(*words, kill_after_s=patience_s) == 0:
            break
        assert time.monotonic() - begin_s < 600
    check_capacities(folder / "campaign")
    check_rate(folder / "campaign")
    check_trials(folder / "campaign")
    return killed


def has_begun(folder: Path) -> bool:
    """A run that was killed before its journal had a line begins again."""
    journal = CampaignFolder(path=folder).journal
    return journal.exists() and next(read_journal(journal), None) is not None
