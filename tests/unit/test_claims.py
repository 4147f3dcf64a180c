"""Two testers on one port or CPU: the second one is refused, and told who is there."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from natxy import runtime_folder
from natxy.cli import run_command
from natxy.dut.none import NoDut
from natxy.errors import InUse
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, TesterSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.tester.claims import OWN_NAMESPACE, VARIABLE, Claims, lock_folder, port_identity
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.siitperf import CONF, PLACE

HOLDER = """
import os, sys
from natxy.model.testbed import Port, TesterSection
from natxy.tester.claims import Claims
with Claims() as held:
    held.take_cpus([int(cpu) for cpu in sys.argv[2:]])
    held.announce_cpus(tuple(map(int, os.environ["GATEWAY_CPUS"].split())))
    held.take_ports(TesterSection(left=Port(device=sys.argv[1])), None)
    print("ready", flush=True)
    sys.stdin.read()
"""
T0 = "net_af_packet0,iface=t0"
T1 = "net_af_xdp1,iface=t1,busy_budget=0"
Hold = Callable[..., subprocess.Popen[str]]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Another process that has a port and CPUs until it is ended, `gateway` for its gateway."""
    holders: list[subprocess.Popen[str]] = []

    def start(device: str, *cpus: int, gateway: tuple[int, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, device, *map(str, cpus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "GATEWAY_CPUS": " ".join(map(str, gateway))},
        )
        holders.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in holders:
        process.kill()
        process.communicate()


def section_of(
    left: str, right: str = "net_null1", *, cores: tuple[int, ...] = (0,)
) -> TesterSection:
    return TesterSection(cores=cores, left=Port(device=left), right=Port(device=right))


def take(section: TesterSection) -> None:
    with Claims() as held:
        held.take_cpus(section.cores)
        held.take_ports(section, None)


def short_trial(plan: TrafficPlan) -> TrialSpec:
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))
    return TrialPlan(traffic=plan, timing=timing).spec(load=1000, seed=1, nonce=1)


def test_a_port_that_another_process_has_is_refused(hold: Hold) -> None:
    holder = hold(T0, 1)
    with pytest.raises(
        InUse,
        match=rf"^tester\.right\.device: t0 is in use by process {holder.pid} "
        r"\(`python net_af_packet0,iface=t0 1`\) \(expected a free port\)$",
    ):
        take(section_of(T1, "net_af_xdp0,iface=t0"))  # however it is driven
    take(section_of(T1))


def test_a_cpu_that_another_process_has_is_refused(hold: Hold) -> None:
    holder = hold(T0, 1, 2)
    with pytest.raises(InUse, match=rf"^tester\.cores: CPU 2 is in use by process {holder.pid} "):
        take(section_of(T1, cores=(0, 2)))
    take(section_of(T1, cores=(0, 3)))  # the 0 was given back


def test_a_gateway_s_cpu_is_refused_to_nobody_and_both_are_told(hold: Hold) -> None:
    """Two labs on two CPUs: the CPU of each tester is that of the other's gateway."""
    holder = hold(T0, 0, gateway=(1,))
    owner = rf"process {holder.pid} \(`python {T0} 0`\)"
    with Claims() as held:
        held.take_cpus((1,))
        held.announce_cpus((0,))
        tester, gateway = held.shared_cpus()
    assert re.fullmatch(f"CPU 1 of the tester was also used by {owner}", tester)
    assert re.fullmatch(f"CPU 0 of the gateway was also used by {owner}", gateway)


def test_two_gateways_on_one_cpu_are_told_until_one_ends(hold: Hold) -> None:
    holder = hold(T0, 0, gateway=(2, 3))
    with Claims() as held:
        held.take_cpus((1,))
        assert held.shared_cpus() == ()
        held.announce_cpus((3,))
        (said,) = held.shared_cpus()
        assert said.startswith(f"CPU 3 of the gateway was also used by process {holder.pid} (")
        holder.kill()  # what it leaves behind tells nothing
        holder.wait(10)
        assert held.shared_cpus() == ()


def test_a_gateway_on_its_own_tester_s_cpu_shares_it_with_nobody() -> None:
    with Claims() as held, Claims() as other:
        held.take_cpus((0,))
        held.announce_cpus((0,))
        other.announce_cpus((0,))  # testers of one process share its CPUs
        assert held.shared_cpus() == other.shared_cpus() == ()


def test_cpus_that_a_gateway_no_longer_has_are_announced_no_more(locks: Path) -> None:
    def announced() -> set[str]:
        return {path.name for path in locks.iterdir()}

    with Claims() as held:
        held.announce_cpus((1,))
        held.announce_cpus((1, 2))
        assert announced() == {f"gateway-cpu-{cpu}-{os.getpid()}.lock" for cpu in (1, 2)}
        held.announce_cpus((2,))
        assert announced() == {f"gateway-cpu-2-{os.getpid()}.lock"}
    assert announced() == set()


def test_each_trial_says_who_else_used_its_cpus(
    hold: Hold, nat64: TrafficPlan, engine: list[str]
) -> None:
    class OnOneCpu(NoDut):
        cpus: tuple[int, ...] = (5,)

    holder = hold(T0, 7, gateway=(5,))
    spec = short_trial(nat64)
    with set_up(nat64.testbed, nat64.source, OnOneCpu()) as session:
        (said,) = session.run(spec).shared_cpus
        holder.kill()
        holder.wait(10)
        assert session.run(spec).shared_cpus == ()
    assert said.startswith(f"CPU 5 of the gateway was also used by process {holder.pid} (")


def test_a_gateway_s_cpus_are_announced_from_its_start_and_when_they_change(
    nat64: TrafficPlan, engine: list[str], locks: Path
) -> None:
    class Growing(NoDut):
        cpus: tuple[int, ...] = (5,)

    def announced() -> int:
        return len(list(locks.glob("gateway-cpu-*")))

    dut = Growing()
    with set_up(nat64.testbed, nat64.source, dut) as session:
        assert announced() == 1
        dut.cpus = (5, 6)  # as in a measurement of scale-up
        session.run(short_trial(nat64))
        assert announced() == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_lock_goes_with_its_process(hold: Hold, number: signal.Signals) -> None:
    holder = hold(T0, 0)
    holder.send_signal(number)
    holder.wait(10)
    take(section_of(T0))


def test_nothing_is_left_in_the_folder(hold: Hold, locks: Path) -> None:
    holder = hold(T0, 1)
    holder.kill()
    holder.wait(10)
    assert len(list(locks.iterdir())) == 2
    with Claims() as held:
        held.take_ports(section_of(T1), None)
        assert len(list(locks.iterdir())) == 1
    assert list(locks.iterdir()) == []


def test_testers_of_one_process_share_its_cpus_and_no_port() -> None:
    with Claims() as one, Claims() as other:
        one.take_cpus((0, 1))
        other.take_cpus((1, 2))
        one.take_ports(section_of(T0), None)
        with pytest.raises(InUse, match=f"process {os.getpid()} "):
            other.take_ports(section_of(T0), None)


def test_what_a_tester_still_uses_is_not_given_back_by_another(hold: Hold) -> None:
    with Claims() as one:
        one.take_cpus((0,))
        with Claims() as other:
            other.take_cpus((0,))
        with pytest.raises(AssertionError):
            hold(T1, 0)
    hold(T0, 0)


def test_a_trial_is_refused_before_the_gateway_is_touched(
    hold: Hold, nat64: TrafficPlan, engine: list[str]
) -> None:
    """The gateway's commands would start, and stop, what another tester measures."""

    class Started(NoDut):
        calls = 0

        def start(self) -> None:
            self.calls += 1

        stop = start

    hold(T0, 7)
    dut = Started()
    section = nat64.testbed.tester.model_copy(update={"left": Port(device=T0)})
    testbed = nat64.testbed.model_copy(update={"tester": section})
    with pytest.raises(InUse, match="t0 is in use"), set_up(testbed, nat64.source, dut):
        pass
    assert dut.calls == 0


def test_two_set_ups_of_one_process_may_share_a_cpu(nat64: TrafficPlan, engine: list[str]) -> None:
    with (
        set_up(nat64.testbed, nat64.source, NoDut()) as one,
        set_up(nat64.testbed, nat64.source, NoDut()) as other,
    ):
        assert one.engine is not other.engine


@pytest.fixture
def in_its_folder(testbed_file: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in the folder of testbed.toml, with the fake engine."""
    monkeypatch.chdir(testbed_file.parent)


@pytest.mark.usefixtures("in_its_folder")
@pytest.mark.parametrize(
    "words",
    [
        ["trial", "testbed.toml", "--rate", "1000"],
        ["throughput", "testbed.toml", "--profile", "quick"],
        ["self-test", "--frame-size", "84"],
    ],
)
def test_every_command_says_who_is_there(
    hold: Hold,
    words: list[str],
    capsys: Captured,
) -> None:
    holder = hold(T0, 0)
    assert run_command(words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    (sentence,) = captured.err.strip().splitlines()
    assert sentence.startswith(f"natxy: tester.cores: CPU 0 is in use by process {holder.pid} (")


@pytest.mark.usefixtures("in_its_folder")
@pytest.mark.parametrize(
    "words",
    [
        ["trial", "testbed.toml", "--rate", "1000"],
        ["latency", "testbed.toml", "--rate", "1000", "--profile", "quick"],
    ],
)
def test_every_command_says_who_else_used_its_cpus(
    hold: Hold,
    words: list[str],
    capsys: Captured,
) -> None:
    holder = hold(T0, 7, gateway=(0,))
    assert run_command(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"CPU 0 of the tester was also used by process {holder.pid} (`python" in said


def test_siitperf_s_commands_take_the_same_locks(
    hold: Hold, tmp_path: Path, engine: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = hold(T0, 0)
    monkeypatch.chdir(tmp_path)
    Path("siitperf.conf").write_text(CONF)
    Path("place.toml").write_text(PLACE)
    monkeypatch.setenv("NATXY_TESTBED", "place.toml")
    assert run_command(["siitperf", "tp", "84", "1000", "1", "0", "2", "2"]) == 1
    said = capsys.readouterr().out
    assert f"Error: tester.cores: CPU 0 is in use by process {holder.pid} (" in said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (T0, "net_af_xdp5,iface=t0,busy_budget=0"),
        ("net_pcap0,iface=t0", T0),
        ("0000:01:00.0", "01:00.0,some=argument"),
        ("pci:0000:0A:00.1", "0000:0a:00.1"),
        ("net_memif0,role=client,id=1,socket=/x,socket-abstract=no",
         "net_memif3,id=1,socket=/x,socket-abstract=no"),
        ("net_memif0,id=1,socket=/x", "net_memif0,id=1,socket=/x,socket-abstract=yes"),
        ("net_vhost0,iface=/tmp/../x", "net_virtio_user1,path=/x"),
    ],
)  # fmt: skip
def test_one_port_by_two_names(one: str, other: str) -> None:
    first, second = port_identity(one, None), port_identity(other, None)
    assert first is not None
    assert second is not None
    assert first.key == second.key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (T0, T1),
        ("0000:01:00.0", "0000:01:00.1"),
        ("0000:01:00.0", "0001:01:00.0"),
        ("net_memif0,id=0,socket=/x,socket-abstract=no",
         "net_memif0,id=1,socket=/x,socket-abstract=no"),
        ("net_memif0,id=0,socket=/x,socket-abstract=no", "net_memif0,id=0,socket=/x"),
        ("net_vhost0,iface=/x", "net_vhost0,iface=/y"),
    ],
)  # fmt: skip
def test_two_ports(one: str, other: str) -> None:
    first, second = port_identity(one, None), port_identity(other, None)
    assert first is not None
    assert second is not None
    assert first.key != second.key


@pytest.mark.parametrize("device", ["ring", "net_null0", "net_ring1", "net_pcap0,rx_pcap=f"])
def test_a_port_in_memory_is_nobody_elses(device: str) -> None:
    assert port_identity(device, None) is None


def test_an_interface_is_known_by_its_namespace_whatever_that_is_called() -> None:
    inode = OWN_NAMESPACE.stat().st_ino
    found = port_identity(T0, None)
    assert found is not None
    assert found.key.endswith(f" in {inode}")
    assert port_identity(T0, "there-is-no-such-namespace") is None


def test_where_the_system_s_folder_cannot_be_written_the_user_s_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(runtime_folder, "SYSTEM", Path("/proc/natxy"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert lock_folder() == tmp_path / "natxy"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert lock_folder() == tmp_path / f"natxy-{os.getuid()}"
    assert lock_folder().is_dir()
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    (tmp_path / "natxy-54321").mkdir()
    with pytest.raises(InUse, match="/run/natxy and the temporary folder: cannot be written"):
        lock_folder()  # another user has made it
    monkeypatch.setenv(VARIABLE, "/proc/natxy")
    with pytest.raises(InUse, match="NATXY_LOCKS: /proc/natxy: cannot be written"):
        lock_folder()


@pytest.mark.parametrize("how", ["a link", "writable by all"])
def test_a_folder_that_others_can_change_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", Path("/proc/natxy"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"natxy-{os.getuid()}"
    if how == "a link":
        (tmp_path / "mine").mkdir()
        folder.symlink_to(tmp_path / "mine")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert runtime_folder.runtime_folder() is None
    folder.unlink() if how == "a link" else folder.chmod(0o700)
    assert runtime_folder.runtime_folder() == folder


def test_a_lock_is_not_written_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "precious").write_text("text")
    (tmp_path / "cpu-5.lock").symlink_to(tmp_path / "precious")
    with Claims() as claims, pytest.raises(InUse, match=r"cpu-5\.lock: cannot be opened: "):
        claims.take_cpus([5])
    assert (tmp_path / "precious").read_text() == "text"


def test_a_lab_is_not_refused_for_a_device_that_it_does_not_use(
    hold: Hold, engine: list[str]
) -> None:
    hold(T0, 7)
    testbed = Testbed(tester=section_of(T0), dut={"kind": "namespace"})
    with (
        pytest.raises(Exception, match="is missing"),  # its addresses, which a lab would bring
        set_up(testbed, Source(name="lab.toml"), NoDut()),
    ):
        pass
