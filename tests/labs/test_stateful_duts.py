"""Drivers of stateful gateways, without the tester: what their tables tell and take, in packets of
the kernel's own."""

import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from natxy.dut.addresses import LEFT, AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.ledger import sweep
from natxy.dut.namespace import NamespaceDut
from natxy.dut.process import within
from natxy.errors import ConfigurationError, DutError
from natxy.runtime_folder import SYSTEM
from tests.labs.stateful_duts import (
    PACKETS,
    config_of,
    counted,
    give_addresses,
    lab_of,
    label_of,
    send,
    send_to,
)

MAX = Path("/proc/sys/net/netfilter/nf_conntrack_max")
BUCKETS = Path("/proc/sys/net/netfilter/nf_conntrack_buckets")


@pytest.fixture
def alone() -> None:
    """Sizes are put back by the machine's last lab: others' must have ended."""
    sweep()
    assert within(120, lambda: not list(SYSTEM.glob("*.json")))


@pytest.fixture(params=["nat44", "nat44-iptables", "nat44-random", "nat64", "464xlat"])
def dut(request: pytest.FixtureRequest) -> Iterator[NamespaceDut]:
    lab = lab_of(request.param, conntrack_entries=4096, hash_size=2048, logging=True)
    lab.start()
    give_addresses(lab, ipv6=request.param == "nat64")
    yield lab
    lab.stop()


def test_the_table_counts_and_deletes_what_was_sent(dut: NamespaceDut) -> None:
    assert dut.table is not None
    dut.reset()
    assert dut.table.count() == 0
    send(dut)
    assert counted(dut, PACKETS) == PACKETS, "and nothing else makes connections"
    assert 0 < dut.table.delete_all() < 1
    assert dut.table.count() == 0
    send(dut)
    counted(dut, PACKETS)
    dut.reset()
    assert dut.table.count() == 0


def test_its_sizes_and_timeout_are_set_and_put_back(alone: None, dut: NamespaceDut) -> None:
    assert dut.table is not None
    assert dut.table.parameters().entries == 4096
    assert dut.table.parameters().hash_size == 2048
    dut.table.resize(entries=8192)
    dut.table.set_timeout(77.2)
    now = dut.table.parameters()
    assert (now.entries, now.hash_size, now.timeout_s) == (8192, 2048, 78.0)
    described = dut.describe()
    assert described["conntrack_entries"] == "8192"
    assert described["udp_timeout_s"] == "78"
    dut.stop()
    assert MAX.read_text().strip() != "8192"
    assert BUCKETS.read_text().strip() != "2048"


def test_new_connections_are_logged(dut: NamespaceDut) -> None:
    """MP 13.4.2."""
    dut.reset()
    send(dut)
    counted(dut, PACKETS)
    log = log_of(dut)
    within(5, lambda: len(log.read_text().splitlines()) >= PACKETS)
    assert len([line for line in log.read_text().splitlines() if "[NEW] udp" in line]) == PACKETS
    assert "NEW" in dut.describe()["logging"]


def test_it_comes_back_after_a_collapse(dut: NamespaceDut) -> None:
    assert dut.table is not None
    send(dut)
    dut.recover()
    assert dut.table.count() == 0
    send(dut)
    assert counted(dut, PACKETS) == PACKETS


def log_of(lab: NamespaceDut) -> Path:
    """Returns the output of the program that logs connections: a file without a name."""
    command = ["ip", "netns", "pids", str(lab.gateway_namespace)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    processes = [Path("/proc", pid) for pid in listed.stdout.split()]
    (logs,) = [each for each in processes if (each / "comm").read_text().strip() == "conntrack"]
    return logs / "fd" / "1"


def test_cores_that_are_not_there_are_refused_and_one_is_always() -> None:
    lab = lab_of("nat44")
    lab.start()
    try:
        lab.set_cores(1)
        with pytest.raises(DutError, match="cannot use 4096 cores"):
            lab.set_cores(4096)
    finally:
        lab.stop()


def test_a_stateful_nat64_needs_to_know_who_begins() -> None:
    config = NamespaceConfig.model_validate({"kind": "namespace", "driver": "nat64"})
    with pytest.raises(ConfigurationError, match=r"\[connections\]|connections: is missing"):
        NamespaceDut(config, AddressPlan(left_ip_version=6, right_ip_version=4), tester_cpus=(0,))
    plan = AddressPlan(left_ip_version=6, right_ip_version=4, stateful=True, initiator="right")
    with pytest.raises(ConfigurationError, match="initiator's side"):
        NamespaceDut(config, plan, tester_cpus=(0,))


def test_routed_ipv6_makes_no_connections() -> None:
    """Background traffic must not fill the table."""
    lab = lab_of("nat44")
    lab.start()
    try:
        give_addresses(lab, ipv6=True)
        ports = lab.tester_ports()
        assert ports is not None
        assert lab.table is not None
        send_to(lab, str(ports.right.ipv6_real))
        assert forwarded_ipv6(lab) >= PACKETS
        assert lab.table.count() == 0
    finally:
        lab.stop()


def forwarded_ipv6(lab: NamespaceDut) -> int:
    command = ["ip", "netns", "exec", str(lab.gateway_namespace), "cat", "/proc/net/snmp6"]
    for _ in range(100):
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (count,) = (
            int(line.split()[1]) for line in said.splitlines() if "OutForwDatagrams" in line
        )
        if count >= PACKETS:
            break
    return count


@pytest.mark.parametrize("driver", ["nat44", "nat64", "464xlat"])
def test_the_inside_may_be_on_the_right(driver: str) -> None:
    plan = AddressPlan(
        left_ip_version=4,
        right_ip_version=6 if driver == "nat64" else 4,
        stateful=True,
        initiator="right",
    )
    lab = NamespaceDut(config_of(driver), plan, tester_cpus=(0,))
    lab.start()
    try:
        give_addresses(lab, ipv6=driver == "nat64", initiator="right")
        send(lab, initiator="right")
        assert counted(lab, PACKETS) == PACKETS
        assert all(f"dst={LEFT.gateway_ipv4}" in line for line in listed(lab))
    finally:
        lab.stop()


def listed(lab: NamespaceDut) -> list[str]:
    command = ["ip", "netns", "exec", str(lab.gateway_namespace), "conntrack", "-L"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_two_labs_put_the_sizes_back_in_any_order(alone: None) -> None:
    before = MAX.read_text()
    first = lab_of("nat44", conntrack_entries=4096, hash_size=2048)
    second = lab_of("nat44", conntrack_entries=5000, hash_size=2048)
    first.start()
    try:
        assert first.trial_fault() is None
        second.start()
        assert second.trial_fault() is None
        assert "nf_conntrack_max is 5,000 (expected 4,096" in str(first.trial_fault())
        first.stop()
        assert MAX.read_text().strip() == "5000", "the second still needs it"
    finally:
        first.stop()
        second.stop()
    assert MAX.read_text() == before


def test_a_log_that_has_ended_spoils_the_trial() -> None:
    lab = lab_of("nat44", logging=True)
    lab.start()
    try:
        assert lab.trial_fault() is None
        for pid in pids_of(lab, "conntrack"):
            os.kill(pid, signal.SIGKILL)
        assert within(5, lambda: lab.trial_fault() is not None)
        assert "conntrack -E`, which logs connections, ended" in str(lab.trial_fault())
    finally:
        lab.stop()


def pids_of(lab: NamespaceDut, name: str) -> list[int]:
    command = ["ip", "netns", "pids", str(lab.gateway_namespace)]
    pids = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [int(pid) for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == name]


def fill(lab: NamespaceDut, limit: int) -> None:
    """Three times as many as it takes, and again: one that the kernel drops early to make room for
    another is missing if the other is lost."""
    ports = lab.tester_ports()
    assert ports is not None
    for _ in range(10):
        send_to(lab, str(ports.right.ipv4_real), packets=3 * limit)
        if counted(lab, limit) == limit:
            return


def is_full(lab: NamespaceDut, limit: int) -> bool:
    fill(lab, limit)
    return counted(lab, limit) == limit


def test_each_lab_has_the_whole_limit_to_itself() -> None:
    """nf_conntrack_max is compared with the count of the packet's own namespace."""
    labs = [lab_of("nat44", conntrack_entries=64, hash_size=1024) for _ in range(2)]
    try:
        for lab in labs:
            lab.start()
            give_addresses(lab, ipv6=False)
            fill(lab, 64)
        # In a table that is nearly full, the kernel drops connections that have had no reply, now
        # and then also between filling and counting.
        for lab in labs:
            assert within(10, partial(is_full, lab, 64))
    finally:
        for lab in labs:
            lab.stop()


def test_frames_are_spread_over_the_cores() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU")
    plan = AddressPlan(left_ip_version=4, right_ip_version=4, stateful=True)
    lab = NamespaceDut(config_of("nat44"), plan, tester_cpus=())
    lab.start()
    try:
        first = lab.describe()["gateway_cpu"]
        lab.set_cores(2)
        used = lab.describe()["gateway_cpu"].split(", ")
        assert used[0] == first
        assert steered(lab) == [sum(1 << int(cpu) for cpu in used)] * 2
        lab.set_cores(1)
        assert lab.describe()["gateway_cpu"] == first
        assert steered(lab) == [0, 0], "its NAPI thread does all"
    finally:
        lab.stop()


def steered(lab: NamespaceDut) -> list[int]:
    """Each link's CPUs as a mask."""
    ends = [f"/sys/class/net/d{side}-{label_of(lab)}/queues/rx-0/rps_cpus" for side in (0, 1)]
    command = ["ip", "netns", "exec", str(lab.gateway_namespace), "cat", *ends]
    masks = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [int(mask, 16) for mask in masks]
