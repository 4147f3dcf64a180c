"""The driver of the calibration gateway, with the program itself."""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from natxy.dut.addresses import AddressPlan
from natxy.dut.calibration import CalibrationDut
from natxy.dut.config import CalibrationConfig
from natxy.errors import DutError, TesterDied
from natxy.trial.observer import Observer
from natxy.trial.trial import run_trial
from tests.programs import installed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="DPDK needs root")
LOSS = {"kind": "loss", "every": 7}
WORKER_NAMES = {"rte-worker-1", "dpdk-worker1"}  # DPDK 22.11; from 23.11 on


@pytest.fixture(scope="module")
def started() -> Iterator[CalibrationDut]:
    config = CalibrationConfig(kind="calibration", realtime=True)
    made = CalibrationDut(
        config, AddressPlan(left_ip_version=6, right_ip_version=4, networks=1), tester_cpus=()
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NATXY_GATEWAY", str(installed("natxy-gateway")))
        made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def dut(started: CalibrationDut) -> CalibrationDut:
    started.configure()
    return started


def faults(dut: CalibrationDut) -> Any:
    return dut.gateway_config()["faults"]


def policy(dut: CalibrationDut) -> int:
    assert dut._process is not None
    tasks = Path(f"/proc/{dut._process.pid}/task").iterdir()
    (worker,) = (task for task in tasks if (task / "comm").read_text().strip() in WORKER_NAMES)
    return os.sched_getscheduler(int(worker.name))


def test_faults_are_set_between_trials(dut: CalibrationDut) -> None:
    dut.configure(faults=[LOSS])
    assert faults(dut) == [LOSS]
    with pytest.raises(DutError, match=r"faults\[0\].kind"):
        dut.configure(faults=[{"kind": "what"}])
    assert faults(dut) == [LOSS]
    dut.configure(faults=[])
    assert faults(dut) == []


def test_a_table_of_connections_is_set_and_asked(dut: CalibrationDut) -> None:
    with pytest.raises(DutError, match="there is no"):
        dut.count()
    made = {"kind": "nat64", "inside": "left", "pool": ["198.19.0.1"], "prefix": "64:ff9b::/96"}
    nat = made | {"entries": 7}
    dut.configure(nat=nat, faults=[{"kind": "nat-collide", "every": 2}])
    assert dut.gateway_config()["nat"] == nat
    assert dut.count() == 0
    assert 0 <= dut.delete_all() < 1
    dut.set_timeout(0.5)
    assert dut.record()["nat"]["created"] == 0
    dut.configure()
    assert dut.record()["nat"] is None


def test_it_answers_several_threads(dut: CalibrationDut) -> None:
    """A reset that comes late is asked for while the record of its trial is read."""
    with ThreadPoolExecutor() as threads:
        muted = [threads.submit(dut.mute, 1e-6) for _ in range(100)]
        read = [threads.submit(dut.record) for _ in range(100)]
    assert [future.result() for future in muted] == [None] * 100
    assert all("muted_ns" in future.result() for future in read)


def test_its_telemetry_is_of_its_process_its_cpu_and_its_table(dut: CalibrationDut) -> None:
    snapshot = dut.telemetry()
    assert [str(each.cpu) for each in snapshot.cpus] == [dut.describe()["gateway_cpu"]]
    assert snapshot.memory_bytes
    assert snapshot.connections is None
    dut.configure(nat={})
    assert dut.telemetry().connections == 0


def test_how_long_it_was_muted_is_on_record(dut: CalibrationDut) -> None:
    dut.mute(0.05)
    assert dut.record()["muted_ns"] == 50_000_000


def test_an_absence_has_its_times(dut: CalibrationDut) -> None:
    assert dut._process is not None
    dut.reset()
    os.kill(dut._process.pid, signal.SIGSTOP)
    status = Path(f"/proc/{dut._process.pid}/stat")
    deadline_s = time.monotonic() + 5
    while ") T " not in status.read_text() and time.monotonic() < deadline_s:
        time.sleep(0.001)
    from_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    time.sleep(0.02)
    until_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    os.kill(dut._process.pid, signal.SIGCONT)
    away = dut.absence()
    assert away is not None
    assert any(begin <= from_ns and until_ns <= end for begin, end in away.intervals)
    longest_ns = max(end - begin for begin, end in away.intervals)
    assert longest_ns == round(away.longest_s * 1e9)


class BrokenSession:
    """Fails in every trial."""

    def __init__(self, dut: CalibrationDut) -> None:
        self.dut = dut
        self.observer = Observer()
        self.policy_in_trial = os.SCHED_OTHER

    def run(self, *_: Any) -> Any:
        self.policy_in_trial = policy(self.dut)
        raise TesterDied("broken")


def test_it_is_not_in_front_of_others_any_more_after_a_trial_that_failed(
    dut: CalibrationDut,
) -> None:
    session: Any = BrokenSession(dut)
    spec: Any = SimpleNamespace(establishing=None)
    with pytest.raises(TesterDied, match="broken"):
        run_trial(spec, session)
    assert session.policy_in_trial == os.SCHED_FIFO
    assert policy(dut) == os.SCHED_OTHER


def test_a_realtime_policy_ends_by_itself(dut: CalibrationDut) -> None:
    assert dut._process is not None
    dut._process.ask("realtime", "realtime", for_ns=300_000_000)
    assert policy(dut) == os.SCHED_FIFO
    deadline_s = time.monotonic() + 5
    while policy(dut) == os.SCHED_FIFO and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert policy(dut) == os.SCHED_OTHER


def test_a_folder_whose_name_has_a_comma_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DPDK separates the arguments of a device by commas."""
    folder = tmp_path / "a,b"
    folder.mkdir()
    monkeypatch.setattr("natxy.dut.ledger.runtime_folder", lambda: folder)
    plan = AddressPlan(left_ip_version=6, right_ip_version=4, networks=1)
    made = CalibrationDut(CalibrationConfig(kind="calibration"), plan, tester_cpus=())
    with pytest.raises(DutError, match=r"a,b: has a comma in its name"):
        made.start()
    made.stop()


def test_a_folder_may_have_a_long_name_up_to_that_of_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DPDK takes no device of 128 octets where it may have to tell a secondary process of it."""
    monkeypatch.setenv("NATXY_GATEWAY", str(installed("natxy-gateway")))

    def start_in(length: int) -> int:
        """Returns the length of the longer of the devices."""
        folder = tmp_path / ("x" * (length - len(str(tmp_path)) - 1))
        folder.mkdir()
        monkeypatch.setattr("natxy.dut.ledger.runtime_folder", lambda: folder)
        made = CalibrationDut(
            CalibrationConfig(kind="calibration"),
            AddressPlan(left_ip_version=6, right_ip_version=4, networks=1),
            tester_cpus=(),
        )
        try:
            made.start()
            ports = made.tester_ports()
            assert ports is not None
            return len(str(ports.left.device))
        finally:
            made.stop()

    with pytest.raises(DutError, match=r"x: its name is too long for a socket") as refused:
        start_in(120)
    (longest,) = re.findall(r"at most (\d+) octets", str(refused.value))
    assert start_in(int(longest)) >= 128
