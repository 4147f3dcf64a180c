"""The engine in the labs: through each gateway nothing is lost at a low rate, nothing is wrong."""

import gzip
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.journal import read_journal
from natxy.cli import run_command
from natxy.cli.demo import NOT_A_RESULT
from natxy.dut.lab import VethLoop
from natxy.dut.process import within
from natxy.errors import TrialRefused
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, TesterSection
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.capacity import CAPACITY
from natxy.procedure.self_test import SelfTestPlan, looped, self_test
from natxy.search.bisection import SearchError
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.trials import Trials
from tests.command import natxy
from tests.labs.trials import NATXY, ROOT, ROUTER4, TAYGA, TIMING, testbed_of
from tests.valid import valid, valid_run, valid_trial

RATE_FPS = 5000

ROUTER6 = ROUTER4.replace("= 4", "= 6")
MIRRORED = TAYGA.replace("[traffic]", "[traffic]\nleft_ip_version = 4\nright_ip_version = 6")
MIXED = "n = 2\nm = 1\n"
NETWORKS = "left_networks = 7\nright_networks = 256\n"
WIDE = "[traffic.right_field]\nmode = 'pseudorandom'\nmin = 2\nmax = 60000\n"


def one_valid_trial(session: Session, rate_fps: int) -> TrialRecord:
    trials = Trials(session=session, timing=TIMING, campaign_seed=7)
    return valid_trial(trials, rate_fps, seed=7)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ROUTER4.format(more=""), id="ipv4-router", marks=pytest.mark.long),
        pytest.param(ROUTER6.format(more=""), id="ipv6-router", marks=pytest.mark.long),
        pytest.param(
            ROUTER4.format(more=NETWORKS), id="ipv4-router-networks", marks=pytest.mark.long
        ),
        pytest.param(ROUTER6.format(more=NETWORKS), id="ipv6-router-networks"),
        pytest.param(ROUTER4.format(more=WIDE), id="ipv4-router-wide"),
        pytest.param(
            ROUTER4.format(more=MIXED), id="ipv4-router-background", marks=pytest.mark.long
        ),
        pytest.param(ROUTER4.format(more=MIXED) + "driver = 'bridge'\n", id="ipv4-bridge"),
        pytest.param(ROUTER6.format(more="") + "driver = 'bridge'\n", id="ipv6-bridge"),
        pytest.param(ROUTER4.format(more="") + "device = 'af_packet'\n", id="af_packet"),
        pytest.param(TAYGA.format(more=""), id="tayga", marks=pytest.mark.long),
        pytest.param(TAYGA.format(more=MIXED), id="tayga-background"),
        pytest.param(TAYGA.format(more=NETWORKS), id="tayga-networks"),
        pytest.param(
            TAYGA.format(more="frame_size_bytes = 1518\n"), id="tayga-1518", marks=pytest.mark.long
        ),
        pytest.param(MIRRORED.format(more=""), id="tayga-mirrored"),
    ],
)
def test_nothing_is_lost_at_a_low_rate(text: str) -> None:
    testbed, source, dut = testbed_of(text)
    with set_up(testbed, source, dut) as session:
        trial = one_valid_trial(session, RATE_FPS)
    assert trial.verdict is Verdict.PASS
    assert trial.result.sent == 2 * RATE_FPS // 10
    assert trial.result.misdelivered == 0
    assert trial.result.duplicated == 0


def test_a_gateway_whose_side_is_down_is_one_sentence() -> None:
    testbed, source, dut = testbed_of(
        "[tester]\nwarm_up_timeout_s = 0.5\n" + ROUTER4.format(more="")
    )
    with set_up(testbed, source, dut) as session:
        assert dut.tester_namespace is not None
        label = dut.tester_namespace.removeprefix("natxy-t-")
        gateway = f"natxy-g-{label}"
        subprocess.run(["ip", "-n", gateway, "link", "set", f"d1-{label}", "down"], check=True)
        with pytest.raises(TrialRefused, match="right") as refused:
            one_valid_trial(session, RATE_FPS)
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_self_test_through_a_veth() -> None:
    port = Port()
    testbed = looped(Testbed(tester=TesterSection(left=port, right=port)))
    plan = SelfTestPlan(seed=1, sizes_bytes=(84,), timing=TIMING)
    with set_up(testbed, Source(name="self-test"), VethLoop()) as session:
        ceiling = valid(
            lambda: self_test(plan, session)[0],
            lambda found: ("no trial for the delay",) if found.delay is None else (),
        )
    assert ceiling.rate_fps > RATE_FPS
    assert ceiling.misdelivered == 0
    assert ceiling.delay
    offset, loaded = ceiling.delay.offset, ceiling.delay.loaded
    assert 0 < offset.minimum_ns <= offset.median_ns < 5e6
    assert 0 < loaded.minimum_ns <= loaded.median_ns < 5e6
    assert offset.rate_fps <= loaded.rate_fps == max(1, ceiling.rate_fps // 2)


@pytest.mark.long
def test_self_test_in_memory_by_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a search that is coarse: the command's own would take twenty seconds."""
    coarse = partial(SelfTestPlan, timing=TIMING, error=SearchError(fraction=Fraction(1, 4)))
    monkeypatch.setattr(import_module("natxy.cli.self_test"), "SelfTestPlan", coarse)
    status = run_command(["self-test", "--frame-size", "84", "--json", "--seed", "3"])
    said = capsys.readouterr()
    assert status == 0, said.err
    (ceiling,) = json.loads(said.out)["ceilings"]
    assert ceiling["frame_size_bytes"] == 84
    assert ceiling["rate_fps"] > 100_000


@pytest.fixture
def deaf(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A namespace with two ports whose other ends nobody listens at, and a testbed for them."""
    name = f"natxy-deaf-{os.getpid()}"
    script = [f"link add t{n} type veth peer name x{n}" for n in (0, 1)]
    script += [f"link set {end}{n} up" for n in (0, 1) for end in "tx"]
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "-batch", "-"], input="\n".join(script).encode(), check=True)
    # Linux gives a new namespace the setting of the machine, which may run containers.
    inside = ["ip", "netns", "exec", name]
    subprocess.run([*inside, "sysctl", "-qw", "net.ipv4.ip_forward=0"], check=True)
    sides = "".join(
        f"[tester.{side}]\ndevice = 'net_af_packet{n},iface=t{n}'\n"
        f"ipv4_real = '198.1{8 + n}.0.2'\nnext_hop_ipv4 = '198.1{8 + n}.0.1'\n"
        for n, side in enumerate(("left", "right"))
    )
    path = tmp_path / "deaf.toml"
    path.write_text(
        f"[tester]\nwarm_up_timeout_s = 0.5\n{sides}"
        "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
    )
    yield name, path
    subprocess.run(["ip", "netns", "del", name], check=True)


def test_a_dut_that_does_not_answer_is_one_sentence(deaf: tuple[str, Path]) -> None:
    name, path = deaf
    ip = shutil.which("ip")
    assert ip is not None
    done = subprocess.run(
        [ip, "netns", "exec", name, *NATXY, "trial", str(path), "--rate", "1000"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 1
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("natxy: ")]
    assert "198.18.0.1" in sentence
    assert "ARP" in sentence


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGINT, 130, id="ctrl-c"),
        pytest.param(signal.SIGTERM, 143, id="term", marks=pytest.mark.long),
    ],
)
def test_an_interrupted_command_leaves_nothing(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    lab = tmp_path / "lab.toml"
    lab.write_text(TAYGA.format(more=""))
    process = subprocess.Popen(
        [*NATXY, "trial", str(lab), "--rate", "1000", "--duration", "60"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    namespace = Path(f"/run/netns/natxy-t-{process.pid}")
    assert within(20, lambda: namespace.exists() and _engine_runs_in(namespace.name))
    time.sleep(1)  # in the middle of the trial
    os.killpg(process.pid, number)
    os.killpg(process.pid, number)  # a person presses twice
    _, said = process.communicate(timeout=20)
    assert process.returncode == status, said
    assert said.strip().startswith("natxy: ")
    assert not namespace.exists()
    assert not Path(f"/run/natxy/{process.pid}.json").exists()
    assert _of_this_lab(process.pid) == []


def _engine_runs_in(namespace: str) -> bool:
    listed = subprocess.run(
        ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.split())


def _of_this_lab(pid: int) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if f"natxy-lab-{pid}-" in line]


@pytest.mark.parametrize("asked", [pytest.param("", marks=pytest.mark.long), "router, IPv4"])
def test_the_demo_measures_the_gateways(asked: str, tmp_path: Path) -> None:
    """All four take minutes. What the stateful one measures more is tested by its own commands."""
    path = tmp_path / "results.json"
    once = ("--seed", "11", "--repetitions", "1", *(("--gateway", asked) if asked else ()))
    done = valid_run(lambda: natxy("demo", "--output", str(tmp_path), *once))
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(path.read_text())
    usual = ["throughput", "latency", "pdv", "frame-loss"]
    stateful = [*usual, "establishment", "capacity", "tear-down"]
    gateways = {
        "Linux router, IPv4": usual,
        "Linux router, IPv6": usual,
        "tayga, stateless NAT64": usual,
        "Linux, stateful NAT44": stateful,
    }
    assert [(result["column"], result["procedure"]) for result in results] == [
        (gateway, procedure)
        for gateway, measured in gateways.items()
        if asked in gateway
        for procedure in measured
    ]
    for result in results:
        assert result["misdelivered"] == 0
        assert result.get("rate_fps_per_direction", RATE_FPS + 1) > RATE_FPS
    assert asked or "capacity" in {result["procedure"] for result in results}
    for capacity in (result for result in results if result["procedure"] == "capacity"):
        (entries,) = (each for each in capacity["figures"] if each["figure"] == CAPACITY)
        assert 4092 <= entries["median"] <= 4096, "the table has 4,096 entries"
    assert NOT_A_RESULT in " ".join(done.stdout.split())
    repeat = shlex.join(["natxy", "demo", *once[2:], *once[:2]])
    assert {result["command"] for result in results} == {repeat}
    journal = tmp_path / "journal.jsonl.gz"
    lines = list(read_journal(journal))
    assert lines[0]["seed"] == 11
    assert [line["column"] for line in lines if line["record"] == "cell"] == [
        result["column"] for result in results
    ]
    assert (tmp_path / "report" / "report.html").is_file()
    # All bounds were whole ticks of the engine's clock: no list of buckets was left as it is.
    assert b'"buckets":[[' not in gzip.decompress(journal.read_bytes())
