#!/usr/bin/env python3
"""Runs the named ladders of tests and prints `N passed, N failed` at the end.

A ladder consists of steps, and a step of rungs, which run at the same time: at most one of them
measures time, and the others then get what it leaves. If a rung fails, the end of its log is shown,
and the others still run.
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

ROOT = pathlib.Path(__file__).parents[1]
LOGS = ROOT / "build" / "test"
SHOWN_LINES = 80
PYTEST = [".venv/bin/pytest", "-q", "--durations=40"]
SHORT = ["-m", "not long"]
CPUS = os.cpu_count() or 1
# Tests that measure no time run in parallel. Many of them wait, so there are more of them than
# processors. tests/side_by_side.py names those that cannot run beside each other.
WITHOUT_TIME = [
    "tests/engine/test_memif_restart.py",
    "tests/engine/test_process.py",
    "tests/frames/test_capture.py",
    "tests/frames/test_golden.py",
    "tests/frames/test_icmp_errors.py",
    "tests/frames/test_judgement.py",
    "tests/frames/test_subscribers.py",
    "tests/frames/test_tcp.py",
    "tests/frames/test_tcpdump.py",
    "tests/frames/test_tshark.py",
    "tests/gateway/test_nat.py",
    "tests/gateway/test_program.py",
    "tests/gateway/test_translation.py",
    "tests/labs/test_claims.py",
    "tests/labs/test_documented_commands.py",
    "tests/labs/test_forwarding.py",
    "tests/labs/test_lifecycle.py",
    "tests/labs/test_ssh_connection.py",
    "tests/labs/test_ssh_recipes.py",
    "tests/labs/test_stateful_duts.py",
    "tests/labs/test_tcp_conntrack.py",
    "tests/labs/test_vlans_on_veths.py",
]
HARDWARE = "tests/hardware"  # the tester's guest; it builds an engine of its own
GUEST = "tests/guest"  # has a limit of its own, with the build of the guest


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rung:
    name: str
    command: list[str]
    limit_s: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tally:
    passed: int
    failed: int


Step = list[Rung]
STYLE = [
    Rung(name="format", command=["make", "format-check"], limit_s=120),
    Rung(name="lint", command=["make", "lint"], limit_s=120),
    Rung(name="types", command=["make", "types"], limit_s=300),
]
UNIT = [Rung(name="python-unit", command=["make", "unit"], limit_s=600)]
# Most of it is one compiler after the other, so the other processors have room for more.
GUEST_IMAGE = Rung(
    name="guest-image",
    command=[
        ".venv/bin/python",
        "-c",
        "from natxy.guest.image import usable_image; print(usable_image())",
    ],
    limit_s=600,
)
CHECK: list[Step] = [STYLE, UNIT]
LABS = [
    *(f"--ignore={path}" for path in ("tests/unit", "tests/accuracy", GUEST, *WITHOUT_TIME)),
    *SHORT,
]
TEST: list[Step] = [
    [
        *STYLE,
        GUEST_IMAGE,
        Rung(name="optimised-build", command=["make", "optimised-build"], limit_s=600),
    ],
    [
        Rung(name="cpp-asan-ubsan", command=["make", "cpp-asan-ubsan"], limit_s=1200),
        Rung(name="cpp-tsan", command=["make", "cpp-tsan"], limit_s=900),
    ],
    [
        Rung(name="fuzz", command=["make", "fuzz", "FUZZ_SECONDS=4"], limit_s=300),
        Rung(
            name="without-time",
            command=[*PYTEST, "-n", str(2 * CPUS), "--dist=loadgroup", *WITHOUT_TIME, *SHORT],
            limit_s=600,
        ),
    ],
    [Rung(name="cpp-optimised", command=["make", "cpp-optimised"], limit_s=600)],
    [Rung(name="accuracy", command=[*PYTEST, "tests/accuracy", *SHORT], limit_s=1800)],
    [Rung(name="gateways-and-labs", command=[*PYTEST, "tests", *LABS], limit_s=1200)],
    # A guest waits most of the time, and its processes have a priority over the unit tests.
    [
        Rung(name="guest", command=[*PYTEST, GUEST, *SHORT], limit_s=600),
        *(
            dataclasses.replace(rung, command=["chrt", "--idle", "0", *rung.command])
            for rung in UNIT
        ),
    ],
]
LONG = [
    Rung(name="fuzz-long", command=["make", "fuzz", "FUZZ_SECONDS=60"], limit_s=300),
    Rung(name="tidy", command=["make", "tidy"], limit_s=3600),
    Rung(name="planted", command=["make", "planted"], limit_s=3600),
    Rung(name="debian-13", command=["tools/chroot-test", "trixie"], limit_s=3600),
    Rung(name="hardware", command=["make", "hardware"], limit_s=7200),
    Rung(
        name="long",
        command=[*PYTEST, "tests", f"--ignore={HARDWARE}", "-m", "long"],
        limit_s=7200,
    ),
]
LADDERS = {"check": CHECK, "test": TEST, "test-long": [[rung] for rung in LONG]}


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


def climb(step: Step) -> list[Tally]:
    """Runs the rungs of a step; shows each when it ends."""
    print(f"  {', '.join(rung.name for rung in step)} ...", flush=True)
    runs: list[Run] = []
    tallies = []
    try:
        runs.extend(Run.start(rung) for rung in step)
        while runs:
            for each in [each for each in runs if each.has_ended()]:
                tallies.append(show(each))
                runs.remove(each)
            time.sleep(0.05)
    finally:
        for each in runs:
            end(each.process)
    return tallies


def show(ended: Run) -> Tally:
    """Ends a rung that is out of time, and prints what came of it."""
    status, seconds = ended.process.poll(), ended.seconds
    end(ended.process)
    log = ended.log.read_text(errors="replace")
    counted = tally(log, succeeded=status == 0)
    word = "ok" if status == 0 else "FAILED" if status is not None else "OUT OF TIME"
    print(
        f"{ended.rung.name:20}{word:12}{counted.passed:5} passed {counted.failed:4} failed "
        f"{seconds:7.1f} s",
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
    tallies = [counted for step in steps for counted in climb(step)]
    failed = sum(counted.failed for counted in tallies)
    print(f"{sum(counted.passed for counted in tallies)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    # A background job of a script ignores SIGINT by inheritance and could not be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
