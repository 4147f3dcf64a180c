"""Commands that run before and after a campaign and its columns."""

import gzip
from pathlib import Path

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.records import HookRecord, read_campaign
from natxy.campaign.runner import run_hook
from natxy.cli import run_command
from natxy.errors import DutError
from tests.unit.campaign import Killed, resume
from tests.unit.campaigns import EXPERIMENT, run


def test_hooks_run_around_each_column(experiment: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    hooks = "\n[hooks]\n" + "".join(
        f'{when} = [["sh", "-c", "echo {when} >> {log}"]]\n'
        for when in ("before", "before_column", "after_column", "after")
    )
    experiment.write_text('order = "written"\n' + EXPERIMENT.replace("rounds = 2", "") + hooks)
    run(experiment, tmp_path / "campaign")
    column = ["before_column", "after_column"]
    assert log.read_text().split() == ["before", *column, *column, "after"]


def test_an_expensive_column_is_entered_once_for_all_rounds(
    experiment: Path, tmp_path: Path
) -> None:
    """Such as one whose command reboots the gateway."""
    log = tmp_path / "log"
    series = EXPERIMENT.split("[[vary]]")[1].split("[[measure]]")[0]
    columns = "".join(
        f'[[column]]\nlabel = "{label}"\nbefore = [["sh", "-c", "echo {label} >> {log}"]]\n'
        for label in ("first", "second", "third")
    )
    text = EXPERIMENT.replace(f"[[vary]]{series}", columns)
    experiment.write_text('expensive = ["column"]\n' + text)
    run(experiment, tmp_path / "campaign")
    assert log.read_text().split() == ["first", "second", "third"]


def test_a_hook_that_fails_fails_the_cells_of_its_column(experiment: Path, tmp_path: Path) -> None:
    hooks = '\n[hooks]\nbefore_column = [["sh", "-c", "echo no such switch; exit 3"]]\n'
    experiment.write_text(EXPERIMENT.replace("rounds = 2", "") + hooks)
    run(experiment, tmp_path / "campaign")
    state = read_campaign(tmp_path / "campaign" / "journal.jsonl.gz")
    assert len(state.cells) == 4
    assert all(
        "status 3: no such switch" in cell.end.error for cell in state.cells.values() if cell.end
    )


def test_a_command_after_a_column_that_fails_takes_no_result_away(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last cell of each column says which command failed; a retry has each result once."""
    bad = tmp_path / "bad"
    bad.touch()
    hooks = f'\n[hooks]\nafter_column = [["test", "!", "-e", "{bad}"]]\n'
    text = 'order = "written"\n' + EXPERIMENT.replace("rounds = 2", "") + hooks
    experiment.write_text(text)
    folder = tmp_path / "campaign"
    run(experiment, folder)
    said = (
        f"after_column: `test '!' -e {bad}` ended with status 1: no output (the results are kept)"
    )
    state = read_campaign(folder / "journal.jsonl.gz")
    errors = [cell.end.error for cell in state.cells.values() if cell.end]
    assert errors == ["", said, "", said]
    assert [len(cell.results) for cell in state.cells.values()] == [1] * 4
    assert run_command(["status", str(folder)]) == 0
    assert f"µs; failed: {said}" in capsys.readouterr().out
    assert run_command(["resume", str(folder)]) == 1
    assert (
        f"{folder}: 2 of 4 cells failed (expected none; `natxy status {folder}`"
        in capsys.readouterr().err
    )
    bad.unlink()
    trials = [cell.trials for cell in state.cells.values()]
    assert run_command(["resume", str(folder), "--retry"]) == 0
    state = read_campaign(folder / "journal.jsonl.gz")
    assert [cell.failed for cell in state.cells.values()] == [False] * 4
    assert [len(cell.results) for cell in state.cells.values()] == [1] * 4
    assert [cell.trials for cell in state.cells.values()] == trials, "those of the first time went"
    assert len(read_data(folder).trials) == sum(trials)


def test_a_cell_that_fails_on_its_own_and_in_the_command_after_it_says_both(
    experiment: Path, tmp_path: Path
) -> None:
    hooks = '\n[hooks]\nafter_column = [["false"]]\n'
    text = EXPERIMENT.replace("rate = 1000", "rate = 1000, tags_after = 0.5")
    experiment.write_text('order = "written"\n' + text.replace('"pdv"', '"latency"') + hooks)
    run(experiment, tmp_path / "campaign")
    state = read_campaign(tmp_path / "campaign" / "journal.jsonl.gz")
    errors = [cell.end.error for cell in state.cells.values() if cell.end and cell.failed]
    assert len(errors) == 4
    assert all("tags_after" in error and "; after_column: `false`" in error for error in errors)


def hooked(experiment: Path, log: Path) -> None:
    """Adds two commands after the campaign."""
    commands = f'["sh", "-c", "echo 1 >> {log}"], ["sh", "-c", "echo 2 >> {log}"]'
    text = experiment.read_text().replace("rounds = 2", "rounds = 1")
    experiment.write_text(f"{text}\n[hooks]\nafter = [{commands}]\n")


@pytest.mark.parametrize(
    "failure", [Killed(), DutError("after: it did not end")], ids=["killed", "failed"]
)
@pytest.mark.parametrize("at", [1, 2])
def test_commands_after_the_campaign_run_when_it_goes_on(
    at: int,
    failure: BaseException,
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All cells had ended when the campaign was stopped before one of the two commands."""
    log, folder, calls = tmp_path / "log", tmp_path / "campaign", 0
    hooked(experiment, log)

    def stopped(when: str, command: tuple[str, ...], timeout_s: float) -> HookRecord:
        nonlocal calls
        calls += 1
        if calls == at:
            raise failure
        return run_hook(when, command, timeout_s)

    monkeypatch.setattr("natxy.campaign.runner.run_hook", stopped)
    with pytest.raises(type(failure)):
        run(experiment, folder)
    assert all(cell.end for cell in read_campaign(folder / "journal.jsonl.gz").cells.values())
    resume(folder)
    assert log.read_text().split() == ["1", "2"]
    resume(folder)
    assert log.read_text().split() == ["1", "2"], "they have run"


def test_a_command_after_the_campaign_that_failed_runs_again(
    experiment: Path, tmp_path: Path
) -> None:
    good, folder = tmp_path / "good", tmp_path / "campaign"
    text = experiment.read_text().replace("rounds = 2", "rounds = 1")
    experiment.write_text(f'{text}\n[hooks]\nafter = [["test", "-e", "{good}"]]\n')
    with pytest.raises(DutError, match="ended with status 1"):
        run(experiment, folder)
    good.touch()
    assert run_command(["resume", str(folder)]) == 0
    good.unlink()
    assert run_command(["resume", str(folder)]) == 0, "it has run"


def test_commands_after_the_campaign_run_again_where_those_before_it_did(
    experiment: Path, tmp_path: Path
) -> None:
    """A `natxy resume --retry` was killed after the commands before its first cell."""
    log, folder = tmp_path / "log", tmp_path / "campaign"
    hooked(experiment, log)
    run(experiment, folder)
    before = HookRecord(when="before", command=("true",), status=0, output="", seconds=0.0)
    with gzip.open(folder / "journal.jsonl.gz", "ab") as journal:
        journal.write(before.model_dump_json().encode() + b"\n")
    resume(folder)
    assert log.read_text().split() == ["1", "2", "1", "2"]
