"""Recipes over a real SSH connection, against an sshd in a network namespace.

The recipes whose programs this machine has are run, with a few datagrams through the gateway; of
the others, what can be tried without the gateway's own machine. Nothing is measured.
"""

import re
import shlex
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from natxy.dut.namespaces import read_inside
from natxy.dut.process import within
from natxy.dut.recipe import read_recipe
from natxy.dut.recipe_keys import Keys
from natxy.dut.ssh import SshDut
from natxy.dut.ssh_session import SshSession
from natxy.errors import DutError
from tests.labs.ssh_machine import SOURCE, Machine, left, run

pytest.importorskip("asyncssh")
CONNECTIONS = 5
CHANGING = re.compile(r"[:#*]|COMMIT|fe80|table ip nat \{|\s*chain |\s*type nat hook|\s*\}?$")


def state(machine: Machine) -> tuple[str, ...]:
    """Returns all that a recipe changes: addresses, routes, rules, links, forwarding, timeouts."""
    commands = (
        "ip -o -4 address show",
        "ip -o route show",
        "ip -o -6 address show scope global",
        "ip -o -6 route show dev d0",
        "ip -o -6 route show dev d1",
        "ip -o link show type tun",
        "nft list ruleset",
        "iptables-save -t nat",
        "sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding "
        "net.netfilter.nf_conntrack_udp_timeout net.netfilter.nf_conntrack_udp_timeout_stream",
    )
    said = (machine.inside("sh", "-c", command) for command in commands)
    text = tuple(without_counters(each) for each in said)
    kept = tuple(sorted(str(path) for path in Path("/run").glob("natxy-*") if path.is_file()))
    return (*text, *kept)


def without_counters(text: str) -> str:
    """Leaves out what changes by itself, and the empty table that iptables makes when it reads."""
    return "\n".join(line for line in text.splitlines() if not CHANGING.match(line))


def nat44_host(machine: Machine) -> None:
    """Gives the hosts the tester's addresses: both sides, with routes by way of the gateway."""
    run("ip", "-n", machine.hosts, "address", "replace", "198.18.0.2/30", "dev", "t0")
    run("ip", "-n", machine.hosts, "address", "replace", "198.19.0.2/30", "dev", "t1")
    # A local address would be reached without the gateway.
    table = ("route", "replace", "198.19.0.2", "via", "198.18.0.1", "dev", "t0", "table", "7")
    run("ip", "-n", machine.hosts, *table)
    run("ip", "-n", machine.hosts, "rule", "del", "from", "198.18.0.2", "table", "7", check=False)
    run("ip", "-n", machine.hosts, "rule", "add", "from", "198.18.0.2", "table", "7", "pref", "1")
    run("ip", "-n", machine.hosts, "rule", "del", "pref", "0", check=False)
    run("ip", "-n", machine.hosts, "rule", "del", "pref", "5", check=False)
    run("ip", "-n", machine.hosts, "rule", "add", "from", "all", "table", "local", "pref", "5")


def send(machine: Machine, source: str, target: str) -> None:
    """Sends a datagram from each of some ports."""
    family = socket.AF_INET6 if ":" in source else socket.AF_INET

    def work() -> None:
        for number in range(CONNECTIONS):
            with socket.socket(family, socket.SOCK_DGRAM) as one:
                one.bind((source, 20000 + number))
                one.sendto(b"natxy", (target, 7))

    read_inside({machine.hosts: work})


NAT44 = {"inside": "d0", "outside": "d1"}


@pytest.mark.parametrize(
    "name", ["nftables-nat44", pytest.param("iptables-nat44", marks=pytest.mark.long)]
)
def test_a_nat44_is_set_up_counted_emptied_and_removed(machine: Machine, name: str) -> None:
    nat44_host(machine)
    before = state(machine)
    dut = machine.dut(name, **NAT44)
    try:
        dut.start()
        assert dut.table is not None
        assert dut.table.parameters().timeout_s == 300
        check_table(machine, dut, "198.18.0.2", "198.19.0.2")
        dut.table.set_timeout(77)
        assert "= 77" in machine.inside("sysctl", "net.netfilter.nf_conntrack_udp_timeout")
        assert dut.trial_fault() is None
        snapshot = dut.telemetry()
        assert snapshot.connections is not None
        assert snapshot.cpus
        assert "masquerade" in dut.describe()["description"].lower()
        assert dut.restart().startswith("command: ")
        assert "= 1" in machine.inside("sysctl", "net.ipv4.ip_forward")
        if name == "nftables-nat44":
            check_that_rules_that_are_gone_are_told(machine, dut)
    finally:
        dut.stop()
    assert state(machine) == before


def check_table(machine: Machine, dut: SshDut, source: str, target: str) -> None:
    """The recipe counts its connections, empties its table, and times it by its own clock."""
    table = dut.table
    assert table is not None
    dut.reset()
    send(machine, source, target)
    assert within(10, lambda: table.count() >= CONNECTIONS)
    assert 0 < table.delete_all() < 5
    # The SSH connection itself makes an entry again.
    assert table.count() < CONNECTIONS


def check_that_rules_that_are_gone_are_told(machine: Machine, dut: SshDut) -> None:
    machine.inside("nft", "flush", "ruleset")
    with pytest.raises(DutError, match=r"nftables-nat44, check: .* ended with status 1: "):
        dut.trial_fault()
    machine.inside("nft", "add", "table", "ip", "natxy")


def nat64_host(machine: Machine) -> None:
    # An address of its own would be a source that the hosts' kernel refuses.
    run("ip", "-n", machine.hosts, "address", "del", "198.18.0.2/30", "dev", "t0", check=False)
    run("ip", "-n", machine.hosts, "-6", "address", "replace", "2001:2::2/64", "dev", "t0", "nodad")
    run("ip", "-n", machine.hosts, "-6", "route", "replace", "2001:2:0:1000::/56", "via",
        "2001:2::1", "dev", "t0")  # fmt: skip
    run("ip", "-n", machine.hosts, "address", "replace", "198.19.0.2/30", "dev", "t1")
    back = ("route", "replace", "198.18.0.0/16", "via", "198.19.0.1", "dev", "t1")
    run("ip", "-n", machine.hosts, *back)


SIX = {"six": "d0", "four": "d1"}


@pytest.mark.long
def test_a_stateless_nat64_translates_and_is_removed(machine: Machine) -> None:
    nat64_host(machine)
    before = state(machine)
    dut = machine.dut("tayga-nat64", **SIX)
    try:
        dut.start()
        assert dut.table is None
        assert within(20, lambda: translated(machine, "2001:2:0:1000::2"))
        assert dut.trial_fault() is None
        assert "map 198.18.0.0/16 2001:2::/112" in dut.describe()["description"]
        dut.restart()
        assert within(20, lambda: translated(machine, "2001:2:0:1000::2"))
        assert dut.trial_fault() is None
    finally:
        dut.stop()
    assert state(machine) == before
    assert within(5, lambda: "tayga" not in left(machine))


def test_a_stateful_nat64_is_counted_and_removed(machine: Machine) -> None:
    nat64_host(machine)
    before = state(machine)
    dut = machine.dut("tayga-iptables", **SIX)
    try:
        dut.start()
        assert within(20, lambda: translated(machine, "2001:2:0:1000::c613:2"))
        check_table(machine, dut, "2001:2::2", "2001:2:0:1000::c613:2")
    finally:
        dut.stop()
    assert state(machine) == before


def translated(machine: Machine, target: str) -> bool:
    """Returns whether a datagram to this address arrives at the IPv4 host."""
    arrived: list[bytes] = []

    def work() -> None:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as four,
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six,
        ):
            four.bind(("198.19.0.2", 4567))
            four.settimeout(0.5)
            six.bind(("2001:2::2", 0))
            six.sendto(b"natxy", (target, 4567))
            with suppress(TimeoutError):
                arrived.append(four.recv(100))

    read_inside({machine.hosts: work})
    return arrived == [b"natxy"]


@pytest.mark.parametrize(
    ("name", "variables", "program"),
    [
        ("jool-nat64", SIX, "jool"),
        ("vpp-nat44-ed", NAT44, "vppctl"),
        ("openbsd-pf-nat64", {"inside": "d0", "management": "m0"}, "pfctl"),
        ("freebsd-ipfw-nat64", {}, "ipfw"),
    ],
)
def test_a_machine_without_the_gateway_is_told_and_left_alone(
    machine: Machine, name: str, variables: dict[str, str | int], program: str
) -> None:
    before = state(machine)
    dut = machine.dut(name, **variables)
    with pytest.raises(DutError, match=rf"dut.recipe {name}: .* has no program `{program}`"):
        dut.start()
    dut.stop()
    assert state(machine) == before


def test_a_start_that_fails_half_way_leaves_nothing(machine: Machine) -> None:
    before = state(machine)
    dut = machine.dut("nftables-nat44", inside="d0", outside="absent")
    with pytest.raises(DutError, match=r"nftables-nat44, start: `ip link set absent up` ended"):
        dut.start()
    dut.stop()
    assert state(machine) == before


UNIX = [
    "freebsd-ipfw-nat64",
    "iptables-nat44",
    "jool-nat64",
    "jool-siit",
    "nftables-nat44",
    "openbsd-pf-nat64",
    "tayga-nat64",
    "tayga-iptables",
    "vpp-dslite",
    "vpp-map",
    "vpp-nat44-ed",
    "vpp-nat64",
]


def test_a_shell_over_ssh_understands_each_command(machine: Machine) -> None:
    """They are read there, not run: all commands of a recipe at once."""
    one = SshSession(machine.config())
    one.open()
    try:
        for name in UNIX:
            each = [f"sh -n -c {shlex.quote(command)}" for command in all_commands(name)]
            done = one.run("here", " && ".join(each))
            assert done.status == 0, f"{name}: {done.errors}"
        assert one.run("here", "sh -n -c 'if true; fi'").status != 0
    finally:
        one.close()


def all_commands(name: str) -> list[str]:
    read = read_recipe(name)
    given = {n: "eth1" if v.kind == "interface" else 4 for n, v in read.variables.items()
             if v.default is None}  # fmt: skip
    filled = read.filled(given, SOURCE)
    keys = list(Keys.model_fields)
    return [command for key in keys for command in filled.of_a_machine(key)]
