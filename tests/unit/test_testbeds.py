"""Several testbeds: what is refused, what the folder keeps, and a worker that keeps dying."""

import sys
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.cell_worker import Kept, Unseen
from natxy.campaign.cell_worker import testbed_of as number_of
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.journal import Journal
from natxy.campaign.plan import plan_of
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import Runner
from natxy.campaign.testbeds import TestbedsRunner
from natxy.cli import run_command
from natxy.cli.campaigns import work_of
from natxy.cli.narrator import JsonNarrator
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError
from tests.unit.campaigns import EXPERIMENT
from tests.unit.conftest import NAT64


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """An experiment and two testbeds, which differ in the tester's CPU."""
    paths = (tmp_path / "experiment.toml", tmp_path / "testbed.toml", tmp_path / "other.toml")
    texts = (EXPERIMENT, NAT64, NAT64.replace("cores = [0]", "cores = [1]"))
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def test_testbeds_that_differ_in_their_traffic_are_refused(files: tuple[Path, Path, Path]) -> None:
    experiment, first, other = files
    other.write_text(NAT64 + "frame_size_bytes = 128\n")
    with pytest.raises(ConfigurationError, match=r"other.toml: \[traffic\] differs from that of"):
        read_asked(experiment, (first, other))


def test_the_folder_keeps_all_testbeds(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    experiment, first, other = files
    asked = read_asked(experiment, (first, other))
    folder = CampaignFolder(path=tmp_path / "campaign")
    Journal(folder.journal, {}).close()
    folder.journal.unlink()
    folder.create(asked)
    Journal(folder.journal, {}).close()
    kept = folder.asked()
    assert kept.testbeds == asked.testbeds
    assert [each["tester"]["cores"] for each in kept.testbeds] == [[0], [1]]


def test_without_the_extra_one_sentence_says_what_is_missing(
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    experiment, first, other = files
    words = ["run", str(experiment), "--output", str(tmp_path / "campaign")]
    assert run_command([*words, "--testbeds", f"{first},{other}"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert 'pip install "natxy[distributed]"' in said[0]
    assert not (tmp_path / "campaign").exists()


def test_a_scheduler_without_several_testbeds_is_refused(files: tuple[Path, Path, Path]) -> None:
    assert run_command(["run", str(files[0]), "--scheduler", "tcp://127.0.0.1:1"]) == 2


@pytest.mark.parametrize("name", ["0", "3", "tcp://10.0.0.1:4000", "²"])
def test_a_worker_whose_name_is_no_testbed_is_refused(name: str) -> None:
    assert number_of("2", 2) == 2
    with pytest.raises(ConfigurationError, match="its name is no testbed"):
        number_of(name, 2)


def test_a_cell_whose_workers_keep_dying_gets_its_sentence(
    files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    from distributed.scheduler import KilledWorker

    class Died:
        def result(self) -> Any:
            raise KilledWorker("cell", None, 2)

    asked = read_asked(files[0])
    plan = plan_of(asked.experiment, asked.testbed, 7)
    header = {"experiment": "title", "seed": 7}
    path = tmp_path / "journal.jsonl.gz"
    watcher = JsonNarrator()
    with Journal(path, header) as journal:
        runner = TestbedsRunner(
            plan=plan,
            work_of=work_of,
            dut_of=dut_of,
            journal=journal,
            state=CampaignState(header=header),
            watcher=watcher,
        )
        cell = plan.cells[0]
        watcher.pace.began(cell)
        runner._ended(1, cell, Died())
    (state,) = read_campaign(path).cells.values()
    assert state.end is not None
    assert state.end.error == "The worker died 3 times while it measured this cell."


def test_a_worker_returns_the_records_of_a_cell_whose_last_command_fails(
    files: tuple[Path, Path, Path], engine: list[str]
) -> None:
    text = EXPERIMENT + '\n[hooks]\nafter_column = [["false"]]\n'
    files[0].write_text(text)
    asked = read_asked(files[0])
    plan = plan_of(asked.experiment, asked.testbed, 7)
    kept = Kept()
    runner = Runner(
        plan=plan,
        work_of=work_of,
        dut_of=dut_of,
        journal=kept,
        state=CampaignState(header={}),
        watcher=Unseen(),
    )
    runner.run_alone(plan.cells[0], 1)
    kinds = [record["record"] for record in kept.records]
    assert kinds.count("trial") > 1
    assert kinds[-2:] == ["measurement", "cell-end"]
    assert kept.records[-1]["error"].startswith("after_column: false ended with status 1")
