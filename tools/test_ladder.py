#!/usr/bin/env python3
"""Runs the named ladders of tests and prints `N passed, N failed` at the end.

A ladder consists of steps, and a step of rungs, which run at the same time: at most one of them
measures time, and the others then get what it leaves. If a rung fails, the end of its log is shown,
and the others still run, except those that need what it could not build. The rung that failed first
is named at the end, with the first error of its log.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from rungs import LADDERS, NOT_BUILT, Rung, Step

ROOT = pathlib.Path(__file__).parents[1]
LOGS = ROOT / "build" / "test"
SHOWN_LINES = 80
# The first of these that a log has is the first error of its rung: that of a compiler, of pytest,
# of ctest, of make.
FIRST_ERRORS = (
    r"\berror: ",
    r"^(?:FAILED|ERROR) ",
    r"\*{3}(?:Failed|Exception|Timeout)",
    r"\*{3} ",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tally:
    passed: int
    failed: int


def tally(log: str, *, succeeded: bool) -> Tally:
    """Reads the counts of pytest, ctest or libFuzzer; a rung without counts is one test."""
    passed = sum(int(n) for n in re.findall(r"\b(\d+) passed", log))
    failed = sum(int(n) for n in re.findall(r"\b(\d+) (?:failed|errors?)\b", log))
    for bad, total in re.findall(r"(\d+) tests failed out of (\d+)", log):
        passed += int(total) - int(bad)
        failed += int(bad)
    if succeeded:
        return Tally(passed=max(passed, 1), failed=0)
    return Tally(passed=passed, failed=max(failed, 1))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failure:
    """A rung that failed, and why; a rung that was not run names the reason of another one."""

    rung: str
    why: str  # "failed", "did not build", "ran out of time", "not run: ..."
    log: pathlib.Path | None = None

    @property
    def stops_others(self) -> bool:
        return self.why != "failed"

    def missed_by(self, rung: Rung) -> "Failure":
        """Returns what becomes of a rung that needs this one."""
        why = f"not run: {self.rung} {self.why}" if self.log else self.why
        return Failure(rung=rung.name, why=why)

    def sentence(self) -> str:
        """Returns what failed, with the first error of the log and the place of the log."""
        if self.log is None:
            return f"{self.rung} {self.why}"
        error = first_error(self.log.read_text(errors="replace"))
        return f"{self.rung} {self.why}: {error} ({self.log.relative_to(ROOT)})"


def first_error(log: str) -> str:
    """Returns the line that a reader wants to see first; the last one if none is known."""
    lines = [line.strip() for line in log.splitlines() if line.strip()] or ["it printed nothing"]
    for pattern in FIRST_ERRORS:
        for line in lines:
            if re.search(pattern, line):
                return line
    return lines[-1]


@dataclasses.dataclass(kw_only=True)
class Run:
    """A rung that runs."""

    rung: Rung
    process: subprocess.Popen[bytes]
    log: pathlib.Path
    begin_s: float = dataclasses.field(default_factory=time.monotonic)

    @classmethod
    def start(cls, rung: Rung) -> "Run":
        log = LOGS / f"{rung.name}.log"
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        with log.open("wb") as output:
            process = subprocess.Popen(
                rung.command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(rung=rung, process=process, log=log)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begin_s

    def has_ended(self) -> bool:
        """Returns whether it has ended, or is out of time."""
        return self.process.poll() is not None or self.seconds >= self.rung.limit_s


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupts a running process, so that a lab can clean up, and kills it 30 s later."""
    for number, patience_s in ((signal.SIGINT, 30), (signal.SIGKILL, 10)):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue


def under_noise(rung: Rung, share: str) -> Rung:
    """Returns the same rung with noise, which takes this share of each core away."""
    told = ["env", f"NATXY_NOISE={share}"]  # so that tests with their own noise do not add more
    noise = ["tools/noise", "--share", share, "--"]
    return dataclasses.replace(rung, command=[*noise, *told, *rung.command])


@dataclasses.dataclass(kw_only=True)
class Climb:
    """What came of the rungs so far."""

    tallies: list[Tally] = dataclasses.field(default_factory=list)
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def step(self, step: Step) -> None:
        """Runs the rungs of a step; shows each when it ends."""
        step = [rung for rung in step if not self._is_stopped(rung)]
        if not step:
            return
        print(f"  {', '.join(rung.name for rung in step)} ...", flush=True)
        runs: list[Run] = []
        try:
            runs.extend(Run.start(rung) for rung in step)
            while runs:
                for each in [each for each in runs if each.has_ended()]:
                    self._take(each)
                    runs.remove(each)
                time.sleep(0.05)
        finally:
            for each in runs:
                end(each.process)

    def _is_stopped(self, rung: Rung) -> bool:
        """Returns whether a rung lacks what it needs; it then counts as one failed test."""
        for each in self.failures:
            if each.stops_others and each.rung == rung.needs:
                self.failures.append(each.missed_by(rung))
                self.tallies.append(Tally(passed=0, failed=1))
                print(f"{rung.name:20}{self.failures[-1].why}", flush=True)
                return True
        return False

    def _take(self, ended: Run) -> None:
        """Ends a rung that is out of time, and keeps and prints what came of it."""
        status = ended.process.poll()
        self.tallies.append(show(ended))
        if status != 0:
            why = {None: "ran out of time", NOT_BUILT: "did not build"}.get(status, "failed")
            self.failures.append(Failure(rung=ended.rung.name, why=why, log=ended.log))

    def summary(self) -> str:
        """Returns what failed first, what failed after it, and the counts."""
        lines = []
        if self.failures:
            first, *others = self.failures
            lines.append(f"Failed first: {first.sentence()}")
            lines += [f"Failed: {each.sentence()}" for each in others]
        passed, failed = (
            sum(getattr(each, name) for each in self.tallies) for name in ("passed", "failed")
        )
        return "\n".join([*lines, f"{passed} passed, {failed} failed"])


def show(ended: Run) -> Tally:
    """Ends a rung that is out of time, and prints what came of it."""
    status, seconds = ended.process.poll(), ended.seconds
    end(ended.process)
    log = ended.log.read_text(errors="replace")
    counted = tally(log, succeeded=status == 0)
    words = {None: "OUT OF TIME", 0: "ok", NOT_BUILT: "NOT BUILT"}
    print(
        f"{ended.rung.name:20}{words.get(status, 'FAILED'):12}{counted.passed:5} passed "
        f"{counted.failed:4} failed {seconds:7.1f} s",
        flush=True,
    )
    if status != 0:
        print("\n".join(log.splitlines()[-SHOWN_LINES:]))
        print(f"The whole log: {ended.log.relative_to(ROOT)}", flush=True)
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ladders", nargs="+", choices=LADDERS, help="what to run")
    parser.add_argument(
        "--noise", metavar="SHARE", help="take this share of each core, such as 5%% [default: none]"
    )
    arguments = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    steps = [step for name in arguments.ladders for step in LADDERS[name]]
    if arguments.noise:  # one after the other: each brings the noise with it
        steps = [[under_noise(rung, arguments.noise)] for step in steps for rung in step]
    climb = Climb()
    for step in steps:
        climb.step(step)
    print(climb.summary())
    return 1 if climb.failures else 0


if __name__ == "__main__":
    # A background job of a script ignores SIGINT by inheritance and could not be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
