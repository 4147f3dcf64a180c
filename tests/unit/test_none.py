"""Tests of gateways on this machine that Natxy did not start."""

import os
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.dut.config import NoDutConfig
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.tester.claims import ends_here
from natxy.trial.setup import UNNAMED, set_up
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan

TRAFFIC = """
[tester]
cores = [0]
[tester.left]
device = "net_memif0,socket=/run/a.sock"
ipv4_real = "198.18.0.2"
next_hop_mac = "02:00:00:00:00:01"
[tester.right]
device = "net_memif1,socket=/run/b.sock"
ipv4_real = "198.19.0.2"
next_hop_mac = "02:00:00:00:00:02"
[traffic]
left_ip_version = 4
right_ip_version = 4
"""


def testbed_with(dut: str) -> tuple[Testbed, Source]:
    kind = "" if "kind" in dut else 'kind = "none"\n'
    source = Source(name="testbed.toml", text=f"{TRAFFIC}[dut]\n{kind}{dut}")
    return source.validated(Testbed, source.toml()), source


def test_the_threads_of_its_processes_are_watched_on_its_cpus(tmp_path: Path) -> None:
    pid_file = tmp_path / "gateway.pid"
    pid_file.write_text(f"{os.getpid()}\n")
    own = {int(path.name) for path in Path("/proc/self/task").iterdir()}
    for place in (
        NoDutConfig(cpus=(3, 1), processes=(os.getpid(),)),
        NoDutConfig(cpus=(3, 1), pid_files=(str(pid_file),)),
    ):
        (first, second) = NoDut(place).watched
        assert (first.cpu, second.cpu) == (3, 1)
        assert own <= set(first.threads)
        assert own <= set(second.threads)


def test_what_may_run_on_its_cpus_only_is_the_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {1: {0, 1, 2, 3}, 11: {1}, 12: {1, 3}, 13: {0, 1}, 14: {2}, 21: {3}, 22: {1, 3}}
    monkeypatch.setattr("natxy.dut.none.program_threads", lambda: [1, 11, 12, 13, 14])
    monkeypatch.setattr("natxy.dut.none.kernel_threads", lambda _: [("d0-1", 21), ("d1-1", 22)])
    monkeypatch.setattr("os.sched_getaffinity", allowed.__getitem__)
    (first, second) = NoDut(NoDutConfig(cpus=(3, 1))).watched
    assert {11, 12, 21} <= set(first.threads) & set(second.threads)
    assert not {1, 13, 14} & set(first.threads)
    allowed[1] = {1, 3}  # the tester's CPUs are isolated: every program runs here
    (first, _) = NoDut(NoDutConfig(cpus=(3, 1))).watched
    assert {11, 21, 22} <= set(first.threads), "threads of NAPI are the gateway's in any case"
    assert not {1, 12} & set(first.threads)


def test_a_gateway_of_which_nothing_is_known_is_not_watched() -> None:
    for place in (None, NoDutConfig()):
        assert NoDut(place).watched == ()
        assert NoDut(place).telemetry().cpus == ()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (None, r"gateway\.pid: there is no such file"),
        ("", "has no number"),
        ("one", "has no number"),
        (b"\xff\xfe", "has no number"),
        ("4194304", "there is no process 4194304"),
    ],
)
def test_a_process_that_is_not_there_is_named(
    written: str | bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "gateway.pid"
    if isinstance(written, str):
        path.write_text(written)
    elif written is not None:
        path.write_bytes(written)
    with pytest.raises(DutError, match=said):
        _ = NoDut(NoDutConfig(cpus=(1,), pid_files=(str(path),))).watched


@pytest.mark.parametrize("kind", ["none", "command"])
def test_the_testbed_names_its_cpus(kind: str) -> None:
    testbed, source = testbed_with(f'kind = "{kind}"\ncpus = [1, 2]\nprocesses = [{os.getpid()}]')
    dut = dut_of(testbed, source)
    assert dut.cpus == (1, 2)
    assert [each.cpu for each in dut.watched] == [1, 2]
    assert dut.describe()["gateway_cpu"] == "1, 2"
    assert {each.cpu for each in dut.telemetry().cpus} <= {1, 2}


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("cpus = [0]", r"dut\.cpus: CPU 0 is one of tester\.cores \(expected other CPUs\)"),
        ("cpus = [1, 1]", r"dut\.cpus: names a CPU twice"),
        ("cpus = [1024]", r"dut\.cpus\[0\]: 1024 is out of range \(expected 0 to 1023\)"),
        ("processes = [1]", r"line 17: dut\.processes: needs dut\.cpus"),
        ("cpus = [1]\nprocesses = [0]", r"line 18: dut\.processes\[0\]: 0 is out of range"),
        ('cpus = ["1"]', r'line 17: dut\.cpus\[0\]: "1" is not'),
    ],
)
def test_what_cannot_be_is_refused(section: str, said: str) -> None:
    testbed, source = testbed_with(section)
    with pytest.raises(ConfigurationError, match=said):
        dut_of(testbed, source)


def test_ports_that_end_on_this_machine(tmp_path: Path) -> None:
    classes, virtual, nic = (
        tmp_path / each for each in ("sys/class/net", "sys/devices/virtual/net", "sys/devices/pci0")
    )
    for folder in (classes, virtual / "veth0", virtual / "eth0.7", nic / "eth0"):
        folder.mkdir(parents=True)
    (virtual / "eth0.7" / "lower_eth0").mkdir()
    for path in (virtual / "veth0", virtual / "eth0.7", nic / "eth0"):
        (classes / path.name).symlink_to(path)
    ends = {
        "net_memif0,socket=/run/a.sock": True,
        "net_virtio_user0,path=/run/b.sock": True,
        "net_vhost0,iface=/run/c.sock": True,
        "net_tap0,iface=t0": True,
        "net_af_xdp0,iface=veth0": True,
        "net_af_packet1,iface=veth0": True,
        "net_af_xdp0,iface=eth0": False,
        "net_af_packet0,iface=eth0.7": False,
        "net_af_xdp0,iface=gone": False,
        "0000:01:00.0": False,
    }
    assert {device: ends_here(device, tmp_path) for device in ends} == ends


@pytest.mark.parametrize(("section", "said"), [("", UNNAMED), ("cpus = [1]", "")])
def test_a_result_says_that_a_gateway_on_this_machine_was_not_watched(
    section: str, said: str, engine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del engine
    monkeypatch.setattr("natxy.trial.setup.CONNECTS_WITHIN_S", 0.0)
    testbed, source = testbed_with(section)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        plan = TrialPlan(
            traffic=session.traffic, timing=Timing(duration_s=Fraction(1), drain_s=Fraction(0))
        )
        spec = plan.spec(load=1000, seed=1, nonce=1, watched=session.dut.watched)
        assert session.run(spec).unwatched_reason == said


def test_a_process_that_has_ended_is_said_before_the_engine_starts(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = "natxy.trial.setup.engine_command"
    monkeypatch.setattr(started, lambda *_, **__: pytest.fail("it has started"))
    gone = NoDut(NoDutConfig(cpus=(1,), processes=(4194304,)))
    with (
        pytest.raises(DutError, match="there is no process 4194304"),
        set_up(nat64.testbed, nat64.source, gone),
    ):
        pass
