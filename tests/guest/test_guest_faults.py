"""A guest that is not built, that dies, or that hangs: one sentence, and nothing stays behind."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.execution import execute
from natxy.dut.guest import GuestDut
from natxy.dut.lab import DeviceKind, warn_of_fallback
from natxy.dut.ledger import sweep
from natxy.dut.namespaces import namespace_exists
from natxy.dut.process import Process, within
from natxy.errors import DutError
from natxy.guest.image import VARIABLE, usable_image
from natxy.guest.machine import QEMU
from natxy.guest.packages import Packages
from natxy.runtime_folder import SYSTEM
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from tests.command import natxy
from tests.guest.guests import JOOL, RATE_FPS, SIIT, testbed_of, timed_campaign, trials_of
from tests.programs import ROOT
from tests.valid import Done, valid_run


@pytest.mark.long
def test_jool_is_measured_within_five_minutes_with_the_build_and_within_two_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise only lengthens it: of three runs with the guest that was built, the shortest counts."""
    monkeypatch.setenv(VARIABLE, str(cache := tmp_path / "cache"))

    def seconds(name: str) -> float:
        return timed_campaign(tmp_path / name, "run", JOOL, "--quick")[0]

    assert seconds("first") < 300
    assert len(list(cache.glob("*/initramfs"))) == 1
    assert any(seconds(f"run-{number}") < 120 for number in range(3))


@pytest.fixture
def lab() -> Iterator[tuple[Session, GuestDut]]:
    testbed, source, dut = testbed_of(SIIT)
    with set_up(testbed, source, dut) as session:
        yield session, dut


def run_trials(session: Session) -> None:
    """Until the guest has died, which it may also do between two of them."""
    for _ in range(5):
        trials_of(session, Fraction(2)).run(load=RATE_FPS, repetition=1, seed=1)


@pytest.mark.long
def test_a_guest_that_ends_in_a_trial_ends_it_with_one_sentence(
    lab: tuple[Session, GuestDut],
) -> None:
    session, dut = lab
    namespace, qemu = str(dut.tester_namespace), Process.of(dut.machine.pid)

    def end() -> None:
        with suppress(DutError):  # the answer never comes
            dut.machine.run("poweroff -f", within_s=5)

    timer = threading.Timer(1.5, end)
    timer.start()
    try:
        with pytest.raises(DutError, match=r"QEMU ended with status 0"):
            run_trials(session)
    finally:
        timer.join()
    dut.stop()
    assert not qemu.lives()
    assert not namespace_exists(namespace)


# Stands before QEMU in PATH: gives it a monitor, and has a non-maskable interrupt end the guest.
QEMU_WITH_MONITOR = """\
#!/bin/bash
echo $$ >{folder}/pid
exec {qemu} "${{@/panic=-1/panic=-1 unknown_nmi_panic}}" \\
  -monitor unix:{folder}/monitor,server=on,wait=off
"""


@dataclass
class Sabotage:
    """QEMU's monitor, while a command runs in another process."""

    folder: Path
    temporary: Path  # TMPDIR of the command
    namespace: str = ""  # of the lab in which the command measured
    processes: Sequence[str] = ()  # of the command, in the trial

    def in_mid_trial(self, command: str) -> None:
        """Gives the monitor a command as soon as a hundred frames have left."""
        if within(240.0, self._sends):  # the guest may have to be built
            self.processes = marked(self.temporary)
            self.namespace = execute(["ip", "netns", "identify", str(self._qemu)]).strip()
            with socket.socket(socket.AF_UNIX) as monitor:
                monitor.connect(str(self.folder / "monitor"))
                monitor.sendall(f"{command}\n".encode())
                heard = b""
                while heard.count(b"(qemu)") < 2 and (more := monitor.recv(4096)):
                    heard += more  # until the prompt after the command, or QEMU's end

    def _sends(self) -> bool:
        with suppress(OSError, ValueError):  # not started yet
            lines = Path(f"/proc/{self._qemu}/net/dev").read_text().splitlines()
            words = (line.replace(":", " ").split() for line in lines)
            return any(each[0] == "t0" and int(each[2]) + int(each[10]) > 100 for each in words)
        return False

    @property
    def _qemu(self) -> int:
        return int((self.folder / "pid").read_text())


@pytest.fixture
def sabotage(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Sabotage:
    folder = tmp_path_factory.mktemp("q")  # short, as the path of a socket must be
    program = folder / QEMU
    program.write_text(QEMU_WITH_MONITOR.format(folder=folder, qemu=shutil.which(QEMU)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    return Sabotage(folder, temporary)


def mark() -> None:
    """Marks what the command starts, but not the test's own helper processes."""
    os.environ["NATXY_TEST"] = os.environ["TMPDIR"]


def marked(folder: Path) -> list[str]:
    """Returns the command lines of the processes with the mark of a command in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"NATXY_TEST={folder}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


# What a command says before it measures, where AF_XDP is refused or no guest is in the cache.
WARNINGS = re.compile(r"natxy: (?:.*The lab uses packet sockets|building the guest from)")


def sentences_of(errors: str) -> list[str]:
    """Returns the lines of standard error, without the warnings."""
    return [line for line in errors.splitlines() if not WARNINGS.match(line)]


def test_a_warning_is_no_sentence_of_a_failure(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warn_of_fallback(DeviceKind(name="af_packet", refusal="AF_XDP is refused"))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with suppress(DutError):  # nothing is built
        usable_image(lambda: Packages(names=(), identity="none"), lambda _, folder: folder.rmdir())
    said = "\n".join([*caplog.messages, "natxy: it failed", "more"])
    assert len(caplog.messages) == 2
    assert sentences_of(said) == ["natxy: it failed", "more"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("nmi", "The guest's kernel panicked: .*Kernel panic.*NMI.*"),
        ("stop", "The guest did not answer in time; its console's last line was: .*"),
    ],
    ids=["panics", "hangs"],
)
def test_a_command_whose_guest_fails_in_a_trial_ends_with_one_sentence(
    command: str, sentence: str, sabotage: Sabotage, tmp_path: Path
) -> None:
    (testbed := tmp_path / "lab.toml").write_text(SIIT)

    def sabotaged() -> Done:
        thread = threading.Thread(target=sabotage.in_mid_trial, args=(command,))
        thread.start()
        options = ("--rate", str(RATE_FPS), "--duration", "3")
        done = natxy("trial", str(testbed), *options, before=mark)
        thread.join()
        return done

    done = valid_run(sabotaged)
    assert done.returncode == 1, done.stdout
    assert len(said := sentences_of(done.stderr)) == 1, done.stderr
    assert re.fullmatch(f"natxy: {sentence}", said[0])
    assert done.stdout == ""
    assert list(sabotage.temporary.iterdir()) == []
    assert len(sabotage.processes) >= 2  # the engine and QEMU
    assert marked(sabotage.temporary) == []
    assert sabotage.namespace.startswith("natxy-t-")
    assert not namespace_exists(sabotage.namespace)


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
    folder = SYSTEM / f"natxy-lab-{label}-0"
    assert qemu.lives()
    assert folder.exists()
    assert namespace_exists(namespace)
    sweep()
    assert not qemu.lives()
    assert not folder.exists()
    assert not namespace_exists(namespace)
