"""The demo: an ordinary campaign whose gateways are shown one after another, and a report."""

import io
import json
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

import natxy
import natxy.cli.demo
from natxy.campaign.folder import Asked, CampaignFolder, read_asked
from natxy.campaign.plan import CampaignPlan, Cell, plan_again, plan_of
from natxy.campaign.records import read_campaign
from natxy.cli import campaigns, run_command
from natxy.cli.campaigns import check
from natxy.cli.demo import TITLE, GatewayTables, _lacking, demo_experiment
from natxy.cli.narrator import Narrator
from natxy.dut.execution import LAB_PACKAGES
from natxy.errors import ConfigurationError
from natxy.model.disturbance import Disturbance
from natxy.model.experiment_sections import Options
from natxy.model.measurement import Figure, Measurement, TrialCounts
from natxy.report.gateway_table import conformance_notes, gateway_table
from natxy.trial.profile import QUICK
from tests.unit.campaign_notes import cells_of, counted, report_notes
from tests.unit.campaigns import EXPERIMENT
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.conftest import NAT64
from tests.unit.measurement_report import measurement

STATEFUL = ["establishment", "capacity", "tear-down"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def two_gateways(tmp_path: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A demo of two gateways of the fake engine; returns the file for its results."""
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "demo.toml"
    path.write_text('order = "written"\n' + EXPERIMENT.replace("rounds = 2", ""))
    monkeypatch.setattr(natxy.cli.demo, "demo_experiment", lambda: path)
    return tmp_path / "demo" / "results.json"


def asked() -> Asked:
    return read_asked(demo_experiment())


def planned(options: Options | None = None) -> CampaignPlan:
    return plan_of(asked().experiment, asked().testbed, 1, options=options)


def test_the_demo_measures_gateway_by_gateway() -> None:
    plan = planned()
    check(plan)
    of = {
        column: [cell.measure.command for cell in plan.cells if cell.column.label == column]
        for column in dict.fromkeys(cell.column.label for cell in plan.cells)
    }
    usual = ["throughput", "latency", "pdv", "frame-loss"]
    assert of == {
        "Linux router, IPv4": usual,
        "Linux router, IPv6": usual,
        "tayga, stateless NAT64": usual,
        "Linux, stateful NAT44": [*usual, *STATEFUL],
    }
    assert [cell.column.label for cell in plan.cells] == [
        column for column, measures in of.items() for _ in measures
    ], "a gateway's cells follow one another"


def test_the_demo_searches_for_each_throughput_several_times_and_verifies_losses() -> None:
    searches = [cell.options for cell in planned().cells if cell.measure.command == "throughput"]
    asked = {"repetitions": 5, "error": "1%", "patience": 20, "retry_time": 12}
    assert searches == [{"profile": "quick", **asked}] * 4
    assert QUICK.loss_verifications == 1


def test_the_demo_spends_two_minutes_on_invalid_trials_not_half_a_minute_in_each_cell() -> None:
    """A few valid trials at a fixed low rate are enough, and an error would end the demo."""
    at_a_low_rate = {"latency", "pdv"}
    cells = [cell for cell in planned().cells if cell.measure.command not in at_a_low_rate]
    retry_times = [cell.options["retry_time"] for cell in cells]
    assert sum(float(str(seconds)) for seconds in retry_times) <= 120


def test_repetitions_are_those_of_every_measurement() -> None:
    assert {cell.options["repetitions"] for cell in planned({"repetitions": 1}).cells} == {1}


@pytest.mark.parametrize("wrong", ["-1", "100000"])
def test_patience_has_limits(wrong: str, testbed_file: Path, capsys: Captured) -> None:
    assert run_command(["throughput", str(testbed_file), "--patience", wrong]) == 2
    assert f"--patience: {wrong} is out of range" in capsys.readouterr().err


def test_patience_is_not_for_mlrsearch(testbed_file: Path, capsys: Captured) -> None:
    asked = ["--search", "mlr", "--patience", "1"]
    assert run_command(["throughput", str(testbed_file), *asked]) == 2
    assert "--patience: is not possible with --search mlr" in capsys.readouterr().err


def test_each_gateway_has_its_table_before_the_next_one_starts(
    two_gateways: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = io.StringIO()
    console = Console(file=both, width=80)
    monkeypatch.setattr(natxy.cli.demo, "progress_console", console)
    monkeypatch.setattr(natxy.cli.demo, "result_console", console)
    assert run_command(["demo", "--output", str(two_gateways.parent), "--seed", "4"]) == 0
    said = both.getvalue()
    first, second, *_ = (match.start() for match in re.finditer("median", said))
    assert said.index("[2/4]") < first < said.index("[3/4]")
    assert said.index("[4/4]") < second < said.index(TITLE)
    assert max(map(len, said.splitlines())) < 120


def test_a_gateway_whose_program_is_not_installed_is_left_out_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    there = LAB_PACKAGES.keys() | {"nft", "conntrack", "iptables"}
    for program in there:
        (tmp_path / program).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(_lacking(planned())) == ["tayga, stateless NAT64"]
    folder = tmp_path / "demo"
    assert run_command(["demo", "--gateway", "tayga", "--output", str(folder)]) == 1
    assert capsys.readouterr().out.count("apt install tayga") == 1
    assert not folder.exists()


def gateways(*, invalid: int = 1) -> list[Measurement]:
    """A throughput of each gateway of the demo."""
    figure = Figure(
        name="throughput", unit="fps", values=(1_234_567.0,) * 5, lower_bound=(True,) * 5
    )
    counts = TrialCounts(trials=4, invalid_trials=invalid, misdelivered=1_234)
    return [
        measurement(
            procedure="throughput",
            conditions=measurement().conditions.model_copy(update={"dut": column.label}),
            figures=(figure,),
            counts=counts,
        )
        for column in asked().experiment.columns
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_the_demo_ends_with_a_dozen_lines(
    two_gateways: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """The throughputs, what they are not, and where the report is; the notes are in the report."""
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(natxy.cli.demo, "result_console", console)
    monkeypatch.setattr(campaigns, "result_console", console)
    found = property(lambda _: gateways(), lambda *_: None)
    monkeypatch.setattr(GatewayTables, "results", found, raising=False)
    assert run_command(["demo", "--output", str(two_gateways.parent), "--repetitions", "1"]) == 0
    end = text.getvalue()[text.getvalue().index(TITLE) :].splitlines()
    assert len(end) <= 12
    assert max(map(len, end[:-1])) <= width
    rows = {line[:22].strip(): line[22:].split() for line in end}
    assert rows["Linux, stateful NAT44"] == [*("≥", "1,234,567") * 3, "1,234", "25", "%"]
    assert {column.label for column in asked().experiment.columns} <= set(rows)
    assert sum("RFC 2544" in line for line in end) == 1
    assert end[-1] == f"Report: {two_gateways.parent / 'report/report.html'}"


def test_the_notes_of_the_demo_are_in_its_report() -> None:
    """What trials counted, and what disturbed them, beside the deviations."""
    of = Disturbance(
        sending_ns=1e9, paused_ns=1e7, away_ns=2e7, longest_away_ns=3e6, shared_cpus=("CPU 1",)
    )
    counts = TrialCounts(
        trials=4,
        misdelivered=7,
        duplicated=8,
        worst_lateness_ns=5000.0,
        overturned=1,
        disturbance=of,
    )
    short = measurement(counts=counts, deviations=(SHORT_TRIALS,))
    said = "\n".join(report_notes(short))
    for words in (
        "Trials of 0.2 s, not 60 s",
        "overturned by loss verification",
        "In valid trials, CPU 1.",
    ):
        assert words in said
    assert counted(("router",), cells_of(short)) == {
        "pdv: misdelivered frames": ["7"],
        "pdv: duplicated frames": ["8"],
        "pdv: gateway without its CPU, valid trials": ["2 %, 3 ms at most"],
        "pdv: senders paused, valid trials": ["1 %"],
        "pdv: largest lateness of a frame, valid trials": ["5 µs"],
    }


def test_the_demo_is_a_campaign_with_a_report(two_gateways: Path, capsys: Captured) -> None:
    once = ["--seed", "4", "--repetitions", "1"]
    assert run_command(["demo", "--output", str(two_gateways.parent), *once]) == 0
    said = capsys.readouterr().out
    folder = CampaignFolder(path=two_gateways.parent)
    assert f"Report: {folder.path / 'report/report.html'}" in said
    assert "PDV" in (folder.path / "report" / "report.html").read_text()
    results = json.loads(two_gateways.read_text())
    assert [(result["column"], result["procedure"]) for result in results] == [
        (gateway, procedure) for gateway in ("84 B", "512 B") for procedure in ("throughput", "pdv")
    ]
    assert {len(result["figures"][0]["values"]) for result in results} == {1}
    assert {result["natxy_version"] for result in results} == {natxy.__version__}
    assert all(result["command"].endswith("--seed 4") for result in results)
    assert all(datetime.fromisoformat(result["started"]).tzinfo for result in results)
    header = read_campaign(folder.journal).header
    again = plan_again(folder.asked().experiment, folder.asked().testbed, header)
    assert {cell.options["repetitions"] for cell in again.cells} == {1}, "it can be resumed"


def test_the_results_of_a_demo_that_is_resumed_are_those_of_a_whole_one(
    two_gateways: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = ["demo", "--output", str(two_gateways.parent), "--seed", "4", "--repetitions", "1"]
    assert run_command(once) == 0
    whole = json.loads(two_gateways.read_text())

    def interrupted(self: Narrator, left: Sequence[Cell], number: int, count: int) -> None:
        if number == 3:
            raise KeyboardInterrupt
        started(self, left, number, count)

    started = Narrator.cell_started
    with monkeypatch.context() as patched:
        patched.setattr(Narrator, "cell_started", interrupted)
        assert run_command(once) != 0
    assert len(json.loads(two_gateways.read_text())) == 2
    assert run_command(["resume", str(two_gateways.parent)]) == 0
    resumed = json.loads(two_gateways.read_text())
    for entry in (*whole, *resumed):
        assert entry.pop("started")
        entry.pop("disturbance", None)
    assert resumed == whole


def test_the_demo_of_one_gateway_stays_one_when_it_is_resumed(two_gateways: Path) -> None:
    asked = ["--gateway", "512", "--repetitions", "1"]
    assert run_command(["demo", "--output", str(two_gateways.parent), *asked]) == 0
    assert {result["column"] for result in json.loads(two_gateways.read_text())} == {"512 B"}
    folder = CampaignFolder(path=two_gateways.parent)
    header = read_campaign(folder.journal).header
    again = plan_again(folder.asked().experiment, folder.asked().testbed, header)
    assert {cell.column.label for cell in again.cells} == {"512 B"}


def test_a_gateway_that_the_demo_does_not_have(two_gateways: Path, capsys: Captured) -> None:
    assert run_command(["demo", "--output", str(two_gateways.parent), "--gateway", "jool"]) == 2
    said = capsys.readouterr().err
    assert '--gateway: no gateway has "jool" in its name (expected a part of one of "84 B"' in said
    assert not two_gateways.parent.exists()


def test_without_the_extra_packages_the_demo_says_how_to_get_the_report(
    two_gateways: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    once = ["--repetitions", "1"]
    assert run_command(["demo", "--output", str(two_gateways.parent), *once]) == 0
    said = capsys.readouterr().out
    assert "No HTML report: " in said
    assert f"natxy report {two_gateways.parent}" in said
    assert (two_gateways.parent / "report" / "table.txt").exists()


def test_a_demo_whose_gateway_fails_shows_the_others_and_fails(
    two_gateways: Path, capsys: Captured
) -> None:
    experiment = two_gateways.parents[1] / "demo.toml"
    wrong = "rate = 1000, tags_after = 0.01"  # after the last frame of a trial
    text = experiment.read_text().replace("rate = 1000", wrong).replace('"pdv"', '"latency"')
    experiment.write_text(text)
    assert run_command(["demo", "--output", str(two_gateways.parent), "--repetitions", "1"]) == 1
    said = capsys.readouterr().out
    assert "2 measurements failed: --tags-after" in said
    assert len(json.loads(two_gateways.read_text())) == 2


def test_a_demo_replaces_an_earlier_one(two_gateways: Path) -> None:
    page = two_gateways.parent / "report" / "report.html"
    for seed in (4, 5):
        once = ["--seed", str(seed), "--repetitions", "1"]
        assert run_command(["demo", "--output", str(two_gateways.parent), *once]) == 0
        journal = CampaignFolder(path=two_gateways.parent).journal
        assert read_campaign(journal).header["seed"] == seed
        assert f"; seed {seed}</dd>" in page.read_text()


def test_a_demo_replaces_nothing_else(tmp_path: Path) -> None:
    folder = CampaignFolder(path=tmp_path)
    (tmp_path / "testbed.toml").write_text("[tester]\n")
    with pytest.raises(ConfigurationError, match=r"testbed.toml: already exists"):
        folder.create(asked(), replace=True)
    (tmp_path / "experiment.toml").write_text('title = "a week of work"\n')
    with pytest.raises(ConfigurationError, match=r"experiment.toml: is of another campaign"):
        folder.create(asked(), replace=True)


def test_a_gateways_table_fits_a_terminal() -> None:
    longest = Figure(
        name="connection tear-down rate",
        uncertain=True,
        unit="cps",
        at="20,000 connections",
        values=(1_234_567.0,),
        lower_bound=(True,),
    )
    text = io.StringIO()
    counts = TrialCounts(trials=4, invalid_trials=1)
    results = [measurement(figures=(longest,)), measurement(counts=counts)]
    Console(file=text, width=80).print(gateway_table("Linux, stateful NAT44", results), crop=False)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "≥ 1,234,567" in text.getvalue()
    assert "(connection tear-down rate)" in text.getvalue()
    (row,) = (line for line in lines if "PDV" in line)
    assert row.split() == ["→", "PDV", "2", "µs", "1", "µs", "3", "µs", "3", "25", "%"]


def test_a_table_names_what_does_not_conform() -> None:
    assert list(conformance_notes([measurement()])) == []
    short = measurement(deviations=(SHORT_TRIALS,))
    (note,) = conformance_notes([measurement(procedure="latency"), short])
    assert ": pdv. " in note
