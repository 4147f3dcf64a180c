"""The kernel of the tester's machine has a part in the tester's interfaces: it answers frames to
its addresses, and forwards others. What it sends is counted with real frames.

    host: t0, t1 ──── veth ──── d0, d1 :gateway     host: uplink ── veth ──── sink :beyond
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.execution import execute, in_namespace
from natxy.dut.ledger import sweep
from natxy.dut.namespaces import make_namespace, remove_namespace
from natxy.dut.process import within
from tests.programs import ROOT
from tests.valid import valid

HOST, GATEWAY, BEYOND = (f"natxy-test-{room}-{os.getpid()}" for room in ("host", "gw", "beyond"))
QUEUES = "numtxqueues 1 numrxqueues 1"
TESTBED = """
[tester]
cores = [0]
warm_up_timeout_s = 5
[tester.left]
device = "{left}"
ipv4_real = "198.18.0.2"
next_hop_ipv4 = "198.18.0.1"
[tester.right]
device = "{right}"
ipv4_real = "198.19.0.2"
next_hop_ipv4 = "198.19.0.1"
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "none"
name = "a router of my own"
"""
PACKET, XDP = "net_af_packet{n},iface=t{n},qdisc_bypass=1", "net_af_xdp{n},iface=t{n}"
UNCHECKED = "import natxy.trial.setup as s; s.check_kernel = lambda *_: None; import natxy.cli as c"
CHECKED = "import natxy.cli as c"


def inside(command: str, namespace: str = HOST) -> str:
    return execute(in_namespace(namespace, ["sh", "-ec", command]))


@pytest.fixture
def host() -> Iterator[None]:
    rooms = (HOST, GATEWAY, BEYOND)
    try:
        for room in rooms:
            make_namespace(room)
            inside("sysctl -qw net/ipv4/ip_forward=0 net/ipv4/conf/all/rp_filter=0", room)
            inside("sysctl -qw net/ipv4/conf/default/rp_filter=0; ip link set lo up", room)
        for end, peer, room in (
            *(("t0", "d0", GATEWAY), ("t1", "d1", GATEWAY)),
            ("uplink", "sink", BEYOND),
        ):
            inside(f"ip link add {end} {QUEUES} type veth peer name {peer} netns {room} {QUEUES}")
            for each, where in ((end, HOST), (peer, room)):
                inside(f"sysctl -qw net/ipv6/conf/{each}/disable_ipv6=1", where)
                inside(f"ethtool -K {each} tx off; ip link set {each} up", where)
        inside("ip addr add 198.18.0.1/24 dev d0; ip addr add 198.19.0.1/24 dev d1", GATEWAY)
        inside("sysctl -qw net/ipv4/ip_forward=1", GATEWAY)
        yield
    finally:
        for room in rooms:
            remove_namespace(room)


def trial(folder: Path, device: str, *, code: str = CHECKED) -> subprocess.CompletedProcess[str]:
    arguments = ["trial", str(testbed(folder, device)), "--rate", "2000", "--duration", "0.2"]
    return subprocess.run(
        in_namespace(HOST, [sys.executable, "-c", f"{code}; c.main()", *arguments]),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )


def valid_one(folder: Path, device: str) -> subprocess.CompletedProcess[str]:
    return valid(lambda: trial(folder, device), lambda done: re.findall("INVALID.*", done.stdout))


def testbed(folder: Path, device: str) -> Path:
    file = folder / "own.toml"
    file.write_text(TESTBED.format(left=device.format(n=0), right=device.format(n=1)))
    return file


def sent_by_the_kernel() -> int:
    """Returns the datagrams that it forwarded, and its ICMP messages and resets of TCP."""
    lines = [line.split() for line in inside("cat /proc/net/snmp").splitlines()]
    counters = {
        (heads[0], name): int(value)
        for heads, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(heads[1:], values[1:], strict=True)
    }
    wanted = (("Ip:", "ForwDatagrams"), ("Icmp:", "OutMsgs"), ("Tcp:", "OutRsts"))
    return sum(counters[each] for each in wanted)


def gives_it_the_tester_s_address() -> str:
    inside("ip addr add 198.18.0.2/24 dev t0; ip route add default via 198.18.0.1")
    return "tester.left.device: t0 has 198.18.0.2, "


def gives_it_an_address_elsewhere() -> str:
    inside("ip addr add 198.18.0.2/32 dev lo; ip route add default via 198.18.0.1 dev t0 onlink")
    return "the kernel has the tester's address 198.18.0.2 on lo"


def makes_it_a_router() -> str:
    inside("ip addr add 203.0.113.2/24 dev uplink; ip route add default via 203.0.113.1")
    inside("ip neigh add 203.0.113.1 lladdr 02:00:00:00:00:99 dev uplink")
    inside("sysctl -qw net/ipv4/ip_forward=1")
    return "tester.left.device: t0 forwards IPv4, "


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(
    "harm", [gives_it_the_tester_s_address, gives_it_an_address_elsewhere, makes_it_a_router]
)
def test_what_the_kernel_would_send_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, harm: object
) -> None:
    assert callable(harm)
    words = harm()
    refused = trial(tmp_path, PACKET)
    assert (refused.returncode, words in refused.stderr) == (2, True), refused.stderr
    assert sent_by_the_kernel() == 0
    trial(tmp_path, PACKET, code=UNCHECKED)
    assert sent_by_the_kernel() > 0  # so that it must be refused
    before = sent_by_the_kernel()
    taken = valid_one(tmp_path, XDP)  # XDP takes the frames before the stack
    if "AF_XDP" not in taken.stderr:
        assert "frames were received" in taken.stdout, taken.stderr
        assert sent_by_the_kernel() == before
    while refused.returncode == 2:  # for each interface
        inside(refused.stderr.rpartition("`")[0].rpartition("`")[2])
        refused = valid_one(tmp_path, PACKET)
    assert "frames were received" in refused.stdout, refused.stderr
    assert sent_by_the_kernel() == before


@pytest.mark.usefixtures("host")
def test_an_interface_is_as_promiscuous_as_before(tmp_path: Path) -> None:
    inside("ip link set t1 promisc on")
    before = flags()
    assert valid_one(tmp_path, PACKET).returncode == 0
    assert flags() == before
    command = ["trial", str(testbed(tmp_path, PACKET)), "--rate", "1000", "--duration", "60"]
    process = subprocess.Popen(
        in_namespace(HOST, [sys.executable, "-c", f"{CHECKED}; c.main()", *command]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert within(30, lambda: flags() != before)
    engines = set(execute(["ip", "netns", "pids", HOST]).split()) - {str(process.pid)}
    (engine,) = (
        pid for pid in engines if Path(f"/proc/{pid}/comm").read_text().startswith("natxy-engine")
    )
    for pid in (process.pid, *map(int, engines)):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert flags() != before
    assert within(5, lambda: not Path(f"/proc/{engine}").exists())
    sweep()  # of the next one, in another namespace
    assert flags() == before
    assert not Path(f"/var/run/dpdk/natxy-{engine}").exists()


def flags() -> str:
    return inside("cat /sys/class/net/t0/flags /sys/class/net/t1/flags")
