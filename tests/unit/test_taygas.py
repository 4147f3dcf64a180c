"""The commands that make a lab of one tayga, or of a CLAT and a PLAT; none of them is executed."""

import resource
import subprocess
from ipaddress import IPv6Network, ip_address, ip_network
from itertools import count
from pathlib import Path
from typing import IO, Any, ClassVar

import pytest

from natxy.dut import execution
from natxy.dut.addresses import (
    CLAT_PREFIX,
    LEFT,
    NAT64_PREFIX,
    RIGHT,
    AddressPlan,
    SideAddresses,
    embedded,
)
from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import SharedConntrack
from natxy.dut.gateway import Gateway
from natxy.dut.ledger import Ledger
from natxy.dut.links import FORWARDING, LabLinks
from natxy.dut.recipe import drivers
from natxy.dut.site import NamespaceSite
from natxy.errors import DutError
from natxy.program_output import Finished

FRONT, BACK = "natxy-f-7", "natxy-g-7"
SIDES = pytest.mark.parametrize("inside", [LEFT, RIGHT], ids=["left", "right"])


class FakeTayga:
    """A process that says what tayga does, until it is killed."""

    numbers = count(4000)
    started: ClassVar[list["FakeTayga"]] = []

    def __init__(self, arguments: list[str], *, stdout: IO[bytes], **_: Any) -> None:
        self.arguments = arguments
        self.pid = next(self.numbers)
        self.status: int | None = None
        stdout.write(b"Starting TAYGA 0.9.2\nUsing tun device\n")
        self.started.append(self)

    def poll(self) -> int | None:
        return self.status

    def kill(self) -> None:
        self.status = -9

    terminate = kill

    def wait(self, timeout: float | None = None) -> int | None:
        return self.status


class Commands:
    """Notes each command with what it is fed. Each prints a number, as those that are read do."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def __call__(self, arguments: list[str], *, feed: str, timeout_s: float) -> Finished:
        del timeout_s
        self.seen.append((" ".join(arguments), feed))
        return Finished(status=0, output="300", errors="")

    def ip_lines(self, namespace: str) -> list[str]:
        """Returns what `ip` was told in a namespace."""
        batches = (f"ip -n {namespace} -batch -", f"ip netns exec {namespace} ip -batch -")
        one = f"ip netns exec {namespace} ip "
        return [
            line
            for said, fed in self.seen
            if said.startswith(one) or said in batches
            for line in (fed.splitlines() if said in batches else [said.removeprefix(one)])
        ]

    def sysctls(self, namespace: str) -> set[str]:
        begin = f"ip netns exec {namespace} sysctl -q -w "
        found = (said.removeprefix(begin) for said, _ in self.seen if said.startswith(begin))
        return {each for words in found for each in words.split()}


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands()
    monkeypatch.setattr(execution, "run", commands)
    monkeypatch.setattr(subprocess, "Popen", FakeTayga)
    monkeypatch.setattr(resource, "prlimit", lambda *_: (0, -1))  # its number is another process's
    monkeypatch.setattr(FakeTayga, "started", [])
    monkeypatch.setattr(SharedConntrack, "_size", lambda *_: 262_144)
    return commands


def started(driver: str, folder: Path, left: int = 4, inside: SideAddresses = LEFT) -> Gateway:
    plan = AddressPlan(
        left_ip_version=left,
        right_ip_version=4,
        stateful=True,
        initiator="left" if inside is LEFT else "right",
    )
    recipe = drivers("namespace")[driver]
    links = LabLinks(label="7", mtu_bytes=1500, front=inside if recipe.in_lab.in_a_row else None)
    ledger = Ledger.__new__(Ledger)  # nothing is noted in it
    config = NamespaceConfig.model_validate({"kind": "namespace", "driver": driver})
    site = NamespaceSite(
        links=links, plan=plan, config=config, cpu=None, ledger=ledger, folder=folder
    )
    links.make()
    links.route(plan)
    gateway = Gateway(site, recipe, SharedConntrack(site) if recipe.stateful else None)
    gateway.start()
    return gateway


def device(lines: list[str], address: str) -> str:
    """Returns the interface of the longest route that holds an address."""
    words = [line.split() for line in lines if line.startswith("route add ")]
    routes = [(ip_network(each[2]), each[each.index("dev") + 1]) for each in words]
    found = ip_address(address)
    fitting = [route for route in routes if found in route[0]]
    return max(fitting, key=lambda route: route[0].prefixlen)[1]


@pytest.mark.parametrize("driver", ["tayga", "nat64"])
def test_one_tayga_has_the_gateways_namespace(
    driver: str, commands: Commands, tmp_path: Path
) -> None:
    gateway = started(driver, tmp_path, left=6)
    lines = commands.ip_lines(BACK)
    assert "link set nat64 mtu 1500 txqueuelen 10000 up" in lines
    assert device(lines, "2001:2:0:1000::c613:2") == "nat64"
    assert device(lines, "198.18.0.2") == "nat64"
    assert device(lines, "198.19.0.2") == "d1-7"
    assert commands.ip_lines(FRONT) == []
    (tayga,) = FakeTayga.started
    assert " ".join(tayga.arguments) == (
        f"ip netns exec {BACK} stdbuf -oL tayga -d --config {tmp_path}/nat64.conf"
    )
    assert "map 198.18.0.0/16 2001:2::/112\n" in (tmp_path / "nat64.conf").read_text()
    assert gateway.processes == (tayga.pid,)
    assert gateway.describe()["software"].startswith("tayga 0.9.2")


@SIDES
def test_each_packet_finds_its_way_through_clat_and_plat(
    inside: SideAddresses, commands: Commands, tmp_path: Path
) -> None:
    started("464xlat", tmp_path, inside=inside)
    front, back = commands.ip_lines(FRONT), commands.ip_lines(BACK)
    outside = RIGHT if inside is LEFT else LEFT
    near, far = ("d0-7", "d1-7") if inside is LEFT else ("d1-7", "d0-7")
    out = [outside.tester_ipv4, embedded(outside.tester_ipv4)]
    assert [device(front, address) for address in out] == ["clat", "to-back"]
    assert [device(back, address) for address in out[::-1]] == ["plat", far]
    answer = [inside.tester_ipv4, embedded(inside.tester_ipv4, CLAT_PREFIX)]
    assert [device(back, address) for address in answer] == ["plat", "to-front"]
    assert [device(front, address) for address in answer[::-1]] == ["clat", near]
    for lines, to_outside, to_inside in ((front, "to-back", near), (back, far, "to-front")):
        assert device(lines, outside.tester_ipv6) == to_outside
        assert device(lines, inside.tester_ipv6) == to_inside


@SIDES
def test_each_end_of_a_link_is_in_the_right_namespace(
    inside: SideAddresses, commands: Commands, tmp_path: Path
) -> None:
    started("464xlat", tmp_path, inside=inside)
    left, right = (FRONT, BACK) if inside is LEFT else (BACK, FRONT)
    queues = "numtxqueues 1 numrxqueues 1"
    assert commands.ip_lines("natxy-t-7")[:2] == [
        f"link add t0 mtu 1500 {queues} type veth peer name d0-7 netns {left} mtu 1500 {queues}",
        f"link add t1 mtu 1500 {queues} type veth peer name d1-7 netns {right} mtu 1500 {queues}",
    ]
    # An IPv4 packet of 1500 octets has 1520 as IPv6.
    assert commands.ip_lines(FRONT)[0] == (
        f"link add to-back mtu 1520 {queues} type veth "
        f"peer name to-front netns {BACK} mtu 1520 {queues}"
    )
    for namespace, name, end in ((FRONT, "clat", "to-back"), (BACK, "plat", "to-front")):
        lines = commands.ip_lines(namespace)
        assert f"link set {name} mtu 1520 txqueuelen 10000 up" in lines
        assert f"link set {end} up" in lines
        assert {f"{key}={value}" for key, value in FORWARDING.items()} <= commands.sysctls(
            namespace
        )
        assert "net/ipv4/conf/default/rp_filter=0" in commands.sysctls(namespace)


@SIDES
def test_the_plat_translates_back_and_masquerades(
    inside: SideAddresses, commands: Commands, tmp_path: Path
) -> None:
    started("464xlat", tmp_path, inside=inside)
    configured = [(tmp_path / f"{name}.conf").read_text() for name in ("clat", "plat")]
    clat, plat = ([line for line in each.splitlines() if "map" in line] for each in configured)
    hosts = f"map {inside.ipv4_prefix} "
    assert clat == plat
    assert [line for line in clat if line.startswith(hosts)] == [
        f"{hosts}2001:2:0:aff9::{'c612' if inside is LEFT else 'c613'}:0/112"
    ]
    end = "d1-7" if inside is LEFT else "d0-7"
    rule = f"iptables -t nat -A POSTROUTING -s {inside.ipv4_prefix} -o {end} -j MASQUERADE"
    assert (f"ip netns exec {BACK} {rule}", "") in commands.seen
    assert not any("conntrack" in said for said, _ in commands.seen if FRONT in said)


def test_between_clat_and_plat_the_udp_checksum_is_that_of_ipv4() -> None:
    """RFC 6052 section 4.1, for two prefixes: what both add to the sum is nothing."""
    prefixes = [
        IPv6Network(prefix).network_address.packed for prefix in (CLAT_PREFIX, NAT64_PREFIX)
    ]
    words = [int.from_bytes(each[at : at + 2]) for each in prefixes for at in range(0, 12, 2)]
    assert sum(words) == 0xFFFF


def test_clat_and_plat_are_watched_restarted_and_checked(
    commands: Commands, tmp_path: Path
) -> None:
    gateway = started("464xlat", tmp_path)
    clat, plat = FakeTayga.started
    assert plat.arguments[:4] == ["ip", "netns", "exec", BACK]
    assert clat.arguments[:4] == ["ip", "netns", "exec", FRONT]
    assert sorted(gateway.processes) == sorted([plat.pid, clat.pid])
    described = gateway.describe()
    assert described["software"].startswith("CLAT: tayga 0.9.2; PLAT: tayga 0.9.2; Linux kernel")
    assert described["inner_mtu_bytes"] == "1520"
    assert gateway.restart() == (
        "CLAT: software reset: tayga killed and started again; "
        "PLAT: software reset: tayga killed and started again, connection tracking table emptied"
    )
    assert (f"ip netns exec {BACK} conntrack -F", "") in commands.seen
    assert not set(gateway.processes) & {plat.pid, clat.pid}
    gateway.recover()
    for name, tayga in zip(("PLAT", "CLAT"), FakeTayga.started[-2:][::-1], strict=True):
        gateway.check()
        tayga.kill()
        with pytest.raises(DutError, match=f"^{name}: tayga ended; its last line was: Using tun"):
            gateway.check()
        tayga.status = None
    gateway.stop()
    assert gateway.processes == ()
