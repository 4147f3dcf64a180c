"""Tests of what a campaign shows while it runs: its cell, its figures, and the time left."""

import json
from pathlib import Path

import pytest

from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import Cell
from natxy.campaign.records import CampaignState, CellEnd, CellRecord, CellState, read_campaign
from natxy.campaign.testbeds import TestbedsRunner
from natxy.cli import run_command
from natxy.cli.campaigns import (
    CELLS_LOST,
    TRIAL_LOST,
    Further,
    durations_s,
    pace_of,
    start,
)
from natxy.cli.narrator import Pace
from natxy.cli.serve import live
from natxy.cli.status import said_of
from natxy.dut.none import NoDut
from tests.unit.campaign import Killed
from tests.unit.campaigns import EXPERIMENT, planned, run

Captured = pytest.CaptureFixture[str]


def state_of(
    cell: Cell, *, ended: str = "", resumed: bool = False, error: str = ""
) -> CampaignState:
    """A journal in which one cell began at noon."""
    begun = CellRecord(
        key=cell.key,
        number=1,
        column=cell.column.label,
        measure=cell.measure.name,
        round=cell.round,
        seed=1,
        started="2026-11-25T12:00:00+00:00",
    )
    at = f"2026-11-25T{ended}+00:00"
    end = CellEnd(key=cell.key, ended=at, error=error) if ended else None
    known = CellState(key=cell.key, begun=begun, end=end, resumed=resumed)
    return CampaignState(header={}, cells={cell.key: known})


def test_measured_durations_come_before_planned_ones(experiment: Path) -> None:
    cells = planned(experiment).cells
    planned_s = {cell.key: 100.0 for cell in cells}
    throughputs = [cell for cell in cells if cell.measure.name == "throughput"]
    assert Pace(planned_s=planned_s).left_s(cells) == 800
    assert Pace(planned_s=planned_s, testbeds=2).left_s(cells) == 400
    assert Pace().left_s(cells) is None, "nothing is known"
    assert Pace().left_s([]) == 0
    state = state_of(throughputs[0], ended="12:00:30")
    pace = Pace.of(state, planned_s=planned_s)
    assert pace.left_s(throughputs[1:]) == 3 * 30
    assert pace.left_s(cells) == 4 * 30 + 4 * 100
    assert Pace.of(state, planned_s={}).left_s(cells) is None, "no PDV has ended"


@pytest.mark.parametrize(
    ("ended", "resumed", "error"),
    [("", False, ""), ("18:00:00", True, ""), ("12:00:00", False, "a command failed")],
)
def test_a_cell_that_runs_failed_or_was_interrupted_says_nothing_of_its_duration(
    ended: str, resumed: bool, error: str, experiment: Path
) -> None:
    (cell, *_) = planned(experiment).cells
    state = state_of(cell, ended=ended, resumed=resumed, error=error)
    assert Pace.of(state, planned_s={}).took_s == {}


def test_the_planned_durations_are_those_of_natxy_plan(experiment: Path) -> None:
    plan = planned(experiment)
    pace = pace_of(plan, CampaignState(header={}), testbeds=2)
    assert list(pace.planned_s.values()) == durations_s(plan)
    assert pace.testbeds == 2


def test_a_campaign_that_cannot_be_planned_has_a_status_all_the_same(experiment: Path) -> None:
    """An option may be unknown to this release, and known to the one that ran the campaign."""
    experiment.write_text(EXPERIMENT.replace("error =", "eror ="))
    assert pace_of(planned(experiment), CampaignState(header={})).planned_s == {}


@pytest.fixture
def interrupted(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign that was killed in a cell after others had ended."""
    trials = 0

    def killed(_: NoDut) -> str | None:
        nonlocal trials
        trials += 1
        if trials == 40:
            raise Killed
        return None

    monkeypatch.setattr(NoDut, "trial_fault", killed)
    folder = tmp_path / "campaign"
    with pytest.raises(Killed):
        run(experiment, folder)
    return folder


def test_the_status_tells_a_cell_that_runs_from_one_that_was_interrupted(
    interrupted: Path, capsys: Captured
) -> None:
    state = read_campaign(interrupted / "journal.jsonl.gz")
    ended = sum(state.ended(key) for key in state.cells)
    (trials,) = (cell.trials for cell in state.cells.values() if cell.end is None)
    assert 0 < ended < 8
    assert run_command(["status", str(interrupted)]) == 0
    said = capsys.readouterr().out
    head = said.splitlines()[0]
    assert f"{ended} of 8 cells ended, 0 failed, about " in head
    assert head.endswith(" left")
    assert f": interrupted after {trials} trials; a trial that had not ended is lost" in said
    assert "running" not in said
    with CampaignFolder(path=interrupted).locked():
        assert run_command(["status", str(interrupted)]) == 0
    said = capsys.readouterr().out
    assert f": running, {trials} trials so far" in said
    assert "interrupted" not in said


def test_a_browser_sees_it_as_well(interrupted: Path) -> None:
    folder = CampaignFolder(path=interrupted)
    idle = live(folder)
    assert idle["left"].endswith(" left")
    (said,) = (each["said"] for each in idle["cells"] if "interrupted after" in each["said"])
    assert "a trial that had not ended is lost" in said
    assert "running" not in {each["state"] for each in idle["cells"]}
    with folder.locked():
        runs = live(folder)
    (running,) = (each for each in runs["cells"] if each["state"] == "running")
    assert running["said"].startswith("running, ")


def test_nothing_is_left_of_a_campaign_that_has_ended(
    experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    run(experiment, tmp_path / "campaign")
    assert run_command(["status", str(tmp_path / "campaign")]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(": 8 of 8 cells ended, 0 failed")


def test_a_program_sees_each_trial_and_what_each_repetition_found(
    experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "campaign"
    assert run_command(["run", str(experiment), "--output", str(folder), "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    records = read_journal(folder / "journal.jsonl.gz")
    written = [record for record in records if record["record"] == "trial"]
    trials = [event for event in events if event["event"] == "trial-ended"]
    assert [(each["number"], each["rate"], each["verdict"]) for each in trials] == [
        (each["number"], each["rate_fps"], each["verdict"]) for each in written
    ]
    assert {each["repetition"] for each in trials} >= {1, 2}
    found = [event["figures"] for event in events if event["event"] == "repetition-ended"]
    assert len(found) >= 8 * 2, "two repetitions of each cell"
    names = {figure["name"] for figures in found for figure in figures}
    assert names == {"throughput", "PDV"}
    kinds = [event["event"] for event in events]
    first = kinds.index("cell-started"), kinds.index("measuring"), kinds.index("trial-ended")
    assert list(first) == sorted(first)


def test_only_the_cell_that_began_last_can_run(experiment: Path) -> None:
    """One that was interrupted has no end either, while `natxy resume --retry` measures another."""
    first, second, *_ = planned(experiment).cells
    state = state_of(first)
    state.cells |= state_of(second).cells
    state.last = second.key
    lost = "interrupted after 0 trials; a trial that had not ended is lost"
    assert said_of(first, state, runs=True) == lost
    assert said_of(second, state, runs=True) == "running, 0 trials so far"


def test_a_cell_that_fails_at_once_leaves_the_planned_time(experiment: Path) -> None:
    cell, *_ = planned(experiment).cells
    pace = Pace(planned_s={cell.key: 100.0})
    pace.began(cell)
    pace.ended(cell, failed=True)
    assert pace.left_s([cell]) == 100


@pytest.mark.parametrize(("further", "lost"), [(0, TRIAL_LOST), (1, CELLS_LOST)])
def test_an_interruption_says_what_is_lost(
    further: int,
    lost: str,
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    def killed(_: TestbedsRunner) -> None:
        raise Killed

    monkeypatch.setattr(TestbedsRunner, "run", killed)
    plan, folder = planned(experiment), CampaignFolder(path=tmp_path / "campaign")
    others = Further(plans=(plan,) * further)
    with pytest.raises(Killed):
        start(read_asked(experiment), plan, folder, "natxy run", further=others)
    *_, said, how = capsys.readouterr().err.splitlines()
    assert said == lost
    assert how == f"Go on with: natxy resume {folder.path}"


LIMITED = """\
[[measure]]
command = "pdv"
options = { rate = 50000, retry_time = 0.3 }

[[measure]]
label = "PDV at the throughput"
command = "pdv"
options = { retry_time = 0.5 }
"""


def trials_in(folder: Path) -> list[tuple[int, str]]:
    records = read_journal(folder / "journal.jsonl.gz")
    return [(r["rate_fps"], r["verdict"]) for r in records if r["record"] == "trial"]


def test_a_cell_whose_retry_time_is_used_up_says_so_also_after_it_was_resumed(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The tester is too slow for 50,000 fps: one cell ends, and one has a bound of the rate."""
    head, _ = EXPERIMENT.split("[[measure]]", 1)
    experiment.write_text(head + LIMITED)
    monkeypatch.setenv("FAKE_LIMIT_FPS", "20000")
    run(experiment, tmp_path / "whole")
    folder, seen = tmp_path / "resumed", 0

    def killed(_: NoDut) -> str | None:
        nonlocal seen
        seen += 1
        if seen % 9 == 0:
            raise Killed
        return None

    with monkeypatch.context() as patched:
        patched.setattr(NoDut, "trial_fault", killed)
        with pytest.raises(Killed):
            run(experiment, folder)
    assert run_command(["resume", str(folder)]) == 1
    assert trials_in(folder) == trials_in(tmp_path / "whole")
    capsys.readouterr()
    assert run_command(["status", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "8 of 8 cells ended, 4 failed" in lines[0]
    ended = "pdv, 84 B: failed: 2 trials at 50000 frames a second were invalid, and the retry"
    assert any(f"{ended} time is used up: " in line for line in lines)
    assert sum("PDV at the throughput" in line and "PDV 89" in line for line in lines) == 4
