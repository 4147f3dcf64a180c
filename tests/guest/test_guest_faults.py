"""A guest that is not built, that dies, or that hangs: one sentence, and nothing stays behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.guest import GuestDut
from natxy.dut.ledger import sweep
from natxy.dut.namespaces import namespace_exists
from natxy.dut.process import Process
from natxy.errors import DutError
from natxy.guest.image import VARIABLE
from natxy.trial.setup import Setup, set_up
from tests.guest.guests import RATE_FPS, SIIT, testbed_of, trials_of
from tests.programs import ROOT


@pytest.mark.long
def test_a_guest_is_built_and_measured_within_five_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    begin_s = time.monotonic()
    testbed, source, dut = testbed_of(SIIT)
    with set_up(testbed, source, dut) as setup:
        trials_of(setup).run(load=RATE_FPS, repetition=1, seed=1)
    assert time.monotonic() - begin_s < 300
    assert len(list(tmp_path.glob("*/initramfs"))) == 1


@pytest.fixture
def lab() -> Iterator[tuple[Setup, GuestDut]]:
    testbed, source, dut = testbed_of(SIIT)
    with set_up(testbed, source, dut) as setup:
        yield setup, dut


def run_trials(setup: Setup) -> None:
    """Until the guest has died, which it may also do between two of them."""
    for _ in range(5):
        trials_of(setup, Fraction(2)).run(load=RATE_FPS, repetition=1, seed=1)


def check_one_sentence(lab: tuple[Setup, GuestDut], end: Callable[[], None], sentence: str) -> None:
    """Checks that a guest that ends in a trial is told with this sentence, and leaves nothing."""
    setup, dut = lab
    namespace, qemu = str(dut.tester_namespace), Process.of(dut.machine.pid)
    timer = threading.Timer(1.5, end)
    timer.start()
    try:
        with pytest.raises(DutError, match=sentence):
            run_trials(setup)
    finally:
        timer.join()
    dut.stop()
    assert not qemu.lives()
    assert not namespace_exists(namespace)


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("echo c >/proc/sysrq-trigger", r"kernel panicked: .*sysrq triggered crash"),
        ("poweroff -f", r"QEMU ended with status 0"),
    ],
)
def test_a_guest_that_dies_in_a_trial_ends_it_with_one_sentence(
    command: str, sentence: str, lab: tuple[Setup, GuestDut]
) -> None:
    def end() -> None:
        with suppress(DutError):  # the answer never comes
            lab[1].machine.run(command, within_s=5)

    check_one_sentence(lab, end, sentence)


@pytest.mark.long
def test_a_guest_that_hangs_in_a_trial_ends_it_with_one_sentence(
    lab: tuple[Setup, GuestDut],
) -> None:
    pid = lab[1].machine.pid
    sentence = r"^The guest did not answer in time; its console's"
    check_one_sentence(lab, lambda: os.kill(pid, signal.SIGSTOP), sentence)


PROGRAM = """
import sys, time
from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
source = Source(name="lab.toml", text=sys.argv[1])
dut = dut_of(source.validated(Testbed, source.toml()), source)
dut.start()
print(dut.machine.pid, dut.tester_namespace, flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_the_next_start_removes_a_guest_whose_tester_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, SIIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        pid, namespace = process.stdout.readline().split()
        process.kill()
    qemu, label = Process.of(int(pid)), namespace.removeprefix("natxy-t-")
    folder = Path(tempfile.gettempdir()) / f"natxy-lab-{label}-0"
    assert qemu.lives()
    assert folder.exists()
    assert namespace_exists(namespace)
    sweep()
    assert not qemu.lives()
    assert not folder.exists()
    assert not namespace_exists(namespace)
