"""Campaigns against the fake engine: order, resuming at any instant, failures."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.journal import Journal, read_journal
from natxy.campaign.plan import plan_of
from natxy.campaign.records import read_campaign
from natxy.cli import run_command
from natxy.cli.campaigns import check
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError, InUse, StorageError
from natxy.model.experiment import read_experiment
from natxy.model.telemetry import Snapshot
from natxy.model.testbed import Testbed
from tests.unit.campaign import Killed, resume, what_counts
from tests.unit.campaigns import EXPERIMENT, planned, run
from tests.unit.conftest import NAT64


def test_every_cell_is_measured_once_in_an_order_that_the_seed_draws(experiment: Path) -> None:
    plan = planned(experiment)
    keys = [cell.key for cell in plan.cells]
    assert len(keys) == len(set(keys)) == 8
    assert [cell.round for cell in plan.cells] == [1] * 4 + [2] * 4, "rounds follow one another"
    assert keys == [cell.key for cell in planned(experiment).cells]
    asked = read_asked(experiment)
    orders = {
        tuple(cell.title for cell in plan_of(asked.experiment, asked.testbed, seed).cells)
        for seed in range(20)
    }
    assert len(orders) > 10
    assert len({cell.seed for cell in plan.cells}) == 8


def test_cells_with_equal_expensive_values_follow_one_another(experiment: Path) -> None:
    experiment.write_text('expensive = ["traffic.frame_size_bytes"]\n' + EXPERIMENT)
    plan = planned(experiment)
    sizes = [cell.testbed["traffic"]["frame_size_bytes"] for cell in plan.cells]
    assert sizes == [84] * 4 + [512] * 4


def test_an_expensive_column_is_measured_to_its_end_before_the_next(experiment: Path) -> None:
    """The rounds of the column follow one another; within a round the order is drawn."""
    experiment.write_text(
        'expensive = ["column"]\n' + EXPERIMENT.replace("[84, 512]", "[84, 1518, 512]")
    )
    plan = planned(experiment)
    labels = [cell.column.label for cell in plan.cells]
    assert labels == ["84 B"] * 4 + ["1,518 B"] * 4 + ["512 B"] * 4
    assert [cell.round for cell in plan.cells] == [1, 1, 2, 2] * 3


def test_a_campaign_ends_with_a_result_in_each_cell(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "campaign")
    state = read_campaign(tmp_path / "campaign" / "journal.jsonl.gz")
    assert len(state.cells) == 8
    rates = [
        cell.results[0].figures[0].values
        for cell in state.cells.values()
        if cell.begun.measure == "throughput"
    ]
    assert all(45_000 < rate <= 50_000 for values in rates for rate in values)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]
)
def test_a_campaign_that_is_killed_goes_on_as_if_it_had_not(
    seed: int, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of a write, at another place each time, until it ends."""
    monkeypatch.setattr(NoDut, "telemetry", lambda _: Snapshot(memory_bytes=2**20))
    run(experiment, tmp_path / "whole")
    draw = random.Random(seed)
    folder = tmp_path / "killed"
    written, cut = os.write, os.ftruncate
    left = 0

    def write(file: int, data: bytes) -> int:
        nonlocal left
        if not is_journal(file):
            return written(file, data)
        left -= 1
        if left == 0:
            written(file, data[: draw.randrange(len(data) + 1)])
        return written(file, data) if alive() else 0

    def truncate(file: int, size: int) -> None:
        if alive():
            cut(file, size)

    def is_journal(file: int) -> bool:
        return os.readlink(f"/proc/self/fd/{file}").endswith("journal.jsonl.gz")

    def alive() -> bool:
        if left <= 0:
            raise Killed
        return True

    monkeypatch.setattr("natxy.campaign.gzip_lines.os.write", write)
    monkeypatch.setattr("natxy.campaign.gzip_lines.os.ftruncate", truncate)
    kills = 0
    while True:
        left = draw.randrange(1, 60) if kills else 1  # the first time in the first line
        try:
            if has_begun(folder):
                resume(folder)
            else:
                run(experiment, folder)
            break
        except Killed:
            kills += 1
    assert kills > 1
    assert what_counts(folder) == what_counts(tmp_path / "whole")
    assert trials_of_report(folder) == trials_of_report(tmp_path / "whole")


def has_begun(folder: Path) -> bool:
    path = folder / "journal.jsonl.gz"
    return path.exists() and next(read_journal(path), None) is not None


def trials_of_report(folder: Path) -> list[tuple[Any, ...]]:
    """Each trial of the report's data, without its time."""
    points = read_data(folder).trials
    return [
        (each.column, each.measure, each.round, each.number, each.rate_fps, each.verdict)
        for each in points
    ]


def test_a_cell_that_fails_leaves_its_sentence_and_the_campaign_goes_on(
    experiment: Path, tmp_path: Path
) -> None:
    text = EXPERIMENT.replace("rate = 1000", "rate = 1000, tags_after = 0.5")
    experiment.write_text(text.replace('"pdv"', '"latency"'))
    run(experiment, tmp_path / "campaign")
    state = read_campaign(tmp_path / "campaign" / "journal.jsonl.gz")
    failed = [cell for cell in state.cells.values() if cell.failed]
    assert len(state.cells) == 8
    assert [cell.begun.measure for cell in failed] == ["latency"] * 4
    assert all("tags_after" in cell.end.error for cell in failed if cell.end)


def test_a_gateway_that_dies_takes_one_cell_with_it(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = 0

    def dies_once(_: NoDut) -> str | None:
        nonlocal trials
        trials += 1
        if trials == 10:
            raise DutError("the gateway has ended with signal 11")
        return None

    monkeypatch.setattr(NoDut, "trial_fault", dies_once)
    run(experiment, tmp_path / "campaign")
    state = read_campaign(tmp_path / "campaign" / "journal.jsonl.gz")
    assert len(state.cells) == 8
    errors = [cell.end.error for cell in state.cells.values() if cell.end]
    assert sorted(errors) == [*[""] * 7, "the gateway has ended with signal 11"]
    results = {cell.failed: len(cell.results) for cell in state.cells.values()}
    assert results == {False: 1, True: 0}
    assert trials > 20, "the campaign went on"


def test_an_option_that_does_not_exist_is_refused_before_anything_runs(experiment: Path) -> None:
    experiment.write_text(EXPERIMENT.replace("error =", "eror ="))
    with pytest.raises(ConfigurationError, match=r'measure "throughput", column "\d+ B": .*eror'):
        check(planned(experiment))


def test_a_testbed_key_that_does_not_exist_is_refused(experiment: Path) -> None:
    experiment.write_text(EXPERIMENT.replace("traffic.frame_size_bytes", "traffic.frame_size"))
    with pytest.raises(ConfigurationError, match="frame_size"):
        check(planned(experiment))


def test_the_campaign_sets_the_seed(experiment: Path) -> None:
    experiment.write_text(EXPERIMENT.replace("rate = 1000", "rate = 1000, seed = 3"))
    with pytest.raises(ConfigurationError, match="seed is not possible here"):
        check(planned(experiment))


def test_two_runs_never_write_one_folder(experiment: Path, tmp_path: Path) -> None:
    folder = CampaignFolder(path=tmp_path / "campaign")
    with folder.locked(), pytest.raises(InUse, match="another process runs this campaign"):
        run(experiment, folder.path)
    run(experiment, folder.path)
    with pytest.raises(ConfigurationError, match="holds a campaign already"):
        run(experiment, folder.path)


def test_a_full_disk_ends_the_campaign_and_the_journal_is_whole(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(experiment, tmp_path / "whole")
    fsync, calls = os.fsync, 0

    def full(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise OSError(28, "No space left on device")
        fsync(file)

    monkeypatch.setattr("natxy.campaign.journal.os.fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        run(experiment, tmp_path / "full")
    resume(tmp_path / "full")
    assert what_counts(tmp_path / "full") == what_counts(tmp_path / "whole")


def test_quick_scales_down(experiment: Path) -> None:
    quick = '\n[quick]\ncolumns = ["84 B"]\noptions = { repetitions = 1 }\n'
    experiment.write_text(EXPERIMENT + quick)
    cells = planned(experiment, quick=True).cells
    assert {cell.column.label for cell in cells} == {"84 B"}
    assert {cell.options["repetitions"] for cell in cells} == {1}
    assert {cell.round for cell in cells} == {1}


def test_quick_replaces_options_of_one_measurement(experiment: Path) -> None:
    experiment.write_text(EXPERIMENT + 'quick = { rate = 70, histogram = "a.csv" }\n')

    def options(*, quick: bool) -> dict[str, Any]:
        cells = planned(experiment, quick=quick).cells
        return {cell.measure.name: cell.options for cell in cells}

    quickly, fully = options(quick=True), options(quick=False)
    assert (quickly["pdv"]["rate"], fully["pdv"]["rate"]) == (70, 1000)
    assert "histogram" in quickly["pdv"]
    assert "histogram" not in {**fully["pdv"], **quickly["throughput"]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("title = 3\ntestbed = 'a'\n[[measure]]\ncommand = 'x'\n", "title"),
        (
            EXPERIMENT + "\n[[column]]\nlabel = 'a'\n",
            r"vary: is not possible beside \[\[column\]\]",
        ),
        (EXPERIMENT + "\n[[measure]]\ncommand = 'pdv'\n", 'has the label "pdv" twice'),
        (EXPERIMENT + "columns = ['1 B']\n", 'names the column "1 B"'),
        (EXPERIMENT + "[quick]\ncolumns = ['1 B']\n", 'quick: names the column "1 B"'),
        (EXPERIMENT + "without = ['connection']\n", r"measure.without: leaves out \[connection\]"),
        (EXPERIMENT + "[[vary]]\nkey = 'cores'\nvalues = ['2']\n", "2 is not a number of cores"),
    ],
)
def test_a_wrong_experiment_gets_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=sentence):
        read_experiment(path)


def test_a_journal_that_is_no_campaigns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl.gz"
    Journal(path, {"seed": 1}).close()
    with pytest.raises(ConfigurationError, match="is not the journal of a campaign"):
        read_campaign(path)


def test_a_program_can_follow_a_campaign(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line is an object; from the second round on the time that is left is measured."""
    folder = tmp_path / "campaign"
    assert run_command(["run", str(experiment), "--output", str(folder), "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    started = [event for event in events if event["event"] == "cell-started"]
    ended = [event for event in events if event["event"] == "cell-ended"]
    assert [event["number"] for event in started] == list(range(1, 9))
    left_s = [event["seconds_left"] for event in started]
    assert left_s[0] > 20, "as planned, where a fake takes no time"
    assert left_s[-1] < 5
    assert all(not event["error"] and event["figures"] for event in ended)
    assert {event["figures"][0]["name"] for event in ended} == {"throughput", "PDV"}


def test_a_series_of_dscps_is_sent_in_its_columns(experiment: Path) -> None:
    series = EXPERIMENT.replace("frame_size_bytes", "sent_dscp").replace("[84, 512]", "[0, 46]")
    experiment.write_text(series.replace("{} B", "DSCP {}"))
    sent = {
        cell.column.label: Testbed.model_validate_json(json.dumps(cell.testbed)).traffic.sent_dscp
        for cell in planned(experiment).cells
    }
    assert sent == {"DSCP 0": 0, "DSCP 46": 46}


def test_a_series_of_cores_sets_them_in_each_column(experiment: Path) -> None:
    """Each combination with the values of another series is a column."""
    series = '[[vary]]\nkey = "cores"\nvalues = [1, 4]\nlabel = "{} cores"\n\n[[measure]]'
    experiment.write_text(EXPERIMENT.replace("[[measure]]", series, 1))
    plan = planned(experiment)
    columns = {cell.column.label: cell.column for cell in plan.cells}
    assert sorted(columns) == ["512 B, 1 cores", "512 B, 4 cores", "84 B, 1 cores", "84 B, 4 cores"]
    assert {label: of.cores for label, of in columns.items() if of.cores == 1} == {
        "512 B, 1 cores": 1,
        "84 B, 1 cores": 1,
    }
    conditions = plan.conditions["84 B, 4 cores"]
    assert (conditions["cores"], conditions["traffic"]["frame_size_bytes"]) == (4, 84)
    assert all("cores" not in cell.testbed for cell in plan.cells), "it is no key of a testbed"
    check(plan)


def test_cores_are_set_in_each_cell_since_a_stop_may_undo_them(
    experiment: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    start, cores, stop = (f"echo {word} >> {log}" for word in ("start", "$NATXY_CORES", "stop"))
    dut = f'[dut]\nkind = "command"\nstart = "{start}"\nset_cores = "{cores}"\nstop = "{stop}"\n'
    (tmp_path / "testbed.toml").write_text(NAT64 + dut)
    text = EXPERIMENT.replace("traffic.frame_size_bytes", "cores").replace("[84, 512]", "[1, 4]")
    experiment.write_text('expensive = ["cores"]\n' + text)
    run(experiment, tmp_path / "campaign")
    assert log.read_text().split() == [*["start", "1", "stop"] * 4, *["start", "4", "stop"] * 4]


def test_a_device_whose_cores_cannot_be_set_leaves_its_sentence(
    experiment: Path, tmp_path: Path
) -> None:
    series = experiment.read_text().split("[[vary]]")[1].split("[[measure]]")[0]
    columns = '[[column]]\nlabel = "as it is"\n[[column]]\nlabel = "4 cores"\ncores = 4\n'
    experiment.write_text(experiment.read_text().replace(f"[[vary]]{series}", columns))
    folder = tmp_path / "campaign"
    run(experiment, folder)
    state = read_campaign(folder / "journal.jsonl.gz")
    errors = {cell.begun.column: cell.end.error for cell in state.cells.values() if cell.end}
    assert errors["as it is"] == ""
    assert "cannot make this gateway use 4 cores" in errors["4 cores"]
