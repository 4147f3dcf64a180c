"""Several testbeds: what is refused, what the folder keeps, and a worker that keeps dying."""

import json
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import natxy
from natxy.campaign.cell_worker import measure
from natxy.campaign.cell_worker import testbed_of as number_of
from natxy.campaign.dask_workers import check_scheduler, is_on_this_machine, wait_for_workers
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.journal import Journal
from natxy.campaign.plan import CampaignPlan, plan_of
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import Event, Runner
from natxy.campaign.testbeds import TestbedsRunner, shared_cpus, shared_tables, worker_changes
from natxy.cli import run_command
from natxy.cli.campaigns import work_of
from natxy.cli.narrator import JsonNarrator
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError, MeasurementError
from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import MeasureSection, VarySection
from tests.unit.campaigns import EXPERIMENT, HEADER
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


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.1:8786",
        "10.0.0.1:8786",
        "tcp://[2001:db8::1]:8786",
        "tcp://tester.example:8786",
        "tcp://127.0.0.1.example:8786",
        "tcp://0.0.0.0:8786",
        "ws://10.0.0.1:8786",
        "tcp://tls://10.0.0.1:8786",
        "",
    ],
)
def test_a_scheduler_that_the_network_reaches_without_tls_is_refused(
    address: str, files: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reaches it runs programs as root."""
    with pytest.raises(ConfigurationError, match="has no TLS"):
        check_scheduler(address)
    experiment, first, other = files
    words = ["run", str(experiment), "--testbeds", f"{first},{other}"]
    words += ["--output", str(tmp_path / "campaign")]
    if address:
        assert run_command([*words, "--scheduler", address]) == 2
        assert f"--scheduler: {address} has no TLS" in capsys.readouterr().err
        assert not (tmp_path / "campaign").exists()


@pytest.mark.parametrize(
    "address",
    [
        "tls://10.0.0.1:8786",
        "tls://tester.example:8786",
        "tcp://127.0.0.1:1",
        "localhost:1",
        "[::1]:1",
    ],
)
def test_a_scheduler_with_tls_or_on_this_machine_is_not_refused(address: str) -> None:
    check_scheduler(address)


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
            raise KilledWorker("cell", SimpleNamespace(name="2"), 2)

    asked = read_asked(files[0])
    plan = plan_of(asked.experiment, asked.testbed, 7)
    header = HEADER
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
    assert state.end.error == (
        "Its testbed process died 3 times in this cell, the last time that of testbed 2."
    )
    assert state.begun.testbed == 1


def test_a_worker_returns_the_records_of_a_cell_whose_last_command_fails(
    files: tuple[Path, Path, Path], engine: list[str]
) -> None:
    text = EXPERIMENT + '\n[hooks]\nafter_column = [["false"]]\n'
    files[0].write_text(text)
    asked = read_asked(files[0])
    plan = plan_of(asked.experiment, asked.testbed, 7)
    runner = Runner(plan=plan, work_of=work_of, dut_of=dut_of)
    runner.run_alone(plan.cells[0], 1)
    records = runner.journal.records
    kinds = [record["record"] for record in records]
    assert kinds.count("trial") > 1
    assert kinds[-2:] == ["measurement", "cell-end"]
    assert records[-1]["error"].startswith("after_column: `false` ended with status 1")


def test_a_worker_that_leaves_or_comes_is_named() -> None:
    before = {"1": "tls://a:1", "2": "tls://a:2"}
    assert list(worker_changes(before, before)) == []
    (left,) = worker_changes(before, {"1": "tls://a:1"})
    assert str(left) == (
        "The process of testbed 2 has left (tls://a:2); its cell is measured again by the next "
        "free testbed process."
    )
    (restarted,) = worker_changes(before, {**before, "1": "tls://a:3"})
    assert str(restarted).startswith("The process of testbed 1 has left (tls://a:1), and a new one")
    (came,) = worker_changes({"1": "tls://a:1"}, before)
    assert (came.code, came.where) == (Event.TESTBED_CAME, "2")
    *_, last = worker_changes(before, {})
    assert last.code is Event.NO_TESTBED


@dataclass
class Scheduler:
    """What a client knows of a scheduler with these workers, which have the resource or not."""

    names: dict[str, bool]
    address: str = "tcp://10.0.0.1:8786"

    @property
    def scheduler(self) -> "Scheduler":
        return self

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1, "all of them"
        workers = {
            f"tcp://10.0.0.{place}:4000": {
                "name": name,
                "resources": {"testbed": 1.0} if has else {},
            }
            for place, (name, has) in enumerate(self.names.items(), start=2)
        }
        return {"workers": workers}


def test_testbeds_without_a_worker_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("natxy.campaign.dask_workers.WAIT_S", 0.1)
    wait_for_workers(Scheduler({"1": True, "2": True}), 2)
    with pytest.raises(MeasurementError) as refused:
        wait_for_workers(Scheduler({"1": True, "2": False, "other": True}), 2)
    assert str(refused.value) == (
        "tcp://10.0.0.1:8786: testbed 2 has no process after 0.1 s (expected for example `dask "
        "worker tcp://10.0.0.1:8786 --name 2 --nthreads 1 --resources testbed=1`)"
    )
    with pytest.raises(MeasurementError, match="testbeds 1 and 3 have no process"):
        wait_for_workers(Scheduler({"2": True}), 3)


def test_a_workers_machine_is_this_one_if_it_has_its_address() -> None:
    assert is_on_this_machine("tls://127.0.0.1:4000")
    assert is_on_this_machine("tcp://[::1]:4000")
    assert not is_on_this_machine("tcp://192.0.2.1:4000"), "RFC 5737: nobody has it"
    assert not is_on_this_machine("")


def plans_of(*testbeds: str) -> dict[int, CampaignPlan]:
    experiment = Experiment(title="", testbed="", measure=(MeasureSection(command="pdv"),))
    texts = map(tomllib.loads, testbeds)
    return {number: plan_of(experiment, text, 1) for number, text in enumerate(texts, start=1)}


def test_cpus_that_testbeds_share_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("natxy.dut.cpus.os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    lab = '[tester]\ncores = [{}]\n[dut]\nkind = "namespace"\n{}'
    apart = plans_of(lab.format(0, "gateway_cpu = 1"), lab.format(2, "gateway_cpu = 3"))
    assert list(shared_cpus(apart)) == []
    (said,) = shared_cpus(plans_of(lab.format(0, ""), lab.format(1, "")))
    assert str(said) == (
        "CPU 3 has several users (the gateway of testbed 1, the gateway of testbed 2): their "
        "figures disturb each other (expected other CPUs in tester.cores and dut.gateway_cpu)."
    )
    crossed = plans_of(lab.format(0, "gateway_cpu = 1"), lab.format(1, "gateway_cpu = 0"))
    assert [remark.facts for remark in shared_cpus(crossed)] == [
        {"cpu": 0, "who": ("the tester of testbed 1", "the gateway of testbed 2")},
        {"cpu": 1, "who": ("the gateway of testbed 1", "the tester of testbed 2")},
    ]
    elsewhere = plans_of("[tester]\ncores = [0]\n", "[tester]\ncores = [1]\n")
    assert list(shared_cpus(elsewhere)) == [], "their gateways are no labs of this machine"


class Submits:
    """A client that keeps what is given to workers."""

    def __init__(self) -> None:
        self.cells: list[tuple[int, list[int]]] = []  # numbers, and those of their testbeds

    def submit(
        self, function: Any, number: int, on: Sequence[Runner], version: str, **more: Any
    ) -> object:
        assert (function, version) == (measure, natxy.__version__)
        assert more["resources"] == {"testbed": 1}
        assert all(len(runner.plan.cells) == 1 for runner in on)
        self.cells.append((number, [runner.testbed for runner in on]))
        return object()


def test_the_commands_of_a_cell_are_shown_before_a_worker_gets_it(
    files: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker shows nothing, and runs them as root."""
    columns = '[[column]]\nlabel = "a"\nbefore = [["of", "a"]]\n[[column]]\nlabel = "b"\n'
    hooks = '[hooks]\nbefore_column = [["of", "all"]]\nafter_column = [["after", "all"]]\n'
    series = EXPERIMENT.split("[[vary]]")[1].split("[[measure]]")[0]
    files[0].write_text(EXPERIMENT.replace(f"[[vary]]{series}", columns) + hooks)
    asked = read_asked(*files[:1], files[1:])
    plans = [plan_of(asked.experiment, testbed, 7) for testbed in asked.testbeds]
    header = HEADER
    client = Submits()
    with Journal(tmp_path / "journal.jsonl.gz", header) as journal:
        runner = TestbedsRunner(
            plan=plans[0],
            further=plans[1:],
            work_of=work_of,
            dut_of=dut_of,
            journal=journal,
            state=CampaignState(header=header),
            watcher=JsonNarrator(),
        )
        numbers = {cell.column.label: place for place, cell in enumerate(plans[0].cells)}
        shown = {}
        for label in ("a", "b"):
            place = numbers[label]
            runner._submitted(client, place + 1, plans[0].cells[place])
            events = map(json.loads, capsys.readouterr().out.splitlines())
            shown[label] = [(each["when"], " ".join(each["command"])) for each in events]
    around = [("before_column", "of all"), ("after_column", "after all")]
    assert shown["b"] == around
    assert shown["a"] == [around[0], ("before_column", "of a"), around[1]]
    assert client.cells == [(numbers[label] + 1, [1, 2]) for label in ("a", "b")]


def test_sizes_of_the_machines_table_that_differ_are_named() -> None:
    """The kernel has one table for all labs, so that one cell would resize another's."""
    lab = '[tester]\ncores = [{}]\n[dut]\nkind = "namespace"\ndriver = "{}"\n{}\n'
    small, large = "hash_size = 4096", "hash_size = 8192"

    def said(*of: tuple[str, str]) -> list[str]:
        plans = plans_of(*(lab.format(core, *driver) for core, driver in enumerate(of)))
        return list(map(str, shared_tables(plans)))

    assert said(("nat44", small), ("nat44", small)) == []
    assert said(("nat44", small)) == [], "one testbed has one cell at a time"
    assert said(("nat44", small), ("kernel-router", "")) == [], "a router tracks nothing"
    (sentence,) = said(("nat44", small), ("nat44-iptables", large))
    assert sentence.startswith("Cells set 2 different sizes of the connection tracking table")
    assert "equal conntrack_entries and hash_size in all cells" in sentence
    (sentence,) = said(("nat44", small), ("nat44", "conntrack_entries = 65536"))
    entries = "conntrack_entries = 4096"
    assert said(("nat44", entries), ("nat44", f"{entries}\n{small}")) == [], "that is the default"
    guest = plans_of(*(f'[dut]\nkind = "guest"\ndriver = "nat44"\n{of}' for of in (small, large)))
    assert list(shared_tables(guest)) == [], "a virtual machine has a kernel of its own"


def test_the_sizes_that_a_series_varies_are_those_of_its_cells() -> None:
    testbed = '[dut]\nkind = "namespace"\ndriver = "nat44"\n'
    series = VarySection(key="dut.hash_size", values=(4096, 8192))
    measures = (MeasureSection(command="pdv"),)
    experiment = Experiment(title="", testbed="", vary=(series,), measure=measures)
    plan = plan_of(experiment, tomllib.loads(testbed), 1)
    assert list(shared_tables({1: plan})) == []
    (sentence,) = shared_tables({1: plan, 2: plan})
    assert "Cells that run at once then make each other fail" in str(sentence)
    router = plan_of(experiment.model_copy(update={"vary": ()}), {}, 1)
    assert list(shared_tables({1: plan, 2: router})) == [], "one lab has the table alone"
