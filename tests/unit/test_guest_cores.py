"""How many of this machine's CPUs a guest has, which SD and MP vary."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from natxy.dut import guest
from natxy.dut.addresses import AddressPlan
from natxy.dut.config import GuestConfig
from natxy.dut.guest import GuestDut
from natxy.dut.proc_files import cpu_times, cpu_times_in
from natxy.errors import DutError
from natxy.model.telemetry import CpuTime

PLAN = AddressPlan(left_ip_version=6, right_ip_version=6)
ROUTER = GuestConfig.model_validate({"kind": "guest", "driver": "kernel-router"})
USED = """\
50000
cpu  300 0 300 9000 0 30 600 90 0 0
cpu0 100 0 100 9000 0 0 0 0 0 0
cpu1 200 0 200 100 20 10 600 40 5 0
"""


class FakeMachines:
    """Notes each guest that is booted: its MachineSpec, what runs in it, whether it is stopped."""

    def __init__(self) -> None:
        self.specs: list[Any] = []
        self.ran: list[list[str]] = []
        self.stopped: list[bool] = []

    def boot(self, spec: Any, _note: object) -> Any:
        number = len(self.specs)
        self.specs.append(spec)
        self.ran.append([])
        self.stopped.append(False)

        def run(command: str, within_s: float = 0) -> str:
            del within_s
            self.ran[number].append(command)
            return USED if command == guest.USE else ""

        return SimpleNamespace(
            run=run,
            clocks=lambda: None,
            check_clock=lambda _: None,
            stop=lambda: self._stop(number),
        )

    def _stop(self, number: int) -> None:
        self.stopped[number] = True


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> FakeMachines:
    made = FakeMachines()
    monkeypatch.setattr(guest, "boot", made.boot)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    return made


def booted(folder: Path) -> GuestDut:
    dut = GuestDut(ROUTER, PLAN, tester_cpus=(0,))
    unused: Any = SimpleNamespace(note_process=None)
    dut._namespace, dut._folder, dut._image, dut._made = "natxy-g-1", folder, unused, unused
    dut._boot()
    return dut


def cpus_of(spec: Any) -> str:
    words = list(spec.prefix)
    return str(words[words.index("-c") + 1])


def test_more_cores_boot_the_guest_anew(machines: FakeMachines, tmp_path: Path) -> None:
    dut = booted(tmp_path)
    dut.set_cores(3)
    one, three = machines.specs
    assert (one.cores, cpus_of(one)) == (1, "3")
    assert (three.cores, sorted(cpus_of(three).split(","))) == (3, ["1", "2", "3"])
    assert machines.stopped == [True, False]
    assert machines.ran[1]  # the gateway is set up in the new one


def test_the_same_number_of_cores_changes_nothing(machines: FakeMachines, tmp_path: Path) -> None:
    booted(tmp_path).set_cores(1)
    assert machines.stopped == [False]


def test_the_cores_of_the_tester_are_not_taken(machines: FakeMachines, tmp_path: Path) -> None:
    dut = booted(tmp_path)
    with pytest.raises(DutError, match=r"cannot use 4 cores: the tester leaves 3 of"):
        dut.set_cores(4)
    assert machines.stopped == [False]


def test_a_guest_recovers_by_another_boot(machines: FakeMachines, tmp_path: Path) -> None:
    dut = booted(tmp_path)
    dut.set_cores(2)
    dut.recover()
    assert [spec.cores for spec in machines.specs] == [1, 2, 2]
    assert machines.stopped == [True, True, False]


def test_the_cpus_of_the_guest_and_of_its_host_are_told_apart(
    machines: FakeMachines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "cpu_times", lambda cpus: cpu_times_in(USED.splitlines(), cpus))
    dut = booted(tmp_path)
    dut._cpus = [1]
    machines.ran[0].clear()
    before = dut.telemetry()
    assert machines.ran[0] == [guest.USE]  # one question
    assert before.memory_bytes == 50_000 * 1024
    idle, busy = before.cpus
    assert idle == CpuTime(cpu=0, busy_s=2.0, softirq_s=0, irq_s=0, steal_s=0)
    assert busy == CpuTime(cpu=1, busy_s=10.1, softirq_s=6.0, irq_s=0.1, steal_s=0.4)
    assert before.host_cpus == (busy,)


def test_a_guest_says_the_times_of_all_of_its_cpus() -> None:
    """The same words, for this machine's bash."""
    asked = subprocess.run(["bash", "-c", guest.USE], capture_output=True, text=True, check=True)
    slab_kb, *stat = asked.stdout.splitlines()
    assert int(slab_kb) > 0
    assert [each.cpu for each in cpu_times_in(stat)] == [each.cpu for each in cpu_times(())]
