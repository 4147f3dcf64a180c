"""The noise generator: its schedule on a clock of the test's own, and one short real run."""

import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from tests.nobody import AS_NOBODY
from tools.noise import Ended, Pieces, Schedule, Taken, wait

NOISE = Path(__file__).parents[2] / "tools" / "noise"
PIECES = Pieces(shortest_s=1e-4, longest_s=1e-2)
TAKEN = re.compile(r"CPU \d+: ([\d.]+)% of ([\d.]+) s taken in (\d+) pieces, the longest ([\d.]+)")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="SCHED_FIFO needs root")


class Over(Exception):
    """The simulated minute is over."""


class FakeClock:
    """Time that passes only where somebody sleeps or spins."""

    def __init__(self, end_s: float) -> None:
        self._now_s, self._end_s = 0.0, end_s
        self.sleeps_s: list[float] = []

    def now(self) -> float:
        return self._now_s

    def sleep(self, for_s: float) -> None:
        self.sleeps_s.append(for_s)
        self.spin(self._now_s + for_s)

    def spin(self, until_s: float) -> None:
        self._now_s = until_s
        if until_s > self._end_s:
            raise Over


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5])
def test_a_minute_has_the_share_that_was_asked_for(share: float, seed: int) -> None:
    taken = Taken()
    with pytest.raises(Over):
        Schedule(share=share, pieces=PIECES, chance=Random(seed)).take(FakeClock(60), taken)
    slack = 0.02 if share > 0.01 else 0.05  # 1 % is fewer than five pieces a second
    assert taken.taken_s / 60 == pytest.approx(share, rel=slack)
    assert PIECES.shortest_s < taken.longest_s < PIECES.longest_s
    assert taken.pieces == pytest.approx(60 * share / PIECES.mean_s, rel=0.15)


def test_pieces_are_log_uniform_and_gaps_exponential() -> None:
    chance = Random(1)
    lengths_s = sorted(PIECES.draw_s(chance) for _ in range(10_000))
    assert lengths_s[5000] == pytest.approx(1e-3, rel=0.05)  # the geometric middle
    clock = FakeClock(60)
    with pytest.raises(Over):
        Schedule(share=0.05, pieces=PIECES, chance=chance).take(clock, Taken())
    mean_s = sum(clock.sleeps_s) / len(clock.sleeps_s)
    assert mean_s == pytest.approx(PIECES.mean_s * 19, rel=0.15)
    longer = sum(1 for gap_s in clock.sleeps_s if gap_s > mean_s)
    assert longer / len(clock.sleeps_s) == pytest.approx(0.37, abs=0.05)  # 1/e


def noise(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NOISE, *arguments], capture_output=True, text=True, check=False, timeout=30
    )


@needs_root
def test_it_takes_the_core_and_says_how_much() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = str(min(os.sched_getaffinity(0)))
    done = noise("--share", "20%", "--cpus", cpu, "--pieces", "0.1ms-2ms", "--seconds", "2")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    (said,) = TAKEN.findall(done.stderr)
    share, seconds, pieces, longest_ms = (float(value) for value in said)
    assert share == pytest.approx(20, rel=0.25)
    assert seconds == pytest.approx(2, abs=0.5)
    assert pieces > 100
    assert longest_ms > 1
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used_s > 0.5 * share / 100 * seconds, "by the kernel's account too"


@needs_root
@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_its_status_is_the_commands(script: str, status: int) -> None:
    done = noise("--share", "1%", "--", "sh", "-c", f"echo here; {script}")
    assert (done.returncode, done.stdout) == (status, "here\n")
    assert TAKEN.search(done.stderr)


def workers_of(pid: int) -> list[Path]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path("/proc") / child for child in children]


def gone(processes: list[Path]) -> bool:
    deadline_s = time.monotonic() + 10
    while any(process.exists() for process in processes):
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.01)
    return True


@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_it_ends_the_noise(number: signal.Signals) -> None:
    process = subprocess.Popen([NOISE, "--share", "1%"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("noise: seed ")
    while len(workers := workers_of(process.pid)) < len(os.sched_getaffinity(0)):
        time.sleep(0.01)
    process.send_signal(number)
    with process:
        process.wait(10)
    assert gone(workers)


def test_a_signal_just_before_a_sleep_is_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel does not end a sleep that has not begun when a signal comes."""
    slept_s: list[float] = []

    def sleep(for_s: float) -> None:
        slept_s.append(for_s)
        if len(slept_s) == 3:
            raise Ended

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Ended):
        wait(float("inf"))
    assert max(slept_s) <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--share", "95%"], "95% is out of range (expected 0% to 90%)"),
        (["--pieces", "1ms"], '"1ms" is not a range of times (expected a range such as'),
        (["--pieces", "2ms-1ms"], "2ms-1ms is out of range (expected the shorter first"),
        (["--cpus", "9999"], "this process may not use CPU 9999 (expected some of "),
        (["--seconds", "1", "--", "true"], "--seconds: is not possible with a command"),
        (["--share", "0%", "--", "/no/program"], "/no/program: No such file or directory"),
    ],
)
def test_what_it_cannot_do_is_a_sentence(arguments: list[str], words: str) -> None:
    done = noise(*arguments)
    assert done.returncode != 0
    assert words in done.stderr.splitlines()[-1]


@needs_root
def test_without_the_right_to_it_is_a_sentence() -> None:
    """Also in a clone in a folder of root's, such as /root."""
    done = subprocess.run(
        [*AS_NOBODY, NOISE, "--seconds", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "noise: SCHED_FIFO 50: Operation not permitted (expected root or CAP_SYS_NICE)\n"
    )
