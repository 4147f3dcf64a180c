"""Recipes over a real SSH connection: an sshd in a network namespace, with keys of its own.

What can be tried without the gateway's own machine is tried: the connection and how it fails, and
the recipes whose programs this machine has, with a few datagrams through the gateway. No engine
runs, and nothing is measured.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from natxy.dut.config import SshConfig
from natxy.dut.inside import read_inside
from natxy.dut.process import within
from natxy.dut.recipe import Filled, read_recipe
from natxy.dut.ssh import SshDut
from natxy.dut.ssh_session import KEEPALIVE_S, KEEPALIVES, Lost, SshSession
from natxy.errors import DutError
from natxy.model.source import Source

pytest.importorskip("asyncssh")
SSHD = Path("/usr/sbin/sshd")
HOST, TESTER, PORT = "192.0.2.1", "192.0.2.2", 2222  # of the management link
SOURCE = Source(name="lab.toml")
CONNECTIONS = 5


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A gateway's machine: a namespace with an sshd, its files, and the links to two testers."""

    gateway: str
    hosts: str
    folder: Path
    sshd: int

    def config(self, **changes: object) -> SshConfig:
        keys = {
            "kind": "ssh",
            "host": HOST,
            "port": PORT,
            "key": str(self.folder / "user"),
            "known_hosts": str(self.folder / "known_hosts"),
            "recipe": "nftables-nat44",
            "connect_timeout_s": 5.0,
            "timeout_s": 10.0,
        }
        return SshConfig.model_validate(keys | changes)

    def dut(self, recipe: str, **variables: str | int) -> SshDut:
        read = read_recipe(recipe)
        filled = read.filled(variables, SOURCE)
        return SshDut(self.config(recipe=recipe), filled, show=lambda *_: None)

    def inside(self, *command: str) -> str:
        return run("ip", "netns", "exec", self.gateway, *command)


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert not check or done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    if not SSHD.exists():
        pytest.fail("sshd is not installed (tools/install test installs it)")
    folder = tmp_path_factory.mktemp("ssh")
    gateway, hosts = (f"natxy-ssh-{end}-{os.getpid()}" for end in ("g", "h"))
    for name in ("host", "user", "stranger"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    (folder / "known_hosts").write_text(f"[{HOST}]:{PORT} {(folder / 'host.pub').read_text()}")
    other = (folder / "stranger.pub").read_text()
    (folder / "other_hosts").write_text(f"[{HOST}]:{PORT} {other}")
    (folder / "no_hosts").write_text("")
    configuration = folder / "sshd_config"
    configuration.write_text(
        f"Port {PORT}\nListenAddress {HOST}\nHostKey {folder}/host\nPidFile {folder}/sshd.pid\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    made = not Path("/run/sshd").exists()
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it, and systemd makes it
    pid = 0
    try:
        make_links(gateway, hosts)
        sshd = subprocess.Popen(
            ["ip", "netns", "exec", gateway, str(SSHD), "-D", "-e", "-f", str(configuration)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "sshd.log").open("wb"),
        )
        pid = sshd.pid
        assert within(10, answers), (folder / "sshd.log").read_text()
        yield Machine(gateway=gateway, hosts=hosts, folder=folder, sshd=pid)
        sshd.terminate()
        sshd.wait(10)
    finally:
        for name in (gateway, hosts):
            end_all(name)
            run("ip", "netns", "del", name, check=False)
        if made:
            Path("/run/sshd").rmdir()


def make_links(gateway: str, hosts: str) -> None:
    """Makes a management link to this namespace, and two to a namespace with the hosts."""
    run("ip", "netns", "add", gateway)
    run("ip", "netns", "add", hosts)
    management = f"nxs{os.getpid()}"
    run("ip", "link", "add", management, "type", "veth", "peer", "m0", "netns", gateway)
    run("ip", "address", "add", f"{TESTER}/30", "dev", management)
    run("ip", "link", "set", management, "up")
    run("ip", "-n", gateway, "address", "add", f"{HOST}/30", "dev", "m0")
    for name in ("m0", "lo"):
        run("ip", "-n", gateway, "link", "set", name, "up")
    for number in (0, 1):
        run("ip", "-n", hosts, "link", "add", f"t{number}", "type", "veth", "peer", f"d{number}",
            "netns", gateway)  # fmt: skip
        run("ip", "-n", hosts, "link", "set", f"t{number}", "mtu", "2000", "up")
        run("ip", "-n", gateway, "link", "set", f"d{number}", "mtu", "2000", "up")


def answers() -> bool:
    try:
        socket.create_connection((HOST, PORT), 1).close()
    except OSError:
        return False
    return True


def processes_in(namespace: str) -> list[int]:
    return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).split()]


def end_all(namespace: str) -> None:
    for pid in processes_in(namespace):
        with_pid(pid)


def with_pid(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        pass


def left(machine: Machine) -> set[str]:
    """Returns the commands that run in the namespace beside sshd's own processes."""
    names = {Path(f"/proc/{pid}/comm") for pid in processes_in(machine.gateway)}
    return {name.read_text().strip() for name in names if name.exists()} - {"sshd"}


def state(machine: Machine) -> tuple[str, ...]:
    """Returns all that a recipe changes: addresses, routes, rules, links, forwarding, timeouts."""
    commands = (
        "ip -o -4 address show",
        "ip -o route show",
        "ip -o -6 route show dev d0",
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
    """Leaves out what changes by itself, and the empty tables that iptables makes when it reads."""
    lines = [line for line in text.splitlines() if line.startswith((":", "#", "*", "COMMIT")) is False]
    rules = [line for line in lines if "table ip nat" not in line and "chain " not in line
             and "type nat hook" not in line and line.strip() != "}"]  # fmt: skip
    return "\n".join(rules)


# ---- the connection, and how it fails


def session(machine: Machine, **changes: object) -> SshSession:
    return SshSession(machine.config(**changes))


def test_a_command_has_its_output_and_its_status(machine: Machine) -> None:
    one = session(machine)
    one.open()
    done = one.run("here", "echo out; echo err >&2; exit 3")
    one.close()
    assert (done.status, done.output, done.errors) == (3, "out\n", "err\n")


def test_each_command_is_logged(machine: Machine, tmp_path: Path) -> None:
    one = session(machine, log=str(tmp_path / "ssh.log"))
    one.open()
    one.run("here", "true")
    one.run("here", "exit 4")
    one.close()
    first, second = (tmp_path / "ssh.log").read_text().splitlines()
    assert first.endswith("status 0  true")
    assert second.endswith("status 4  exit 4")
    assert f"{HOST} port {PORT}" in first


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"port": 2223}, rf"^dut.host: {HOST} port 2223 cannot be reached: "),
        ({"known_hosts": "no_hosts"}, rf"^dut.known_hosts: .*no_hosts does not have the host key of"),
        ({"known_hosts": "other_hosts"}, r"^dut.known_hosts: .*other_hosts does not have the host"),
        ({"known_hosts": "nothing"}, r"^dut.known_hosts: .*nothing: there is no such file"),
        ({"key": "stranger"}, rf"^dut.key: {HOST} port {PORT} refused .*stranger of user root"),
        ({"key": "nothing"}, r"^dut.key: .*nothing: there is no such file"),
        ({"key": "known_hosts"}, r"^dut.key: .*known_hosts: .*expected a private key"),
        ({"user": "nobody-of-this-name"}, r"^dut.key: .* of user nobody-of-this-name"),
    ],
)
def test_a_connection_that_fails_is_one_sentence(
    machine: Machine, changes: dict[str, object], sentence: str
) -> None:
    files = {
        key: str(machine.folder / str(value)) if key in ("key", "known_hosts") else value
        for key, value in changes.items()
    }
    one = session(machine, **files)
    with pytest.raises(DutError, match=sentence) as error:
        one.open()
    assert "\n" not in str(error.value)
    one.close()


def test_a_host_that_does_not_answer_is_given_up_in_time(machine: Machine) -> None:
    begin = time.monotonic()
    with pytest.raises(Lost, match=r"192\.0\.2\.9 port 2222 cannot be reached"):
        session(machine, host="192.0.2.9", connect_timeout_s=0.5).open()
    assert time.monotonic() - begin < 4


def test_a_command_that_hangs_is_ended_with_all_that_it_started(machine: Machine) -> None:
    one = session(machine, timeout_s=0.5)
    one.open()
    with pytest.raises(DutError, match=r"here: `sleep 71 & sleep 72` .*did not end within dut.tim"):
        one.run("here", "sleep 71 & sleep 72")
    assert within(5, lambda: "sleep" not in left(machine)), left(machine)
    assert one.run("here", "echo still").output == "still\n"  # the connection serves on
    one.close()
    assert within(5, lambda: left(machine) == set())


def test_an_sshd_that_ends_in_mid_trial_is_one_sentence(machine: Machine) -> None:
    one = session(machine)
    one.open()
    mine = run("ip", "netns", "exec", machine.gateway, "ss", "-tnpH", "state", "established")
    children = {pid for pid in processes_in(machine.gateway) if f"pid={pid}," in mine}
    assert children
    for pid in children - {machine.sshd}:
        with_pid(pid)
    with pytest.raises(Lost, match=r"^here: the connection to 192\.0\.2\.1 port 2222 was lost"):
        one.run("here", "true")
    one.open()  # it is there again
    assert one.run("here", "true").status == 0
    one.close()


def test_a_host_whose_link_is_cut_is_noticed(machine: Machine) -> None:
    one = session(machine, timeout_s=60.0)
    one.open()
    begin = time.monotonic()
    run("ip", "-n", machine.gateway, "link", "set", "m0", "down")
    try:
        with pytest.raises(Lost, match="was lost"):
            one.run("here", "true")
        assert time.monotonic() - begin < (KEEPALIVES + 2) * KEEPALIVE_S + 10
    finally:
        run("ip", "-n", machine.gateway, "link", "set", "m0", "up")
        one.close()
    assert within(10, answers)


# ---- recipes


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


@pytest.mark.parametrize("name", ["nftables-nat44", "iptables-nat44"])
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
    deletion = table.delete_all()
    assert deletion.connections is not None
    assert deletion.connections >= CONNECTIONS
    assert 0 < deletion.seconds < 5
    # The SSH connection itself makes an entry again.
    assert table.count() < CONNECTIONS


def test_rules_that_are_gone_are_told(machine: Machine) -> None:
    nat44_host(machine)
    dut = machine.dut("nftables-nat44", **NAT44)
    dut.start()
    try:
        machine.inside("nft", "flush", "ruleset")
        with pytest.raises(DutError, match=r"nftables-nat44, check: .* ended with status 1: "):
            dut.trial_fault()
        machine.inside("nft", "add", "table", "ip", "natxy")
    finally:
        dut.stop()


def nat64_host(machine: Machine) -> None:
    run("ip", "-n", machine.hosts, "-6", "address", "replace", "2001:2::2/64", "dev", "t0", "nodad")
    run("ip", "-n", machine.hosts, "-6", "route", "replace", "2001:2:0:1000::/56", "via",
        "2001:2::1", "dev", "t0")  # fmt: skip
    run("ip", "-n", machine.hosts, "address", "replace", "198.19.0.2/30", "dev", "t1")


SIX = {"six": "d0", "four": "d1"}


def test_a_stateless_nat64_translates_and_is_removed(machine: Machine) -> None:
    nat64_host(machine)
    before = state(machine)
    dut = machine.dut("tayga", **SIX)
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
            try:
                arrived.append(four.recv(100))
            except TimeoutError:
                pass

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


UNIX = ["freebsd-ipfw-nat64", "iptables-nat44", "jool-nat64", "jool-siit", "nftables-nat44",
        "openbsd-pf-nat64", "tayga", "tayga-iptables", "vpp-dslite", "vpp-map", "vpp-nat44-ed",
        "vpp-nat64"]  # fmt: skip


@pytest.mark.parametrize("name", UNIX)
def test_a_shell_over_ssh_understands_each_command(machine: Machine, name: str) -> None:
    """It is read there, not run."""
    one = session(machine)
    one.open()
    try:
        for command in all_commands(name):
            quoted = command.replace("'", "'\\''")
            done = one.run("here", f"sh -n -c '{quoted}'")
            assert done.status == 0, f"{command}: {done.errors}"
    finally:
        one.close()


def all_commands(name: str) -> list[str]:
    read = read_recipe(name)
    given = {n: "eth1" if v.kind == "interface" else 4 for n, v in read.variables.items()
             if v.default is None}  # fmt: skip
    filled: Filled = read.filled(given, SOURCE)
    keys: list[str] = list(type(read.commands).model_fields)
    return [command for key in keys for command in filled.commands(key)]


