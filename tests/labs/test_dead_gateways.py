"""A gateway that dies in the last trial of a measurement: there is no figure, and it is named."""

import os
import signal
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.errors import DutError
from natxy.model.event import Progress
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from tests.labs.trials import ROUTER4, TAYGA, testbed_of

# The engine tells its stage within 10 ms, if no one else has its CPU.
TIMING = Timing(duration_s=Fraction(3, 10), drain_s=Fraction(1, 20))
RATE_FPS = 1000
REPETITIONS = 2
TOLERANT = "[tester]\nlateness_tolerance_us = 1000000\n"  # the gateway's death is what counts
WITH_CALIBRATION = ROUTER4.replace("namespace", "calibration") + "poll_gap_limit_us = 1e9\n"
Kill = Callable[[Session], None]


class InLastRepetition(Observer):
    """Does something in the middle of the last repetition's first trial."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._is_last = self.done = False

    def repetition_started(self, number: int, count: int) -> None:
        self._is_last = number == count

    def trial_progressed(self, progress: Progress) -> None:
        if self._is_last and not self.done and progress.stage == "sending":
            self.done = True
            self._act()


def kill_tayga(session: Session) -> None:
    """Of this lab: the one whose configuration is in this lab's folder."""
    assert session.dut.tester_namespace is not None
    label = session.dut.tester_namespace.removeprefix("natxy-t-")
    (pid,) = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if f"natxy-lab-{label}-" in _text(path)
    ]
    os.kill(pid, signal.SIGKILL)


def remove_namespace(session: Session) -> None:
    assert session.dut.tester_namespace is not None
    gateway = session.dut.tester_namespace.replace("natxy-t-", "natxy-g-")
    subprocess.run(["ip", "netns", "del", gateway], check=True)


def kill_calibration(session: Session) -> None:
    process = getattr(session.dut, "_process", None)
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


GATEWAYS: dict[str, tuple[str, Kill, str]] = {
    "tayga": (TAYGA.format(more=""), kill_tayga, "tayga ended"),
    "namespace": (ROUTER4.format(more=""), remove_namespace, "lab is gone"),
    "calibration": (WITH_CALIBRATION.format(more=""), kill_calibration, "natxy-gateway ended"),
}


def killed(*short: str) -> pytest.MarkDecorator:
    """Returns the parameters of all gateways; those that are not in `short` are tested by
    `make test-long`."""
    return pytest.mark.parametrize(
        ("text", "kill", "sentence"),
        [
            pytest.param(*what, id=name, marks=() if name in short else pytest.mark.long)
            for name, what in GATEWAYS.items()
        ],
    )


@killed("tayga")
def test_latency_has_no_figure(text: str, kill: Kill, sentence: str) -> None:
    testbed, source, dut = testbed_of(TOLERANT + text)
    with set_up(testbed, source, dut) as session:
        observer = InLastRepetition(lambda: kill(session))
        # Some of these are clean, whatever was away for a moment.
        plan = LatencyPlan(
            timing=TIMING, seed=1, repetitions=REPETITIONS, rate_fps=RATE_FPS, tags=100
        )
        with pytest.raises(DutError, match=sentence):
            latency(plan, session.with_observer(observer))
    assert observer.done


@killed("calibration")
def test_throughput_has_no_figure(text: str, kill: Kill, sentence: str) -> None:
    """A search of one trial each: its error is as large as the rate."""
    testbed, source, dut = testbed_of(TOLERANT + text)
    with set_up(testbed, source, dut) as session:
        observer = InLastRepetition(lambda: kill(session))
        plan = ThroughputPlan(
            timing=TIMING,
            seed=1,
            repetitions=REPETITIONS,
            max_rate_fps=RATE_FPS,
            error=SearchError(rate_fps=RATE_FPS),
        )
        with pytest.raises(DutError, match=sentence):
            throughput(plan, session.with_observer(observer))
    assert observer.done
