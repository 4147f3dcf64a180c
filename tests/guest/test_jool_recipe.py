"""The recipes of Jool, run in a guest with Jool itself, and trials through what they set up.

The commands come over the guest's control channel, not over SSH, which `tests/labs` tests with
other recipes. The guest differs from a machine of Debian in these points:

- `sh` is bash in its mode of POSIX. `tests/labs` has each command read by Debian's own `sh`.
- awk, nproc, rm, sed and sysctl are those of busybox. Debian's own run in `tests/labs`, with the
  same lines of other recipes. busybox's date has no %N, so a script of bash tells the time.
- ethtool is a script that notes its arguments: the guest's NICs have no RSS that could be set.
"""

import csv
import shlex
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.config import SshConfig
from natxy.dut.guest import GuestDut
from natxy.dut.recipe import Filled, read_recipe
from natxy.dut.ssh import SshDut
from natxy.dut.ssh_session import Ended, SshSession
from natxy.errors import DutError
from natxy.guest.image import image_of_this_process
from natxy.guest.machine import Machine, MachineSpec, boot, need_qemu
from natxy.model.source import Source
from natxy.model.trial_spec import WatchedCpu
from natxy.model.verdict import Verdict
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from tests.guest.guests import NAT64, RATE_FPS, ROUTER6, SIIT, testbed_of, trials_of
from tests.valid import valid_trial

INTERFACES = {"six": "eth0", "four": "eth1"}
N = 100  # connections; the testbed NAT64 has more
HOSTS = '[traffic.left_field]\nmode = "pseudorandom"\nmin = 16\nmax = 9999\n'
BETWEEN = "\x1e"
# The tester's ports, for the addresses that the recipes have by default.
PORTS = """
[tester.left]
device = "{left}"
ipv6_real = "2001:2::2"
ipv4_virtual = "198.18.0.2"
next_hop_ipv6 = "2001:2::1"
[tester.right]
device = "{right}"
ipv4_real = "198.19.0.2"
ipv6_virtual = "{four_as_six}"
next_hop_ipv4 = "198.19.0.1"
"""
# A machine without addresses, routes and forwarding, whose links are down, and with the programs
# that the recipes need and the guest does not have. Its table of IPv6 neighbours is small: the
# tester makes itself known with the first 256 addresses of HOSTS, and a short trial has some 250
# others. If the gateway took each host for a neighbour, most of their frames would be lost. With
# Debian's table, of 1,024 neighbours, this happens in longer trials.
PLAIN = """
for name in awk nproc rm sed sysctl; do busybox ln -s busybox /bin/$name; done
busybox ln -s bash /bin/sh
echo '#!/bin/bash
[ "$*" = +%s%N ] && echo "${EPOCHREALTIME/./}000"' >/bin/date
echo '#!/bin/bash
echo "$*" >>/tmp/ethtool' >/bin/ethtool
busybox chmod 755 /bin/date /bin/ethtool
for end in eth0 eth1; do ip link set $end down; ip address flush dev $end; done
sysctl -q -w net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
sysctl -q -w net.ipv6.neigh.default.gc_thresh2=320 net.ipv6.neigh.default.gc_thresh3=320
"""
# All that a recipe changes. A link that is up has an address of its own in fe80::/64.
STATE = """
ip -o address show scope global
ip route show
ip -6 route show | grep -v fe80
sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding
while read -r module _; do echo "$module"; done </proc/modules
ls /run
"""


class GuestSession(SshSession):
    """Runs commands in the guest."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def open(self) -> None:
        """Does nothing: the guest's control channel is open."""

    def run(self, where: str, command: str) -> Ended:
        told = self._machine.run(
            f"sh -c {shlex.quote(command)} >/tmp/told 2>/tmp/errors\n"
            f'printf \'%s{BETWEEN}%s{BETWEEN}%s\' $? "$(</tmp/told)" "$(</tmp/errors)"'
        )
        status, output, errors = told.split(BETWEEN)
        return Ended(status=int(status), output=output, errors=errors)

    def close(self) -> None:
        """Does nothing: the lab closes the channel."""


def recipe_of(name: str, **variables: str | int) -> tuple[SshConfig, Filled]:
    config = {"kind": "ssh", "host": "guest.example", "recipe": name}
    filled = read_recipe(name).filled({**INTERFACES, **variables}, Source(name="lab.toml"))
    return SshConfig.model_validate(config), filled


class RecipeInGuest(SshDut):
    """A gateway that a recipe makes in the guest of a lab, with its CPUs and tester."""

    def __init__(self, lab: GuestDut, name: str, **variables: str | int) -> None:
        super().__init__(*recipe_of(name, **variables), session=GuestSession(lab.machine))
        self._lab = lab
        self.tester_namespace = lab.tester_namespace

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return self._lab.watched

    @property
    def cpus(self) -> tuple[int, ...]:
        return self._lab.cpus


@pytest.fixture(scope="module")
def lab() -> Iterator[GuestDut]:
    """A guest without a gateway, and the tester's namespace."""
    _, _, dut = testbed_of(ROUTER6)
    dut.start()
    try:
        dut.machine.run(PLAIN)
        yield dut
    finally:
        dut.stop()


@contextmanager
def running(lab: GuestDut, dut: SshDut, text: str, four_as_six: str) -> Iterator[Session]:
    """Starts a gateway by its recipe, and the tester; checks that nothing of it is left."""
    made = lab.tester_ports()
    assert made is not None
    ends = {"left": made.left.device, "right": made.right.device, "four_as_six": four_as_six}
    testbed, source, _ = testbed_of(text + PORTS.format(**ends))
    before = lab.machine.run(STATE)
    assert "jool" not in before
    with set_up(testbed, source, dut) as session:
        assert lab.machine.run(STATE) != before
        yield session
    assert lab.machine.run(STATE) == before


def nat64(lab: GuestDut, dut: SshDut) -> AbstractContextManager[Session]:
    return running(lab, dut, NAT64.replace("count = 300", f"count = {N}"), "2001:2:0:1000::c613:2")


def check_trial(session: Session) -> None:
    """Runs a trial in both directions, in which every frame arrives rightly, and the gateway with
    all of its connections stays."""
    trial = valid_trial(trials_of(session, Fraction(1, 5)), RATE_FPS, seed=7)
    assert trial.verdict is Verdict.PASS, trial.fail_reason
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert [stream.lost for stream in trial.result.streams] == [0, 0]
    assert all(stream.sent > 0 for stream in trial.result.streams)


def test_connections_are_counted_and_deleted(
    lab: GuestDut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is the only test of this file that is not long: it needs 15 s after the guest's boot."""
    dut = RecipeInGuest(lab, "jool-nat64")
    with nat64(lab, dut) as session:
        table = dut.table
        assert table is not None
        check_trial(session)
        assert table.count() == N
        begin_s = time.monotonic()
        assert 0 < table.delete_all() < time.monotonic() - begin_s
        assert table.count() == 0
        monkeypatch.setattr(dut, "reset", table.delete_all)
        check_trial(session)  # through an instance that `delete_all` has made
        assert table.count() == N


def configuration(lab: GuestDut) -> str:
    shown = ("instance display", "global display", "pool4 display --udp", "pool4 display --tcp")
    return lab.machine.run(" && ".join(f"jool {each}" for each in shown))


def timeouts(lab: GuestDut) -> list[str]:
    """Returns the timeouts of Jool: of UDP, of a TCP handshake, of TCP after it."""
    printed = lab.machine.run("jool global display --csv")
    values = dict(csv.reader(printed.splitlines()))
    return [values[name] for name in ("udp-timeout", "tcp-trans-timeout", "tcp-est-timeout")]


@pytest.mark.long
def test_settings_stay_as_they_were_set(lab: GuestDut) -> None:
    """Each command that makes an instance gives it all of its settings, and the timeouts of now."""
    dut = RecipeInGuest(lab, "jool-nat64", udp_timeout_s=200, cores=1, rss_fields="sdfn")
    with nat64(lab, dut):
        noted = lab.machine.run("cat /tmp/ethtool").splitlines()
        assert noted == ["-N eth0 rx-flow-hash udp6 sdfn", "-N eth1 rx-flow-hash udp4 sdfn"]
        assert timeouts(lab) == ["0:03:20", "0:04:00", "2:00:00"]
        assert dut.table is not None
        dut.table.set_timeout(7500)
        assert timeouts(lab) == ["2:05:00"] * 3
        configured = configuration(lab)
        for renew in (dut.reset, dut.restart, dut.table.delete_all, dut.recover):
            renew()
            assert configuration(lab) == configured
            assert dut.trial_fault() is None
        assert [each.cpu for each in dut.telemetry().cpus] == [0]
        description = dut.describe()["description"]
        for part in (lab.machine.run("jool --version"), "2001:2:0:1000::/96", "198.19.0.1"):
            assert part.strip() in description
        lab.machine.run("jool instance remove")
        with pytest.raises(DutError, match=r"jool-nat64, check: .* ended with status 1: "):
            dut.trial_fault()


@pytest.mark.long
def test_siit_translates_every_frame_before_and_after_a_restart(lab: GuestDut) -> None:
    dut = RecipeInGuest(lab, "jool-siit", rss_fields="sdfn")
    with running(lab, dut, SIIT + HOSTS, "2001:2:0:1000::2") as session:
        assert dut.table is None
        check_trial(session)
        assert dut.restart().startswith("command: ")
        check_trial(session)
        assert "2001:2::/112" in dut.describe()["description"]
        lab.machine.run("jool_siit instance remove")
        with pytest.raises(DutError, match=r"jool-siit, check: .* ended with status 1: "):
            dut.trial_fault()


@pytest.mark.long
def test_cpus_are_switched_and_put_back(tmp_path: Path) -> None:
    """One of two CPUs is off before, as by the kernel parameter maxcpus=1, and it is so again."""
    need_qemu()
    spec = MachineSpec(
        image=image_of_this_process(), taps=(), prefix=(), console=tmp_path / "console", cores=2
    )
    machine = boot(spec, lambda _: None)
    try:
        machine.run(PLAIN.replace("for end in eth0 eth1", "for end in"))
        machine.run("echo 0 >/sys/devices/system/cpu/cpu1/online")
        dut = SshDut(*recipe_of("jool-nat64"), session=GuestSession(machine))
        dut.run("prepare")
        for cores in (1, 2, 1, 2):
            dut.set_cores(cores)
            assert machine.run("nproc").strip() == str(cores)
        with pytest.raises(DutError, match=r"set_cores: .*: 2 CPUs are on"):
            dut.set_cores(3)
        dut.run("clean_up")
        assert machine.run("nproc").strip() == "1"
        assert machine.run("ls /run") == ""
    finally:
        machine.stop()
