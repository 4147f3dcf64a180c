"""Takes a share of each core away, in pieces at random times, as a busy host does.

On each core, a real-time process sleeps for exponential times and spins for log-uniform times. A
command after `--` runs under this noise; its exit status is that of `tools/noise`.

    tools/noise --share 5% -- make demo
    tools/noise --share 10% --pieces 1ms-20ms --cpus 1 --seconds 60
"""

import argparse
import contextlib
import ctypes
import dataclasses
import gc
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import NoReturn, Protocol

PRIORITY = 50  # above the tester's workers, which have 5
HORIZON_S = 2.0  # time within which a random deviation of the share is corrected
UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
PR_SET_PDEATHSIG = 1
THROTTLE = pathlib.Path("/proc/sys/kernel")


class Refused(Exception):
    """An error in one sentence: where, what is wrong, what was expected."""


class Ended(BaseException):
    """A signal asked this process to end."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pieces:
    """Log-uniform lengths between two bounds: as many from 0.1 to 1 ms as from 1 to 10 ms."""

    shortest_s: float
    longest_s: float

    @property
    def mean_s(self) -> float:
        if self.shortest_s == self.longest_s:
            return self.shortest_s
        return (self.longest_s - self.shortest_s) / math.log(self.longest_s / self.shortest_s)

    def draw_s(self, chance: random.Random) -> float:
        return self.shortest_s * math.pow(self.longest_s / self.shortest_s, chance.random())


@dataclasses.dataclass
class Taken:
    """The time that one process took of its core."""

    elapsed_s: float = 0.0
    taken_s: float = 0.0
    pieces: int = 0
    longest_s: float = 0.0

    def add(self, piece_s: float) -> None:
        self.taken_s += piece_s
        self.pieces += 1
        self.longest_s = max(self.longest_s, piece_s)


class Clock(Protocol):
    """A source of time; tests use a fake one."""

    def now(self) -> float: ...
    def sleep(self, for_s: float) -> None: ...
    def spin(self, until_s: float) -> None: ...


class RealClock:
    """The monotonic clock, and a core that is kept busy."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

    @staticmethod
    def spin(until_s: float) -> None:
        now = time.monotonic  # saves a look-up per turn
        while now() < until_s:
            pass


@dataclasses.dataclass(frozen=True, kw_only=True)
class Schedule:
    """Determines when the next piece begins and how long it is."""

    share: float
    pieces: Pieces
    chance: random.Random

    def gap_s(self, taken: Taken) -> float:
        """Returns an exponential time, whose mean corrects random deviations of the share."""
        mean_s = self.pieces.mean_s * (1 - self.share) / self.share
        ahead_s = taken.taken_s / self.share - taken.elapsed_s
        correction = max(-2.0, min(2.0, ahead_s / HORIZON_S))
        return self.chance.expovariate(1 / mean_s) * math.exp(correction)

    def take(self, clock: Clock, taken: Taken) -> NoReturn:
        """Sleeps and spins until an exception ends it; `taken` is always up to date."""
        begin_s = clock.now()
        while True:
            clock.sleep(self.gap_s(taken))
            piece_begins_s = clock.now()
            taken.elapsed_s = piece_begins_s - begin_s
            clock.spin(piece_begins_s + self.pieces.draw_s(self.chance))
            taken.add(clock.now() - piece_begins_s)


def end(_number: int, _frame: object) -> NoReturn:
    raise Ended


def end_with_parent(number: int, parent: int) -> None:
    """Makes the kernel send this process a signal when its parent dies for any reason."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it died before the call of prctl
        os.kill(os.getpid(), number)


def work(cpu: int, schedule: Schedule, report: int, parent: int) -> None:
    """Takes one core away until SIGTERM, then writes what it took to a pipe.

    SIGTERM is unblocked only while the schedule runs, where its exception is certain to be caught.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets Ctrl-C and ends this process
    end_with_parent(signal.SIGKILL, parent)
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    gc.disable()  # a garbage collection would lengthen a piece
    taken = Taken()
    begin_s = time.monotonic()
    with contextlib.suppress(Ended):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        schedule.take(RealClock(), taken)
    taken.elapsed_s = time.monotonic() - begin_s
    os.write(report, json.dumps(dataclasses.asdict(taken)).encode())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Worker:
    """A process that takes one core away."""

    cpu: int
    pid: int
    report: int

    @classmethod
    def start(cls, cpu: int, schedule: Schedule) -> "Worker":
        report, end_of_worker = os.pipe()
        parent = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        pid = os.fork()
        if pid == 0:
            try:
                work(cpu, schedule, end_of_worker, parent)
            finally:
                os._exit(0)
        os.close(end_of_worker)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return cls(cpu=cpu, pid=pid, report=report)

    def stop(self) -> str:
        """Ends the process. Returns a sentence on the time that it took."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        with os.fdopen(self.report, "rb") as pipe:
            written = pipe.read()
        os.waitpid(self.pid, 0)
        if not written:
            return f"CPU {self.cpu}: its process ended without a report"
        taken = Taken(**json.loads(written))
        share = taken.taken_s / taken.elapsed_s if taken.elapsed_s else 0.0
        return (
            f"CPU {self.cpu}: {share:.2%} of {taken.elapsed_s:.2f} s taken in {taken.pieces} "
            f"pieces, the longest {taken.longest_s * 1e3:.2f} ms"
        )


@contextlib.contextmanager
def workers(schedules: dict[int, Schedule]) -> Iterator[None]:
    """Makes noise on these CPUs while the block runs; reports to standard error."""
    started: list[Worker] = []
    try:
        for cpu, schedule in schedules.items():
            started.append(Worker.start(cpu, schedule))
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # all workers must be ended
        for worker in started:
            print(f"noise: {worker.stop()}", file=sys.stderr, flush=True)


def run(command: list[str]) -> int:
    """Runs the command. It gets Ctrl-C from the terminal; SIGTERM is passed on to it."""
    parent = os.getpid()
    try:
        ends = partial(end_with_parent, signal.SIGTERM, parent)
        process = subprocess.Popen(command, preexec_fn=ends)
    except OSError as error:
        raise Refused(f"{command[0]}: {error.strerror} (expected a program)") from error
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    status = process.wait()
    return status if status >= 0 else 128 - status


def seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)(us|ms|s)", text)
    if not found:
        raise ValueError(text)
    return float(found[1]) * UNITS_S[found[2]]


def share(text: str) -> float:
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 <= value <= 0.9:
        raise argparse.ArgumentTypeError(f"{text} is out of range (expected 0% to 90%)")
    return value


def pieces(text: str) -> Pieces:
    try:
        shortest_s, longest_s = (seconds(part) for part in text.split("-"))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a range of times (expected a range such as 0.1ms-10ms)'
        ) from None
    if not 0 < shortest_s <= longest_s <= 0.5:
        raise argparse.ArgumentTypeError(
            f"{text} is out of range (expected the shorter first, at most 0.5s)"
        )
    return Pieces(shortest_s=shortest_s, longest_s=longest_s)


def cpus(text: str) -> list[int]:
    allowed = os.sched_getaffinity(0)
    try:
        wanted = [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a list of CPUs (expected a list such as 0,1)'
        ) from None
    for cpu in set(wanted) - allowed:
        choice = ",".join(map(str, sorted(allowed)))
        raise argparse.ArgumentTypeError(
            f"this process may not use CPU {cpu} (expected some of {choice})"
        )
    return list(dict.fromkeys(wanted))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="noise",
        usage="%(prog)s [OPTIONS] [-- COMMAND...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    everywhere = sorted(os.sched_getaffinity(0))
    parser.add_argument(
        "--share", type=share, default=0.05, help="share of each core to take [default: 5%%]"
    )
    parser.add_argument(
        "--pieces",
        type=pieces,
        default=pieces("0.1ms-10ms"),
        help="range of the lengths of pieces, log-uniform [default: 0.1ms-10ms]",
    )
    parser.add_argument("--cpus", type=cpus, default=everywhere, help="CPUs to use [default: all]")
    parser.add_argument(
        "--seconds", type=float, help="duration [default: until COMMAND ends, or Ctrl-C]"
    )
    parser.add_argument("--seed", type=int, default=None, help="repeat the noise of an earlier run")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:split])
    options.command = words[split + 1 :]
    if options.command and options.seconds is not None:
        parser.error("--seconds: is not possible with a command (expected one of them)")
    return options


def check_real_time(wanted: float) -> None:
    """Raises Refused if this process cannot take a core away."""
    runtime_us, period_us = (
        int((THROTTLE / f"sched_rt_{name}_us").read_text()) for name in ("runtime", "period")
    )
    if 0 <= runtime_us < wanted * period_us:
        raise Refused(
            f"/proc/sys/kernel/sched_rt_runtime_us: {runtime_us} of {period_us} us gives real-time "
            f"processes less than the share (expected {wanted:.0%} or more, or -1)"
        )
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError as error:
        raise Refused(
            f"SCHED_FIFO {PRIORITY}: {error.strerror} (expected root or CAP_SYS_NICE)"
        ) from error
    os.sched_setscheduler(0, before, parameter)


def schedules(options: argparse.Namespace) -> dict[int, Schedule]:
    if options.share == 0:
        return {}
    check_real_time(options.share)
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"noise: seed {seed}", file=sys.stderr, flush=True)
    return {
        cpu: Schedule(
            share=options.share, pieces=options.pieces, chance=random.Random(f"{seed}/{cpu}")
        )
        for cpu in options.cpus
    }


def wait(for_s: float) -> None:
    """Sleeps in short pieces: a signal just before a sleep would only be seen after it."""
    until_s = time.monotonic() + for_s
    while (left_s := until_s - time.monotonic()) > 0:
        time.sleep(min(1.0, left_s))


def main() -> int:
    signal.signal(signal.SIGINT, end)  # also if it is ignored by inheritance
    signal.signal(signal.SIGTERM, end)
    end_with_parent(signal.SIGTERM, os.getppid())
    options = arguments()
    try:
        with workers(schedules(options)):
            if options.command:
                return run(options.command)
            wait(math.inf if options.seconds is None else options.seconds)
    except Ended:
        return 0 if options.seconds is None else 130
    except Refused as refused:
        print(f"noise: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
