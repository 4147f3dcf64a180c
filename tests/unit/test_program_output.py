"""Programs that print without end are ended, with a sentence, wherever Natxy reads them."""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.runner import run_hook
from natxy.dut.command import CommandDut, run_shell
from natxy.dut.config import CommandConfig
from natxy.dut.daemons import Process
from natxy.dut.execution import execute
from natxy.dut.recipe import drivers
from natxy.errors import DutError
from natxy.guest.channel import Channel, ChannelError
from natxy.program_output import LIMIT_BYTES, last_line, run

TOO_MUCH = r"printed more than 16 MiB \(expected less\)"
GROWS_BY_KIB = 8 * LIMIT_BYTES // 1024


def test_what_fits_is_returned_and_what_is_fed_is_read() -> None:
    text = "x" * 3_000_000
    done = run(["sh", "-c", "cat; echo wrong >&2; exit 3"], feed=text, timeout_s=10)
    assert (done.status, done.output, done.errors) == (3, text, "wrong\n")
    assert run(["true"], feed=text, timeout_s=10).status == 0  # it reads nothing


@pytest.mark.parametrize("to", ["", ">&2"])
def test_an_endless_command_of_a_gateway_is_ended(to: str) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DutError, match=rf"dut\.telemetry: `yes marrow-6 {to}` {TOO_MUCH}"):
        run_shell("telemetry", f"yes marrow-6 {to}", 60)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < GROWS_BY_KIB
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if "yes marrow-6" in line]


def test_endless_telemetry_is_one_sentence() -> None:
    config = CommandConfig(kind="command", telemetry="yes connections 1")
    with pytest.raises(DutError, match=TOO_MUCH):
        CommandDut(config, lambda *_: None).telemetry()


def test_an_endless_program_of_a_lab_and_of_an_experiment_is_ended() -> None:
    with pytest.raises(DutError, match=rf"`yes` {TOO_MUCH}"):
        execute(["yes"])
    with pytest.raises(DutError, match=rf"hooks\.before: `yes` {TOO_MUCH}"):
        run_hook("hooks.before", ["yes"], 60)


def test_a_program_that_closes_its_output_and_stays_is_ended_in_time() -> None:
    begin_s = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", "exec >&- 2>&-; sleep 30"], timeout_s=0.3)
    assert time.monotonic() - begin_s < 10


def test_a_tayga_that_prints_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tayga").write_text("#!/bin/sh\nexec tr '\\0' x </dev/zero\n")
    (tmp_path / "tayga").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (daemon,) = drivers("namespace")["tayga"].daemons
    tayga = Process(daemon, tmp_path, ["tayga"], first=False)
    with pytest.raises(DutError, match=rf"tayga {TOO_MUCH}"):
        tayga.start()
    (log,) = tmp_path.glob("*.log")
    assert log.stat().st_size == LIMIT_BYTES
    tayga.stop()


def test_a_guest_that_announces_too_much_is_not_read() -> None:
    own, other = socket.socketpair()
    with other:
        other.sendall(f"0 {LIMIT_BYTES + 1}\n".encode())
        channel = Channel(own)
        with pytest.raises(ChannelError, match=TOO_MUCH):
            channel.run(":", 5)
        channel.close()


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(2**33)  # 8 GiB of zeros, without a block on the disk
        file.seek(0, 2)
        file.write(b"\nthe reason\n")
    assert last_line(log) == "the reason"


def test_another_thread_runs_programs_as_well() -> None:
    said: list[str] = []
    command = [sys.executable, "-c", "print(1)"]
    thread = threading.Thread(target=lambda: said.append(run(command, timeout_s=30).output))
    thread.start()
    thread.join()
    assert said == ["1\n"]


def test_an_interrupt_while_a_program_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes when the program is there, and Popen has not returned yet."""
    started: list[int] = []
    start = subprocess.Popen.__init__

    def interrupted(process: Any, *arguments: Any, **options: Any) -> None:
        start(process, *arguments, **options)
        started.append(process.pid)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess.Popen, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "60"], timeout_s=60)
    (pid,) = started
    assert not Path(f"/proc/{pid}").exists()
