"""A guest that boots, hangs, panics and is killed: a program plays QEMU and the guest."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from natxy.errors import DutError
from natxy.guest import machine
from natxy.guest.build import INIT
from natxy.guest.channel import Channel
from natxy.guest.machine import Machine, MachineSpec, boot, last_words, need_qemu, qemu_arguments

FAKE = Path(__file__).with_name("fake_qemu.py")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "BOOTS_WITHIN_S", {"kvm": 1.5, "tcg": 20.0})
    monkeypatch.setattr(machine, "CONSOLE_GROWS_WITHIN_S", 0.1)
    monkeypatch.setattr(machine, "CLOCK_COMPARED_S", 0.3)
    monkeypatch.setattr(machine, "runtime_folder", lambda: tmp_path)


def spec_of(scene: str, folder: Path, **keys: Any) -> MachineSpec:
    return MachineSpec(
        image=folder,
        taps=("t0", "t1"),
        prefix=(sys.executable, str(FAKE), scene),
        console=folder / "console.log",
        **{"accelerator": "tcg", **keys},
    )


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[Machine]:
    pids: list[int] = []
    running = boot(spec_of("boots", tmp_path), pids.append)
    assert pids == [running.pid], "the process is noted, so that the next lab can end it"
    yield running
    running.stop()
    assert not running.threads, "nothing is left"


def test_a_command_is_answered(guest: Machine) -> None:
    assert guest.run("several\nlines 'and quotes'\n") == "several\nlines 'and quotes'\n"
    assert guest.run("x" * 100_000) == "x" * 100_000
    guest.check()
    guest.check_clock(guest.clocks())
    assert guest.pid in guest.threads


def test_a_command_that_fails_is_one_sentence(guest: Machine) -> None:
    with pytest.raises(DutError, match=r"In the guest, `false` ended with status 1: the last line"):
        guest.run("false")
    guest.check()


def test_a_panic_is_told_by_the_console(guest: Machine) -> None:
    with pytest.raises(
        DutError, match=r"kernel panicked: Kernel panic - not syncing: sysrq triggered crash$"
    ):
        guest.run("panic")


def test_a_guest_that_fills_its_console_is_ended(guest: Machine) -> None:
    with pytest.raises(DutError, match=r"The guest's console printed more than 16 MiB \(expected"):
        guest.run("flood")


def test_a_guest_that_hangs_is_told_with_its_last_line(guest: Machine) -> None:
    with pytest.raises(
        DutError, match=r"The guest did not answer in time; its console's last line was: Booting"
    ):
        guest.run("hang", within_s=0.2)
    begin_s = time.monotonic()
    with pytest.raises(DutError, match="The guest did not answer in time"):
        guest.check()
    assert time.monotonic() - begin_s < machine.ANSWERS_WITHIN_S / 2, "it is not waited for again"


def test_an_answer_that_comes_too_late_is_of_no_other_command(guest: Machine) -> None:
    with pytest.raises(DutError, match="The guest did not answer in time"):
        guest.run("slow", within_s=0.2)
    time.sleep(1.0)  # the answer is there
    with pytest.raises(DutError, match="The guest did not answer in time"):
        guest.run("another")


class Generous:
    """A lock that gives a thread that waits for it the time to get in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        time.sleep(0.7)  # longer than the late answer needs


def test_a_thread_that_waited_does_not_get_the_late_answer_of_another(
    guest: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "_lock", Generous())
    errors: list[str] = []

    def slow() -> None:
        with pytest.raises(DutError) as error:
            guest.run("slow", within_s=0.3)
        errors.append(str(error.value))

    first = threading.Thread(target=slow)
    first.start()
    time.sleep(0.1)  # the first one has the lock
    with pytest.raises(DutError, match="The guest did not answer in time"):
        guest.run("another")
    first.join()
    assert "The guest did not answer in time" in errors[0]


def test_an_answer_after_ctrl_c_is_of_no_other_command(guest: Machine) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            guest.run("slow")
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(1.0)  # the answer is there
    with pytest.raises(DutError, match="The guest was interrupted before it had answered"):
        guest.run("another")


def test_a_guest_that_was_killed_is_told(guest: Machine) -> None:
    with pytest.raises(DutError, match="QEMU ended with status -9; its console's last line was"):
        guest.run("die")
    with pytest.raises(DutError, match="QEMU ended with status -9"):
        guest.check()


def test_an_answer_without_sense_is_told(guest: Machine) -> None:
    with pytest.raises(DutError, match=r'The guest answered "what\?" \(expected status and length'):
        guest.run("nonsense")


def test_a_guest_that_never_boots_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "BOOTS_WITHIN_S", {"tcg": 1.0})
    pids: list[int] = []
    with pytest.raises(DutError, match="did not answer in time; its console's last line was: Boot"):
        boot(spec_of("hangs", tmp_path), pids.append)
    assert not Path(f"/proc/{pids[0]}").exists()


def test_what_qemu_refuses_is_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(DutError, match="ended with status 1; qemu-system-x86_64: could not config"):
        boot(spec_of("refused", tmp_path), lambda _: None)


def test_tcg_takes_over_where_kvm_does_not_run_and_this_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "KVM", tmp_path)  # exists, and can be read and written
    for expected in (2, 1):
        pids: list[int] = []
        running = boot(spec_of("kvm hangs", tmp_path, accelerator="auto"), pids.append)
        running.stop()
        assert running.accelerator == "tcg"
        assert len(pids) == expected, "the second time, KVM is not tried"


def test_kvm_is_used_where_it_runs_and_asked_for_alone_where_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "KVM", tmp_path)
    running = boot(spec_of("boots", tmp_path, accelerator="auto"), lambda _: None)
    running.stop()
    assert running.accelerator == "kvm"
    with pytest.raises(DutError, match="did not answer in time"):
        boot(spec_of("kvm hangs", tmp_path, accelerator="kvm"), lambda _: None)


def test_a_clock_of_another_speed_is_refused(tmp_path: Path) -> None:
    running = boot(spec_of("fast clock", tmp_path), lambda _: None)
    try:
        with pytest.raises(DutError, match=r"clock runs at (1\.9\d\d|2\.0\d\d) times"):
            running.check_clock(running.clocks())
    finally:
        running.stop()


def test_a_clock_is_compared_for_longer_where_answers_take_long(tmp_path: Path) -> None:
    running = boot(spec_of("slow first answers", tmp_path), lambda _: None)
    try:
        running.check_clock(running.clocks())
    finally:
        running.stop()


def test_no_qemu_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        DutError, match=r"`qemu-system-x86_64` is not installed \(`tools/install gu"
    ):
        need_qemu()


def test_the_console_s_last_words() -> None:
    assert last_words("") == "nothing"
    assert last_words("one\r\ntwo\r\n\n") == "two"
    panic = "[ 1.0] Kernel panic - not syncing: Out of memory"
    assert last_words(f"{panic}\nCPU: 0\n---[ end Kernel panic - not syncing ]---\n") == panic


def test_no_offload_changes_the_frames(tmp_path: Path) -> None:
    arguments = qemu_arguments(spec_of("boots", tmp_path, cores=2, memory_mb=512), "tcg", 7)
    nics = [each for each in arguments if each.startswith("virtio-net-pci")]
    assert len(nics) == 2
    for nic in nics:
        for offload in ("csum", "guest_csum", "gso", "host_tso4", "guest_tso6", "mrg_rxbuf"):
            assert f",{offload}=off" in nic
    assert arguments[arguments.index("-smp") + 1] == "2"
    assert arguments[arguments.index("-m") + 1] == "512"


def test_the_guest_s_own_loop_speaks_the_channel_s_language(tmp_path: Path) -> None:
    """The loop of natxy/guest/init itself, in this machine's bash."""
    text = INIT.read_text().replace("/tmp/output", str(tmp_path / "output"))
    begin, end = text.index("while read -r length"), text.index('echo "natxy: the control')
    own, other = socket.socketpair()
    loop = f"exec 3<&{other.fileno()} {other.fileno()}<&-\nexport LC_ALL=C\n{text[begin:end]}"
    with other:
        process = subprocess.Popen(["bash", "-c", loop], pass_fds=(other.fileno(),))
    channel = Channel(own)
    try:
        assert channel.run("echo one; echo two", 10) == "one\ntwo\n"
        assert channel.run(":", 10) == ""
        assert channel.run("cat <<'E'\n$HOME «é»\nE", 10) == "$HOME «é»\n"
        assert channel.run("x=5", 10) + channel.run("echo $x", 10) == "5\n"
        with pytest.raises(DutError, match=r"`\(exit 3\)` ended with status 3: it printed nothing"):
            channel.run("(exit 3)", 10)
        assert len(channel.run("printf %9000d 1", 10)) == 9000
        assert channel.run("cat", 10) == "", "a command gets nothing of the channel"
    finally:
        channel.close()
        assert process.wait(10) == 0
