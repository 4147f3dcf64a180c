"""Which numbers were lost and late, and when a sender paused, where that is known beforehand."""

import os
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import Thread

import pytest

from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.tester.tester import Tester
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trial import run_trial
from natxy.trial.trial_plan import TrialPlan
from tests.accuracy.calibration import LOSES_NOTHING_US, TIMING, gateway_that, valid_trial
from tests.valid import valid

RATE_FPS = 10_000
TOLERANCE_US = 20_000  # by which a frame may leave late
NEAR_NS = 1_000_000  # what others may take of a core in the same moment


def runs_of(numbers: list[int]) -> tuple[tuple[int, int, int], ...]:
    found: list[list[int]] = []
    for number in numbers:
        if found and sum(found[-1]) == number:
            found[-1][1] += 1
        else:
            found.append([number, 1])
    return tuple((first, span, span) for first, span in found)


@pytest.mark.parametrize("every", [(7,), (2, 3), (400,)])
def test_lost_runs_are_the_numbers_that_the_gateway_dropped(
    every: tuple[int, ...], tmp_path: Path
) -> None:
    """The second fault sees what the first one lets pass."""
    faults = (f'{{kind = "loss", direction = "forward", every = {each}}}' for each in every)
    with gateway_that(", ".join(faults), tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, dut):
        result, _ = valid_trial(session, dut, RATE_FPS)
    passed = list(range(int(RATE_FPS * TIMING.duration_s)))
    lost: list[int] = []
    for each in every:
        lost += passed[each - 1 :: each]
        del passed[each - 1 :: each]
    forward, reverse = result.streams
    assert forward.lost_runs == runs_of(sorted(lost))
    assert reverse.lost_runs == ()


def test_low_delays_are_of_equal_stretches(tmp_path: Path) -> None:
    """1,000 frames are 250 stretches of four, of which the gateway drops some and delays all."""
    faults = '{kind = "loss", every = 7}, {kind = "delay", pattern_ns = [2000000]}'
    with gateway_that(faults, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, dut):
        result, _ = valid_trial(session, dut, RATE_FPS)
    for stream in result.streams:
        counters = stream.kinds.foreground
        assert counters is not None
        assert [first for first, _ in stream.low_delays] == list(range(0, 1000, 4))
        delays_ns = [delay_ns for _, delay_ns in stream.low_delays]
        assert min(delays_ns) == round(counters.delay.min_ns) >= 2_000_000


def stopped(session: Session, *, for_s: float, shows: Callable[[TrialResult], bool]) -> TrialResult:
    """A trial in which the engine was stopped while it sent, as the result shows."""
    trials = (stopped_trial(session, seed, for_s=for_s) for seed in count(1))
    return valid(lambda: next(trials), lambda result: () if shows(result) else ("not stopped",))


def stopped_trial(session: Session, seed: int, *, for_s: float) -> TrialResult:
    """A trial of half a second, within which the engine is stopped."""
    timing = Timing(duration_s=Fraction(1, 2), drain_s=Fraction(1, 25))
    plan = TrialPlan(traffic=session.traffic, timing=timing)
    engine = session.engine
    assert isinstance(engine, Tester)

    def stop() -> None:
        time.sleep(0.25)
        os.kill(engine.pid, signal.SIGSTOP)
        time.sleep(for_s)
        os.kill(engine.pid, signal.SIGCONT)

    stopping = Thread(target=stop)
    stopping.start()
    try:
        spec = plan.spec(load=RATE_FPS, seed=seed, nonce=session.trials)
        return run_trial(spec, session).result
    finally:
        stopping.join()


def due_ns(stream: StreamResult, number: int) -> float:
    """When a number was due by the schedule at last, with the pauses up to it."""
    paused = (
        ns
        for before, ns, _ in stream.pauses.at
        if before <= number and (number - before) % stream.senders == 0
    )
    return number * 1e9 / RATE_FPS + sum(paused)


def away_ns(result: TrialResult) -> tuple[int, int]:
    """The longest time for which the loop of the tester's worker did not go on."""
    (worker,) = result.workers
    assert worker.phase == result.streams[0].phase
    return max(worker.away_at, key=lambda away: away[1] - away[0])


def test_a_pause_is_told_where_the_engine_was_stopped(tmp_path: Path) -> None:
    """30 ms are more than the 128 frames that a sender may make up for."""

    def paused(result: TrialResult) -> bool:
        return all(stream.pauses.longest_ns > 25e6 for stream in result.streams)

    with gateway_that("", tmp_path, tolerance_us=TOLERANCE_US) as (session, _):
        result = stopped(session, for_s=0.03, shows=paused)
    from_ns, until_ns = away_ns(result)
    for stream in result.streams:
        assert sum(ns for _, ns, _ in stream.pauses.at) == pytest.approx(
            stream.pauses.total_ns, abs=stream.pauses.count
        )
        before, ns, reason = max(stream.pauses.at, key=lambda pause: pause[1])
        assert reason == "core"
        assert due_ns(stream, before) == pytest.approx(until_ns, abs=NEAR_NS)
        assert due_ns(stream, before) - ns == pytest.approx(from_ns, abs=NEAR_NS)


def test_late_numbers_are_those_that_were_due_while_the_engine_was_stopped(tmp_path: Path) -> None:
    """A sender makes up for 8 ms without a pause."""

    def late(result: TrialResult) -> bool:
        """Other programs may take the core as well, and for longer."""
        return all(7e6 < stream.lateness.max_ns < 9e6 for stream in result.streams)

    with gateway_that("", tmp_path, tolerance_us=TOLERANCE_US) as (session, _):
        result = stopped(session, for_s=0.008, shows=late)
    from_ns, until_ns = away_ns(result)
    for stream in result.streams:
        # Other programs may have taken the core at other times.
        first, last = min(stream.late_runs, key=lambda run: abs(due_ns(stream, run[0]) - from_ns))
        assert due_ns(stream, first) == pytest.approx(from_ns, abs=NEAR_NS)
        assert due_ns(stream, last) == pytest.approx(until_ns, abs=NEAR_NS)
        assert stream.lateness.max_ns == pytest.approx(until_ns - from_ns, abs=NEAR_NS)
