"""Telemetry of real gateways: what the kernel counts in a lab is found, and takes no time."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

from natxy.dut.namespaces import read_inside
from natxy.model.telemetry import Snapshot
from natxy.trial.connection_table import IncompletePhase1
from natxy.trial.setup import set_up
from natxy.trial.trial import Trial
from natxy.trial.trials import Trials
from tests.labs.conftest import StartLab
from tests.labs.trials import TIMING, testbed_of

CONNECTIONS = 8_000
NAT44 = f"""\
[tester]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = {CONNECTIONS}
rate_fps = 20000
incomplete = "repeat"
[dut]
kind = "namespace"
driver = "nat44"
conntrack_entries = 32768
"""
ROUTER = """\
[tester]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "namespace"
driver = "kernel-router"
"""
SNAPSHOTS = 20
MOST_READS = 25  # of /proc/stat; each takes 30 to 70 microseconds
RATE_FPS = 5000
TICK_S = 0.01  # in which the kernel counts


def trial_of(text: str, rate_fps: int = RATE_FPS) -> Trial:
    """Returns a trial with any verdict: noise does not change what the kernel counts."""
    testbed, source, dut = testbed_of(text)
    with set_up(testbed, source, dut) as session:
        trials = Trials(session=session, timing=TIMING, campaign_seed=7)
        with suppress(IncompletePhase1):
            trials.run(load=rate_fps, repetition=1, seed=7)
    assert trials.last is not None
    return trials.last


def test_connections_take_memory_of_the_kernel() -> None:
    trial = trial_of(NAT44)
    used, table = trial.telemetry, trial.result.connections
    print(table, used)
    assert used is not None
    assert used.connections is not None
    assert used.memory_bytes is not None
    assert used.memory_before_bytes is not None
    assert table is not None
    assert table.stored <= used.connections <= CONNECTIONS
    # 256 octets and 128 with what NAT adds; slabs of earlier trials may be used again.
    assert used.memory_bytes >= used.connections * 256
    assert used.memory_bytes - used.memory_before_bytes < 1000 * CONNECTIONS
    assert used.drops is not None
    assert used.busiest is not None
    assert 0 <= used.percent(used.busiest.busy_s) <= 110  # the kernel counts steps of 10 ms


def test_an_idle_gateway_is_shown_as_idle() -> None:
    """The engine's thread that keeps the gateway's CPU awake takes all time that nothing else
    wants, and is not the gateway's."""
    trial = trial_of(ROUTER, rate_fps=1000)
    used, watched = trial.telemetry, trial.result.watched
    print(used, watched)
    assert used is not None
    assert used.busiest is not None
    kept_awake_s = sum(watch.kept_awake_ns for watch in watched) / 1e9
    assert kept_awake_s > 0
    assert used.busiest.busy_s + kept_awake_s <= used.seconds + 3 * TICK_S


@pytest.mark.parametrize(
    ("driver", "left"),
    [
        ("nat44", 4),
        ("kernel-router", 6),
        pytest.param("tayga", 6, marks=pytest.mark.long),
        pytest.param("464xlat", 4, marks=pytest.mark.long),
    ],
)
def test_a_snapshot_takes_as_long_as_a_few_reads(
    start_lab: StartLab, driver: str, left: int
) -> None:
    """About a millisecond. How fast the CPU is depends on what else the host does."""
    dut = start_lab(driver, left, 6 if driver == "kernel-router" else 4)
    taken_s, read_s = [], []
    for _ in range(SNAPSHOTS):
        begin = time.perf_counter()
        snapshot = dut.telemetry()
        middle = time.perf_counter()
        Path("/proc/stat").read_text()
        taken_s.append(middle - begin)
        read_s.append(time.perf_counter() - middle)
    print(min(taken_s), min(read_s), min(taken_s) / min(read_s))
    assert min(taken_s) < MOST_READS * min(read_s)
    assert snapshot.drops is not None
    assert "left rx dropped" in snapshot.drops
    assert "right ring" in snapshot.drops
    assert (snapshot.connections == 0) == (driver in ("nat44", "464xlat"))
    assert (snapshot.memory_bytes is None) == (driver == "kernel-router")


def test_a_namespace_is_entered_by_a_thread_alone(start_lab: StartLab) -> None:
    dut = start_lab("kernel-router", 4, 4)
    assert dut.gateway_namespace is not None
    seen: list[str] = []

    def read() -> None:
        with open("/proc/thread-self/net/dev") as file:
            seen.append(file.read())

    read_inside({dut.gateway_namespace: read})
    read()
    inside, outside = seen
    assert "d0-" in inside
    assert "d0-" not in outside
    assert dut.telemetry() != Snapshot()
