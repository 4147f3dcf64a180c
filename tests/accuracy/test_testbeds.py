"""A campaign on two testbeds at once, through Dask, each with a calibration gateway, or each with a
lab in network namespaces.

Two testers that never sleep share two CPUs here with their gateways, of which the calibration
gateways never sleep either. So the rates are low enough for the rings to bridge long absences, and
a search that may not go higher ends at its first rate.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from natxy.campaign.journal import read_journal
from natxy.campaign.records import CampaignState, read_campaign
from natxy.dut.namespaces import FOLDER
from tests.workers import PATIENCE_S, awaited, kill_parent_of, parent_of, started

pytestmark = pytest.mark.long  # two testbeds on two CPUs are slow
NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
RATES = (400, 600, 800, 1000)  # the highest rate to try in each column
LOWERED_BY = 0.1  # less than the difference between two rates
TESTBED = """
[tester]
cores = [{cpu}]
lateness_tolerance_us = 5000000
burst_limit_frames = 10000
warm_up = "neighbours"
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
{dut}
gateway_cpu = {other}
"""
DUTS = {
    "calibration gateways": 'kind = "calibration"',
    "labs": 'kind = "namespace"\ndriver = "kernel-router"',
}
EXPERIMENT = """
title = "Throughput up to a rate"
testbed = "first.toml"
seed = 7
options = {{ profile = "quick", repetitions = 1, duration = {duration_s}, drain = 0.5 }}
[[measure]]
command = "throughput"
"""
COLUMN = """
[[column]]
label = "{rate}"
options = {{ max_rate = {rate} }}
"""
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="a lab needs root")


@pytest.fixture(params=["calibration gateways", pytest.param("labs", marks=NEEDS_ROOT)])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Two testbeds that share this machine's two CPUs; their tester's CPUs differ."""
    for name, cpu, other in (("first", 0, 1), ("second", 1, 0)):
        written = TESTBED.format(cpu=cpu, other=other, dut=DUTS[request.param])
        (tmp_path / f"{name}.toml").write_text(written)
    return tmp_path


def experiment(folder: Path, *, duration_s: float) -> str:
    path = folder / "experiment.toml"
    columns = "".join(COLUMN.format(rate=rate) for rate in RATES)
    path.write_text(EXPERIMENT.format(duration_s=duration_s) + columns)
    return str(path)


def on_both(folder: Path) -> tuple[str, str]:
    return "--testbeds", f"{folder / 'first.toml'},{folder / 'second.toml'}"


def check_rates(campaign: Path) -> None:
    """Checks that each cell has its column's rate.

    The counted rate is lower by the pauses of a tester that was kept from its CPU.
    """
    state: CampaignState = read_campaign(campaign / "journal.jsonl.gz")
    assert {cell.begun.column for cell in state.cells.values()} == {str(rate) for rate in RATES}
    for cell in state.cells.values():
        assert cell.end is not None
        assert not cell.end.error
        (found,) = cell.results[0].figures[0].values
        highest = int(cell.begun.column)
        assert highest * (1 - LOWERED_BY) <= found <= highest


def order_of(campaign: Path) -> list[str]:
    return [record["record"] for record in read_journal(campaign / "journal.jsonl.gz")]


def namespaces_of(worker: int) -> set[str]:
    """Returns the names of the namespaces that a worker has made for its lab."""
    names = (path.name for path in FOLDER.glob("natxy-*"))
    return {name for name in names if str(worker) in name.split("-")[2:3]}


def test_two_testbeds_find_what_one_finds(folder: Path) -> None:
    path = experiment(folder, duration_s=0.2)
    subprocess.run([*NATXY, "run", path, "--output", folder / "one"], check=True)
    subprocess.run([*NATXY, "run", path, *on_both(folder), "--output", folder / "two"], check=True)
    for campaign in ("one", "two"):
        check_rates(folder / campaign)
    records = order_of(folder / "two")
    begun = [at for at, kind in enumerate(records) if kind == "cell"]
    ended = [at for at, kind in enumerate(records) if kind == "cell-end"]
    assert len(begun) == len(RATES)
    assert begun[1:] == [at + 1 for at in ended[:-1]], "the records of a cell stand together"


def test_a_cell_whose_worker_is_killed_is_measured_by_another(folder: Path) -> None:
    path = experiment(folder, duration_s=1)
    command = [*NATXY, "run", path, *on_both(folder), "--output", str(folder / "killed")]
    with started(command) as process:
        engine = awaited(process.pid, "natxy-engine")
        worker = parent_of(engine)
        has_lab = 'kind = "namespace"' in (folder / "first.toml").read_text()
        assert bool(namespaces_of(worker)) == has_lab
        kill_parent_of(engine)
        assert process.wait(timeout=PATIENCE_S) == 0
    check_rates(folder / "killed")
    assert not Path(f"/proc/{engine}").exists(), "the killed worker's engine has ended"
    assert not namespaces_of(worker), "the next lab has removed that of the killed worker"
    assert order_of(folder / "killed").count("cell") == len(RATES), "whole cells alone"
