"""Gateways in a guest, above all Jool, by the engine: each forwards every frame rightly, tables are
measured, and a guest that dies ends the measurement with one sentence. The first test may build the
guest.

Emulated, a guest takes seconds to boot and forwards slowly, so most of these tests are long.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.journal import read_journal
from natxy.campaign.records import read_campaign
from natxy.dut.choice import dut_of
from natxy.dut.guest import GuestDut
from natxy.dut.ledger import sweep
from natxy.dut.namespaces import namespace_exists
from natxy.dut.process import Process
from natxy.errors import DutError
from natxy.guest.image import VARIABLE
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.memory import MEMORY
from natxy.trial.observer import Observer
from natxy.trial.setup import Setup, set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.command import natxy
from tests.programs import ROOT
from tests.valid import Done, valid_run, valid_trial

RATE_FPS = 500
TESTER = "[tester]\nlateness_tolerance_us = 20000\n"
# Jool 4.1.9 sends a checksum of 0000 over IPv6 for ffff, once in 65,536 frames (decision 0009).
TRANSLATION = "[traffic]\nleft_ip_version = 6\nright_ip_version = 4\navoid_zero_checksum = true\n"
CONNECTIONS = '[connections]\ncount = 300\nrate_fps = 500\nincomplete = "repeat"\n'
NAT64 = f'{TESTER}{TRANSLATION}{CONNECTIONS}[dut]\nkind = "guest"\ndriver = "jool"\n'
SIIT = f'{TESTER}{TRANSLATION}[dut]\nkind = "guest"\ndriver = "jool-siit"\n'
NAT64_TCP = NAT64.replace("[connections]", '[connections]\ntransport = "tcp"').replace(
    "avoid_zero_checksum = true",
    "frame_size_bytes = 98",  # the smallest with a TCP header
)
CLATS = '[subscribers]\nmechanism = "464xlat"\ncount = 100\nipv6_prefix = "2001:db8::/32"\n'
PORTS = (
    '[traffic.forward]\nsource_port = {mode = "pseudorandom", min = 10000, max = 10099}\n'
    'destination_port = {mode = "fixed", min = 53, max = 53}\n'
)
FEW = NAT64.replace("[connections]", f"{PORTS}[connections]")
PLAT = f'{CLATS}gateway_prefix = "2001:db9::/96"\n{FEW}'
AFTR = (
    (
        '[subscribers]\nmechanism = "ds-lite"\ncount = 100\nipv6_prefix = "2001:db8::/32"\n'
        f'gateway = "2001:db9::1"\n{FEW}'
    )
    .replace('driver = "jool"', 'driver = "aftr"')
    .replace("left_ip_version = 6", "left_ip_version = 4")
)
NAT44 = NAT64.replace('"jool"', '"nat44"').replace("left_ip_version = 6", "left_ip_version = 4")
AFTR_TCP = AFTR.replace("[connections]", '[connections]\ntransport = "tcp"').replace(
    "avoid_zero_checksum = true", "frame_size_bytes = 98"
)
NAT44_IPTABLES = NAT44.replace('"nat44"', '"nat44-iptables"')
NAT64_TAYGA = NAT64.replace('"jool"', '"nat64"')
TAYGA = SIIT.replace('"jool-siit"', '"tayga"')
ROUTER = SIIT.replace('"jool-siit"', '"kernel-router"').replace("right_ip_version = 4", "")
ROUTER6 = ROUTER.replace("left_ip_version = 6", "left_ip_version = 6\nright_ip_version = 6")


def testbed_of(text: str) -> tuple[Testbed, Source, GuestDut]:
    source = Source(name="lab.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = dut_of(testbed, source)
    assert isinstance(dut, GuestDut)
    return testbed, source, dut


def trials_of(setup: Setup, duration_s: Fraction = Fraction(1, 2)) -> Trials:
    timing = Timing(duration_s=duration_s, drain_s=Fraction(1, 5))
    return Trials(
        tester=setup.tester, dut=setup.dut, timing=timing, campaign_seed=7, observer=Observer()
    )


def check_every_frame(trial: TrialRecord) -> None:
    assert trial.verdict is Verdict.PASS
    assert trial.result.sent > 0
    for stream in trial.result.streams:
        assert stream.lost == 0
        for _, counters in stream.counters():
            assert counters.misdelivered.total == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NAT64, id="nat64"),
        pytest.param(NAT64_TCP, id="nat64-tcp"),
        pytest.param(PLAT, id="nat64-plat"),
        pytest.param(SIIT, id="siit"),
        pytest.param(SIIT.replace("[dut]", "frame_size_bytes = 1518\n[dut]"), id="siit-1518"),
        pytest.param(SIIT.replace("[dut]", "right_networks = 256\n[dut]"), id="siit-networks"),
        pytest.param(NAT44, id="nat44"),
        pytest.param(NAT44_IPTABLES, id="nat44-iptables"),
        pytest.param(NAT64_TAYGA, id="nat64-tayga"),
        pytest.param(TAYGA, id="tayga"),
        pytest.param(AFTR, id="aftr"),
        pytest.param(AFTR_TCP, id="aftr-tcp"),
        pytest.param(ROUTER6, id="ipv6-router"),
    ],
)
def test_every_frame_comes_out_right_in_both_directions(text: str) -> None:
    testbed, source, dut = testbed_of(text)
    with set_up(testbed, source, dut) as setup:
        trial = valid_trial(trials_of(setup), RATE_FPS, seed=7)
        assert dut.watched or dut.describe()["gateway_cpu"] == "any"
    check_every_frame(trial)


def run(verb: str, testbed: str, folder: Path, *options: str) -> Done:
    path = folder / "testbed.toml"
    path.write_text(testbed)
    quick = ("--profile", "quick", "--repetitions", "1", "--seed", "5", "--json")
    words = (verb, str(path), *quick, *options, "--output", str(folder / "results"))
    return natxy(*words, timeout_s=600)


def measured(verb: str, folder: Path, *options: str, testbed: str = NAT64) -> dict[str, Any]:
    """The entry of results.json; in no trial was a frame misdelivered or a mapping changed."""
    done = valid_run(lambda: run(verb, testbed, folder, *options))
    assert done.returncode == 0, done.stderr[-2000:]
    (entry,) = json.loads(done.stdout)
    trials = [
        trial
        for trial in read_journal(folder / "results" / "journal.jsonl.gz")
        if trial["record"] == "trial"
    ]
    assert trials
    for trial in trials:
        for stream in [*trial["result"]["streams"], *filter(None, [trial["phase_1"]])]:
            assert stream["kinds"]["foreground"]["misdelivered"]["total"] == 0
            assert stream["connections"]["changed"] == 0
    found: dict[str, Any] = entry
    return found


of_each_transport = pytest.mark.parametrize(
    "testbed", [pytest.param(NAT64, id="udp"), pytest.param(NAT64_TCP, id="tcp")]
)


@pytest.mark.long
@of_each_transport
@pytest.mark.parametrize("options", [(), ("--validated",)])
def test_establishment_rate(testbed: str, options: tuple[str, ...], tmp_path: Path) -> None:
    entry = measured("establishment", tmp_path, "--error", "30%", *options, testbed=testbed)
    rate_cps, *_ = (figure["values"][0] for figure in entry["figures"])  # TCP has handshakes, too
    assert rate_cps > 50


@pytest.mark.long
@of_each_transport
def test_throughput(testbed: str, tmp_path: Path) -> None:
    entry = measured("throughput", tmp_path, "--error", "30%", testbed=testbed)
    assert entry["rate_fps_per_direction"] > 100
    assert entry["misdelivered"] == 0


Holds = Callable[[dict[str, Any]], bool]


def values_of(entry: dict[str, Any], name: str) -> list[float]:
    found = [each for each in entry["figures"] if each["figure"].startswith(name)]
    return [value for each in found for value in each["values"]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("verb", "options", "holds"),
    [
        (
            "establishment",
            ("--validated", "--error", "30%"),
            lambda entry: entry["figures"][0]["values"][0] > 50,
        ),
        (
            "throughput",
            ("--error", "30%"),
            lambda entry: entry["rate_fps_per_direction"] > 100,
        ),
        (
            "latency",
            ("--rate", str(RATE_FPS)),
            lambda entry: (
                len(found := values_of(entry, "typical latency")) == 2
                and all(0 < value_ns < 1e9 for value_ns in found)
                and values_of(entry, "lost tagged frames") == [0, 0]
            ),
        ),
        (
            "frame-loss",
            ("--rates", "200"),
            lambda entry: values_of(entry, "frame loss rate") == [0, 0],
        ),
    ],
    ids=["establishment", "throughput", "latency", "frame-loss"],
)
@pytest.mark.parametrize(
    "testbed", [pytest.param(PLAT, id="jool-as-plat"), pytest.param(AFTR, id="aftr")]
)
def test_a_gateway_of_subscribers_is_measured(
    verb: str, options: tuple[str, ...], holds: Holds, testbed: str, tmp_path: Path
) -> None:
    entry = measured(verb, tmp_path, *options, testbed=testbed)
    assert holds(entry), entry["figures"]


@pytest.mark.long
def test_tear_down_is_timed_in_the_guest(tmp_path: Path) -> None:
    entry = measured("tear-down", tmp_path, "--counts", "100,300")
    times = [figure["values"] for figure in entry["figures"] if "deletion time" in figure["figure"]]
    assert times
    assert all(0 < value < 10 for values in times for value in values)


def test_one_command_measures_jool_by_all_procedures(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    commands = chain(
        [("run", "experiments/guest/jool.toml", "--quick", "--output", str(folder))],
        repeat(("resume", str(folder), "--retry")),  # what noise has spoilt
    )
    done = valid_run(lambda: natxy(*next(commands), timeout_s=1200))
    assert done.returncode == 0, done.stderr[-2000:]
    cells = read_campaign(folder / "journal.jsonl.gz").cells
    columns = [json.loads(key)[0] for key in cells]
    assert {name: columns.count(name) for name in columns} == {
        "Jool, stateful NAT64": 9,
        "Jool, SIIT": 5,
    }
    assert [cell.end.error for cell in cells.values() if cell.end] == [""] * len(cells)
    for cell in cells.values():
        assert sum(result.counts.misdelivered for result in cell.results) == 0
        assert cell.results


@pytest.mark.long
def test_a_guest_is_built_and_measured_within_five_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    begin_s = time.monotonic()
    testbed, source, dut = testbed_of(SIIT)
    with set_up(testbed, source, dut) as setup:
        trials_of(setup).run(load=RATE_FPS, repetition=1, seed=1)
    assert time.monotonic() - begin_s < 300
    assert len(list(tmp_path.glob("*/initramfs"))) == 1


@pytest.mark.long
def test_memory_per_connection(tmp_path: Path) -> None:
    """A BIB entry and a session of Jool, each with its place in several trees."""
    counts = ("--counts", "1000,6000", "--max-rate", "2000")
    entry = measured("degradation", tmp_path, "--error", "50%", *counts)
    of_memory = [figure for figure in entry["figures"] if figure["figure"] == MEMORY]
    (octets,) = of_memory[-1]["values"]
    assert 200 < octets < 2000


@pytest.fixture
def lab() -> Iterator[tuple[Setup, GuestDut]]:
    testbed, source, dut = testbed_of(SIIT)
    with set_up(testbed, source, dut) as setup:
        yield setup, dut


def run_trials(setup: Setup) -> None:
    """Until the guest has died, which it may also do between two of them."""
    for _ in range(5):
        trials_of(setup, Fraction(2)).run(load=RATE_FPS, repetition=1, seed=1)


def check_one_sentence(lab: tuple[Setup, GuestDut], end: Callable[[], None], sentence: str) -> None:
    """Checks that a guest that ends in a trial is told with this sentence, and leaves nothing."""
    setup, dut = lab
    namespace, qemu = str(dut.tester_namespace), Process.of(dut.machine.pid)
    timer = threading.Timer(1.5, end)
    timer.start()
    try:
        with pytest.raises(DutError, match=sentence):
            run_trials(setup)
    finally:
        timer.join()
    dut.stop()
    assert not qemu.lives()
    assert not namespace_exists(namespace)


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("echo c >/proc/sysrq-trigger", r"kernel panicked: .*sysrq triggered crash"),
        ("poweroff -f", r"QEMU ended with status 0"),
    ],
)
def test_a_guest_that_dies_in_a_trial_ends_it_with_one_sentence(
    command: str, sentence: str, lab: tuple[Setup, GuestDut]
) -> None:
    def end() -> None:
        with suppress(DutError):  # the answer never comes
            lab[1].machine.run(command, within_s=5)

    check_one_sentence(lab, end, sentence)


@pytest.mark.long
def test_a_guest_that_hangs_in_a_trial_ends_it_with_one_sentence(
    lab: tuple[Setup, GuestDut],
) -> None:
    pid = lab[1].machine.pid
    sentence = r"^The guest did not answer in time; its console's"
    check_one_sentence(lab, lambda: os.kill(pid, signal.SIGSTOP), sentence)


PROGRAM = """
import sys, time
from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
source = Source(name="lab.toml", text=sys.argv[1])
dut = dut_of(source.validated(Testbed, source.toml()), source)
dut.start()
print(dut.machine.pid, dut.tester_namespace, flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_the_next_start_removes_a_guest_whose_tester_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, SIIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        pid, namespace = process.stdout.readline().split()
        process.kill()
    qemu, label = Process.of(int(pid)), namespace.removeprefix("natxy-t-")
    folder = Path(tempfile.gettempdir()) / f"natxy-lab-{label}-0"
    assert qemu.lives()
    assert folder.exists()
    assert namespace_exists(namespace)
    sweep()
    assert not qemu.lives()
    assert not folder.exists()
    assert not namespace_exists(namespace)
