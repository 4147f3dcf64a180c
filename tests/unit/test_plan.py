"""`natxy plan`: what cells need, and how long they take on several testbeds at once."""

import re
from pathlib import Path

import pytest

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from natxy.cli import run_command
from natxy.cli.plan import CONNECTION_BYTES, in_parallel_s, memory_bytes, needs_of, ranges
from natxy.dut.execution import LAB_PACKAGES
from natxy.dut.recipe import drivers
from natxy.model.testbed import Testbed
from tests.unit.conftest import NAT64

ROOT = Path(__file__).parents[2]
OF_EVERY_SYSTEM = {"sh", "bash", "cat", "tee", "stdbuf"}
OF_GUESTS = {"kill", "modprobe"}
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("natxy.dut.cpus.os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr("natxy.cli.plan.shutil.which", lambda name: name != "tayga" or None)


def needs(name: str, *, quick: bool = False) -> dict[str, str]:
    """What the cells of the first round of one of our experiments need, by title."""
    asked = read_asked(ROOT / "experiments" / f"{name}.toml")
    plan = plan_of(asked.experiment, asked.testbed, 1, quick=quick)
    return {cell.title: needs_of(cell) for cell in plan.cells if cell.round == 1}


def test_a_cell_of_a_lab_says_what_it_needs(two_cpus: None) -> None:
    assert needs("mp-table-12")["establishment, 4,000,000"] == (
        "root; programs conntrack, ethtool, ip, iptables, sysctl, taskset, "
        "tayga (not installed here: tayga); CPU 0 for the tester, CPU 1 for the gateway; "
        "about 2.2 GB of memory"
    )


def test_more_cores_than_there_are_are_named(two_cpus: None) -> None:
    of = needs("sd-figure-02")
    assert "CPU 1 for the gateway;" in of["throughput, 1 core"]
    assert "16 for the gateway (this machine has fewer);" in of["throughput, 16 cores"]
    assert "nft" not in of["router, 1 core"]
    assert "iptables" not in of["router, 1 core"]


def test_ports_that_are_rings_in_memory_need_no_privileges(two_cpus: None) -> None:
    assert needs("sp-table-05")["throughput, no frame timeout"] == (
        "no privileges; CPU 0 for the tester; about 537 MB of memory"
    )


def test_other_gateways(two_cpus: None, tmp_path: Path) -> None:
    text = 'title = "x"\ntestbed = "testbed.toml"\n[[measure]]\ncommand = "pdv"\n'
    (tmp_path / "experiment.toml").write_text(text)

    def said(testbed: str) -> str:
        (tmp_path / "testbed.toml").write_text(testbed)
        asked = read_asked(tmp_path / "experiment.toml")
        return needs_of(plan_of(asked.experiment, asked.testbed, 1).cells[0])

    assert said(NAT64) == "root; CPU 0 for the tester; about 537 MB of memory"
    in_memory = NAT64.replace('"fake0"', '"net_null0"').replace('"fake1"', '"net_null1"')
    assert said(in_memory).startswith("no privileges; CPU 0")
    over_ssh = f'{NAT64}\n[dut]\nkind = "command"\nreset = "ssh dut true"\n'
    assert "; the programs that the commands of [dut] call; " in said(over_ssh)
    calibration = '[dut]\nkind = "calibration"\n'
    assert said(calibration).startswith("no privileges; CPU 0 for the tester, CPU 1 for the")
    full = '[tester]\ncores = [0, 1]\n[dut]\nkind = "calibration"\n'
    assert "CPUs 0, 1 for the tester, none is free for the gateway" in said(full)


def test_memory_grows_with_connections_and_buckets() -> None:
    def memory(count: int, options: dict[str, object] | None = None, **dut: object) -> int:
        lab = {"kind": "namespace", "driver": "nat44", **dut}
        known = Testbed.model_validate({"connections": {"count": count}, "dut": lab})
        return memory_bytes(known, options or {})

    assert memory(2 * 10**6) - memory(10**6) == 10**6 * (CONNECTION_BYTES + 8 + 8)
    wider = memory(1000, hash_size=2**20) - memory(1000, hash_size=2**10)
    assert wider == 8 * (2**20 - 2**10)
    assert memory(1000, {"counts": (1000, 10**6)}) == memory(10**6)
    assert memory(1000, {"c0": 1000}, conntrack_entries=10**6) == memory(
        10**6, conntrack_entries=10**6
    )


def test_the_doctor_knows_each_program_that_a_lab_runs() -> None:
    of_guests = ("guest*.py", "jool.py", "ds_lite.py")
    sources = "".join(
        path.read_text()
        for path in (ROOT / "natxy" / "dut").glob("*.py")
        if not any(path.match(pattern) for pattern in of_guests)
    )
    calls = r'(?:(?:execute\(|in_namespace\([^\[\]]*|pinned\()\s*\[|_site\.run\(f?)"([a-z-]+)[" ]'
    called = set(re.findall(calls, sources))
    assert {"ip", "ethtool", "stdbuf", "conntrack"} <= called
    for recipe in drivers("namespace").values():
        keys = ("set_up_front", "set_up", "take_down_front", "take_down")
        commands = [command for key in keys for command in recipe.commands.of(key)]
        commands += [daemon.command for daemon in recipe.daemons]
        own = {command.split()[0] for command in commands}
        assert own <= {*LAB_PACKAGES, *recipe.in_lab.packages}
        called |= own
    labs = (recipe.in_lab for recipe in drivers("namespace").values())
    declared = set(LAB_PACKAGES).union(*(lab.packages for lab in labs))
    assert {"nft", "iptables", "tayga"} <= called
    assert called - OF_EVERY_SYSTEM - OF_GUESTS <= declared


def test_the_testbed_that_is_free_first_gets_the_next_cell() -> None:
    assert in_parallel_s([5, 1, 1, 1], 1) == 8
    assert in_parallel_s([5, 1, 1, 1], 2) == 5
    assert in_parallel_s([1, 1, 5], 2) == 6
    assert in_parallel_s([3], 4) == 3


def test_numbers_that_follow_one_another_are_a_range() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


def test_a_plan_of_several_testbeds(experiment: Path, capsys: Captured) -> None:
    first, other = experiment.with_name("testbed.toml"), experiment.with_name("other.toml")
    other.write_text(NAT64.replace("cores = [0]", "cores = [1]"))
    assert run_command(["plan", str(experiment)]) == 0
    alone = capsys.readouterr().out
    assert "Needs: root; CPU 0 for the tester" in alone
    assert "testbeds" not in alone
    assert run_command(["plan", str(experiment), "--testbeds", f"{first},{other}"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"8 cells, about .* on 2 testbeds at once, seed 7", said)
    assert "Testbed 1 needs: root; CPU 0 for the tester" in said
    assert "Testbed 2 needs: root; CPU 1 for the tester" in said
    assert "need the extra natxy[distributed]" in said
    one_by_one = re.search(r"8 cells, about (.*), seed", alone)
    assert one_by_one
    assert f"One after another, the cells take about {one_by_one[1]}." in said


def test_a_plan_names_cpus_that_testbeds_share(experiment: Path, capsys: Captured) -> None:
    first, other = experiment.with_name("testbed.toml"), experiment.with_name("other.toml")
    other.write_text(NAT64.replace("fake0", "fake2"))
    assert run_command(["plan", str(experiment), "--testbeds", f"{first},{other}"]) == 0
    shared = "CPU 0 has several users (the tester of testbed 1, the tester of testbed 2)"
    assert f"On one machine: {shared}" in capsys.readouterr().out


def test_a_plan_names_a_table_that_testbeds_share(experiment: Path, capsys: Captured) -> None:
    first, other = experiment.with_name("testbed.toml"), experiment.with_name("other.toml")
    lab = (
        "[tester]\ncores = [{}]\n[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
        "[connections]\ncount = 1000\nrate_fps = 1000\n"
        '[dut]\nkind = "namespace"\ndriver = "nat44"\nhash_size = {}\n'
    )
    first.write_text(lab.format(0, 4096))
    other.write_text(lab.format(1, 8192))
    assert run_command(["plan", str(experiment), "--testbeds", f"{first},{other}"]) == 0
    said = capsys.readouterr().out
    assert "On one machine: Cells set 2 different sizes of the connection tracking table" in said
