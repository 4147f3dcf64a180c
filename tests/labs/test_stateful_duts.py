"""Drivers of stateful gateways, without the tester: what their tables tell and take, in packets of
the kernel's own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.namespace import NamespaceDut
from natxy.errors import ConfigurationError, DutError

MAX = Path("/proc/sys/net/netfilter/nf_conntrack_max")
BUCKETS = Path("/proc/sys/net/netfilter/nf_conntrack_buckets")
PACKETS = 20
# From the tester's namespace, each packet a connection: its own source port.
SENDER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
for port in range(20000, 20000 + int(sys.argv[2])):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.bind(("", port))
        one.sendto(b"natxy", (sys.argv[1], 53))
"""


@pytest.fixture(params=["nat44", "nat44-iptables", "nat64"])
def dut(request: pytest.FixtureRequest) -> Iterator[NamespaceDut]:
    lab = lab_of(request.param, conntrack_entries=4096, hash_size=2048, logging=True)
    lab.start()
    give_addresses(lab, ipv6=request.param == "nat64")
    yield lab
    lab.stop()


def lab_of(driver: str, **keys: object) -> NamespaceDut:
    config = NamespaceConfig.model_validate({"kind": "namespace", "driver": driver, **keys})
    left = 6 if driver == "nat64" else 4
    plan = AddressPlan(left_ip_version=left, right_ip_version=4, stateful=True)
    return NamespaceDut(config, plan, tester_cpus=(0,))


def give_addresses(lab: NamespaceDut, *, ipv6: bool) -> None:
    """The tester's kernel speaks in place of the engine, from the left; the right one is silent,
    and known to the gateway all the same."""
    tester, gateway = lab.tester_namespace, lab.gateway_namespace
    ports = lab.tester_ports()
    assert ports is not None
    lines = [
        f"ip netns exec {tester} sysctl -qw net.ipv6.conf.t0.disable_ipv6=0",
        f"ip -n {tester} addr add {ports.left.ipv6_real}/128 dev t0 nodad"
        if ipv6
        else f"ip -n {tester} addr add {ports.left.ipv4_real}/32 dev t0",
        f"ip -n {tester} route add default via {ports.left.next_hop_ipv6} dev t0 onlink"
        if ipv6
        else f"ip -n {tester} route add default via {ports.left.next_hop_ipv4} dev t0 onlink",
    ]
    for line in lines:
        subprocess.run(line.split(), check=True)
    links = subprocess.run(
        ["ip", "-n", str(gateway), "-br", "link"], capture_output=True, text=True, check=True
    ).stdout
    right = next(word for word in links.split() if word.startswith("d1-")).split("@")[0]
    neighbour = f"ip -n {gateway} neigh replace {ports.right.ipv4_real} lladdr 02:00:00:00:00:99"
    subprocess.run([*neighbour.split(), "dev", right], check=True)


def send(lab: NamespaceDut, packets: int = PACKETS) -> None:
    ports = lab.tester_ports()
    assert ports is not None
    to = ports.right.ipv6_virtual or ports.right.ipv4_real
    command = ["ip", "netns", "exec", str(lab.tester_namespace), sys.executable, "-c", SENDER]
    subprocess.run([*command, str(to), str(packets)], check=True, timeout=30)


def counted(lab: NamespaceDut, wanted: int) -> int:
    """Packets need a moment."""
    assert lab.table is not None
    for _ in range(100):
        if (count := lab.table.count()) >= wanted:
            return count
    return count


def test_the_table_counts_and_deletes_what_was_sent(dut: NamespaceDut) -> None:
    assert dut.table is not None
    dut.reset()
    assert dut.table.count() == 0
    send(dut)
    assert counted(dut, PACKETS) == PACKETS, "and nothing else makes connections"
    deletion = dut.table.delete_all()
    assert deletion.connections == PACKETS
    assert 0 < deletion.seconds < 1
    assert dut.table.count() == 0
    send(dut)
    counted(dut, PACKETS)
    dut.reset()
    assert dut.table.count() == 0


def test_its_sizes_and_timeout_are_set_and_put_back(dut: NamespaceDut) -> None:
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
    (log,) = Path("/tmp").glob(f"natxy-lab-{label_of(dut)}-*/connections.log")
    for _ in range(200):
        if len(log.read_text().splitlines()) >= PACKETS:
            break
    assert len([line for line in log.read_text().splitlines() if "[NEW] udp" in line]) == PACKETS
    assert "NEW" in dut.describe()["logging"]


def test_it_comes_back_after_a_collapse(dut: NamespaceDut) -> None:
    assert dut.table is not None
    send(dut)
    dut.recover()
    assert dut.table.count() == 0
    send(dut)
    assert counted(dut, PACKETS) == PACKETS


def label_of(lab: NamespaceDut) -> str:
    return str(lab.gateway_namespace).removeprefix("natxy-g-")


def test_cores_that_are_not_there_are_refused_and_one_is_always() -> None:
    lab = lab_of("nat44")
    lab.start()
    try:
        lab.set_cores(1)
        with pytest.raises(DutError, match="cannot have 4096 cores"):
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
