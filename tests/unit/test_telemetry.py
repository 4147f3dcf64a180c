"""Telemetry: files of /proc and /sys as kernels write them, and what is made of two snapshots."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from natxy.dut import proc_files
from natxy.dut.addresses import LEFT
from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.dut.links import LabLinks
from natxy.dut.namespaces import read_inside
from natxy.dut.proc_files import (
    PAGE_BYTES,
    TICK_HZ,
    backlog_drops,
    conntrack_bytes,
    cpu_times,
    local_snapshot,
    resident_bytes,
)
from natxy.errors import DutError
from natxy.model.telemetry import CpuTime, Snapshot, Telemetry
from natxy.report.trial_text import telemetry_line

LINKS = LabLinks(label="7", mtu_bytes=1500)
NET = "proc/thread-self/net"
STAT = """\
cpu  300 0 300 9000 0 30 600 90 0 0
cpu0 100 0 100 9000 0 0 0 0 0 0
cpu1 {user} 0 {system} 100 20 10 {softirq} 40 5 0
intr 12345 0 0
"""
HEAD = "Inter-|   Receive        |  Transmit\n face |bytes    packets errs drop\n"
LINK = "{name:>8}: 9000 9 {rx_errors} {rx} 0 0 0 0 8000 8 0 {tx} 0 0 0 0\n"
CONNTRACK = """\
entries  found insert_failed drop early_drop icmp_error
00000009 00000000 00000001 {drop:08x} 00000003 00000007
00000009 00000000 00000001 00000000 00000000 00000007
"""
SOFTNET = """\
0000aaaa 00000005 0 0 0 0 0 0 0 0 0 0 00000000 0 0
0000aaaa 00000000 0 0 0 0 0 0 0 0 0 0 00000001 0 0
"""


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def link(name: str, *, rx: int = 0, tx: int = 0, rx_errors: int = 0) -> str:
    return LINK.format(name=name, rx=rx, tx=tx, rx_errors=rx_errors)


def inside(reads: Mapping[str, Callable[[], None]]) -> None:
    """Every namespace has the files of the same root."""
    for read in reads.values():
        read()


@pytest.fixture(autouse=True)
def _one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc_files, "read_inside", inside)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a gateway of the kernel on CPU 1."""
    write(tmp_path, "proc/stat", STAT.format(user=200, system=200, softirq=600))
    links = [link("lo", rx=99), link("d0-7"), link("d1-7"), link("nat64"), link("t0"), link("t1")]
    write(tmp_path, f"{NET}/dev", HEAD + "".join(links))
    write(tmp_path, f"{NET}/stat/nf_conntrack", CONNTRACK.format(drop=0))
    write(tmp_path, f"{NET}/softnet_stat", SOFTNET)
    write(tmp_path, "proc/sys/net/netfilter/nf_conntrack_count", "0\n")
    for name, objects, size in (("nf_conntrack", 10, 256), ("kmalloc-128", 20, 128)):
        write(tmp_path, f"sys/kernel/slab/{name}/objects", f"{objects} N0={objects}\n")
        write(tmp_path, f"sys/kernel/slab/{name}/slab_size", f"{size}\n")
    return tmp_path


def local(root: Path) -> Snapshot:
    return local_snapshot((1,), tracks=True, links=LINKS, root=root)


def test_a_trial_of_a_kernel_gateway(machine: Path) -> None:
    before = local(machine)
    write(machine, "proc/stat", STAT.format(user=210, system=220, softirq=650))
    links = [link("lo", rx=500), link("d0-7", rx=3), link("nat64", tx=4), link("t0", tx=12)]
    write(machine, f"{NET}/dev", HEAD + "".join(links))
    write(machine, f"{NET}/stat/nf_conntrack", CONNTRACK.format(drop=17))
    write(machine, "proc/sys/net/netfilter/nf_conntrack_count", "4096\n")
    write(machine, "sys/kernel/slab/nf_conntrack/objects", "4106 N0=4106\n")
    after = local(machine).model_copy(update={"at_s": before.at_s + 2})
    telemetry = Telemetry.between(before, after)
    assert telemetry is not None
    spent = CpuTime(cpu=1, busy_s=80 / TICK_HZ, softirq_s=50 / TICK_HZ, irq_s=0.0, steal_s=0.0)
    assert telemetry.cpus == (spent,)
    assert telemetry.memory_before_bytes == 10 * 256 + 20 * 128
    assert telemetry.memory_bytes == 4106 * 256 + 20 * 128
    assert telemetry.connections == 4096
    drops = {"left rx dropped": 3, "nat64 tx dropped": 4, "conntrack drop": 17}
    assert telemetry.drops is not None
    assert drops.items() <= telemetry.drops.items()
    assert telemetry.drops["left ring"] == 12
    assert not any(cause.startswith(("lo ", "CPU")) for cause in telemetry.drops)
    read = Telemetry.model_validate_json(json.dumps(telemetry.model_dump(mode="json")))
    assert read == telemetry


def busy(cpu: int, busy_s: float) -> CpuTime:
    return CpuTime(cpu=cpu, busy_s=busy_s, softirq_s=0.0, irq_s=0.0, steal_s=0.0)


def test_the_testers_own_thread_on_the_gateways_cpu_is_not_the_gateway() -> None:
    """It spins while the gateway is idle, and the kernel counts it as busy."""
    before = Snapshot(cpus=(busy(0, 10.0), busy(1, 10.0)))
    after = Snapshot(at_s=1.0, cpus=(busy(0, 10.5), busy(1, 10.99)))
    telemetry = Telemetry.between(before, after, {1: 0.97})
    assert telemetry is not None
    assert telemetry.cpus == (busy(0, 0.5), busy(1, 0.02))
    late = Telemetry.between(before, after, {1: 0.995})
    assert late is not None
    assert late.cpus[1] == busy(1, 0.0), "the kernel counts in steps of 10 ms"


def test_a_guests_host_has_the_testers_own_thread() -> None:
    before = Snapshot(cpus=(busy(1, 0.0),), host_cpus=(busy(1, 0.0),))
    after = Snapshot(at_s=1.0, cpus=(busy(1, 0.9),), host_cpus=(busy(1, 0.99),))
    telemetry = Telemetry.between(before, after, {1: 0.5})
    assert telemetry is not None
    assert (telemetry.cpus, telemetry.host_cpus) == ((busy(1, 0.9),), (busy(1, 0.49),))


def test_two_gateways_in_a_row_are_both_read(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def one_by_one(reads: Mapping[str, Callable[[], None]]) -> None:
        """Only the front gateway has the tun device clat, and only the other one has plat."""
        for namespace, each in reads.items():
            names = {"natxy-f-7": ("d0-7", "clat"), "natxy-g-7": ("d1-7", "plat")}
            links = [link(name, tx=len(read) + 1) for name in names.get(namespace, ("t0", "t1"))]
            write(machine, f"{NET}/dev", HEAD + "".join(links))
            each()
            read.append(namespace)

    links = LabLinks(label="7", mtu_bytes=1500, front=LEFT)
    monkeypatch.setattr(proc_files, "read_inside", one_by_one)
    drops = local_snapshot((1,), tracks=True, links=links, root=machine).drops
    assert read == ["natxy-f-7", "natxy-g-7", "natxy-t-7"]
    assert drops is not None
    assert (drops["left tx dropped"], drops["clat tx dropped"]) == (1, 1)
    assert (drops["right tx dropped"], drops["plat tx dropped"]) == (2, 2)
    assert (drops["left ring"], drops["right ring"]) == (3, 3)
    assert drops["conntrack early_drop"] == 3, "of the namespace that tracks"


def test_a_cpu_is_not_busy_while_it_waits_or_while_it_is_stolen(machine: Path) -> None:
    (one,) = cpu_times((1,), machine)
    assert one.busy_s == pytest.approx((200 + 200 + 10 + 600) / TICK_HZ)
    assert one.steal_s == pytest.approx(40 / TICK_HZ)
    assert [each.cpu for each in cpu_times((), machine)] == [0, 1]


def test_a_full_queue_counts_if_it_is_of_a_cpu_of_the_gateway(machine: Path) -> None:
    assert backlog_drops((0,), machine) == {"CPU queue": 5}
    assert backlog_drops((1,), machine) == {"CPU queue": 0}
    write(machine, f"{NET}/softnet_stat", "0000aaaa 00000005 00000000\n")
    assert backlog_drops((1,), machine) == {"CPU queue": 5}, "Linux before 5.10"


def test_memory_of_programs_is_what_is_resident(tmp_path: Path) -> None:
    write(tmp_path, "proc/42/statm", "9000 100 50 1 0 20 0\n")
    write(tmp_path, "proc/43/statm", "9000 11 5 1 0 2 0\n")
    assert resident_bytes((42, 43), tmp_path) == 111 * PAGE_BYTES
    assert resident_bytes((42, 44), tmp_path) is None, "process 44 has ended"
    assert resident_bytes((), tmp_path) is None


def test_a_hardened_kernel_has_several_caches(machine: Path) -> None:
    write(machine, "sys/kernel/slab/kmalloc-rnd-03-128/objects", "5\n")
    write(machine, "sys/kernel/slab/kmalloc-rnd-03-128/slab_size", "128\n")
    assert conntrack_bytes(machine) == 10 * 256 + 20 * 128 + 5 * 128


def test_what_a_kernel_does_not_tell_is_not_known(tmp_path: Path) -> None:
    snapshot = local(tmp_path)
    assert snapshot == Snapshot(at_s=snapshot.at_s)
    assert Telemetry.between(snapshot, snapshot) is None


def test_a_namespace_that_is_gone_is_not_read() -> None:
    def read() -> None:
        raise AssertionError("this namespace does not exist")

    read_inside({"natxy-g-none": read})


def command_dut(printed: str) -> CommandDut:
    config = CommandConfig(kind="command", telemetry=f"printf '{printed}'")
    return CommandDut(config, lambda *_: None)


def test_a_command_tells_of_a_gateway_elsewhere() -> None:
    said = r"memory_bytes 4096\nconnections 7\ncpu3.busy_s 1.5\ncpu3.steal_s 0.5\ndropped.ring 2\n"
    snapshot = command_dut(said).telemetry()
    assert snapshot.memory_bytes == 4096
    assert snapshot.connections == 7
    assert snapshot.cpus == (CpuTime(cpu=3, busy_s=1.5, softirq_s=0, irq_s=0, steal_s=0.5),)
    assert snapshot.drops == {"ring": 2}
    silent = CommandDut(CommandConfig(kind="command"), lambda *_: None).telemetry()
    assert silent.model_copy(update={"at_s": 0.0}) == Snapshot()


@pytest.mark.parametrize(
    "wrong",
    [
        "memory 4096",
        "memory_bytes",
        "memory_bytes 4096 kB",
        "memory_bytes 4e3",
        "memory_bytes -1",
        "cpu0.busy_s nan",
        "cpu.busy_s 1",
        "dropped. 1",
        r"connections 1\nconnections 2",
    ],
)
def test_a_line_that_is_not_understood_is_refused(wrong: str) -> None:
    with pytest.raises(DutError, match=r"dut\.telemetry: .* printed .*expected lines such as"):
        command_dut(wrong).telemetry()


USED = Telemetry(
    seconds=2.0,
    cpus=(CpuTime(cpu=1, busy_s=1.24, softirq_s=1.2, irq_s=0.0, steal_s=0.1),),
    memory_before_bytes=10_400_000,
    memory_bytes=12_000_000,
    connections=4096,
    drops={"left ring": 12},
)


def test_a_trial_shows_it_in_one_line() -> None:
    assert telemetry_line(USED) == (
        "Gateway, in 2 s: CPU 1 busy 62 % (softirq 60 %, stolen 5 %), memory 12.0 MB (+1.6 MB), "
        "4,096 connections, dropped 12 (left ring 12)"
    )
    nothing = USED.model_copy(update={"drops": {}})
    assert telemetry_line(nothing).endswith("connections, nothing dropped")


def test_the_cpus_of_a_guest_and_of_its_host_have_names_of_their_own() -> None:
    host = (CpuTime(cpu=1, busy_s=2.0, softirq_s=0.1, irq_s=0.0, steal_s=0.0),)
    used = Telemetry(seconds=2.0, cpus=USED.cpus, host_cpus=host)
    assert telemetry_line(used) == (
        "Gateway, in 2 s: CPU 1 busy 62 % (softirq 60 %, stolen 5 %), "
        "host CPU 1 busy 100 % (softirq 5 %)"
    )
    assert used.busiest == USED.cpus[0]


def test_only_the_busiest_cpus_are_shown() -> None:
    cpus = tuple(
        CpuTime(cpu=cpu, busy_s=cpu / 10, softirq_s=0, irq_s=0, steal_s=0) for cpu in range(9)
    )
    line = telemetry_line(Telemetry(seconds=1.0, cpus=cpus))
    assert line == (
        "Gateway, in 1 s: CPU 5 busy 50 %, CPU 6 busy 60 %, CPU 7 busy 70 %, CPU 8 busy 80 %"
    )


def test_a_counter_is_known_if_it_is_known_before_and_after() -> None:
    before, after = Snapshot(drops={"a": 3}), Snapshot(at_s=1.0, drops={"a": 3, "b": 2})
    found = Telemetry.between(before, after)
    assert found is not None
    assert found.drops == {"b": 2}
    assert Telemetry.between(Snapshot(), after) is None
