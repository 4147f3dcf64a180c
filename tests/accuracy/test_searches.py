"""What searches find against a gateway whose limit is known, with valid trials only."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.model.verdict import Limit
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.throughput import ThroughputPlan, searches, throughput
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import pdr_goal, rfc2544_goal
from natxy.search.settings import LossTolerance
from natxy.trial.observer import Observer
from tests.accuracy.calibration import LOSES_NOTHING_US, SHORT, gateway_that
from tests.valid import ATTEMPTS, with_and_without_noise

LIMIT_FPS = 40_000
DEPTH = 100  # frames; it holds 2.5 ms of the limit, and who is away for longer overflows it
AWAY_US = 1250
EXCESS_FPS = DEPTH / SHORT.duration_s  # what the bucket lets through beyond its rate
ERROR = Fraction(1, 100)
RATE_LIMIT = f'{{kind = "rate_limit", rate_fps = {LIMIT_FPS}, depth = {DEPTH}}}'


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_mlrsearch_finds_the_limit_and_the_rate_with_tolerated_loss(tmp_path: Path) -> None:
    """Half of the frames beyond the limit are lost: 10 % loss are tolerated up to L / 0.9."""
    tolerance = LossTolerance(fraction=Fraction(1, 10))
    plan = MlrThroughputPlan(
        timing=SHORT,
        goals=(
            rfc2544_goal(final_duration_s=SHORT.duration_s, width=ERROR),
            pdr_goal(tolerance, final_duration_s=SHORT.duration_s, width=ERROR),
        ),
        seed=3,
        max_rate_fps=100_000,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(RATE_LIMIT, tmp_path, tolerance_us=AWAY_US) as (session, _):
        result = mlr_throughput(plan, session)
    ndr, pdr = result.figure("NDR"), result.figure("PDR (10 % loss)")
    assert not any(ndr.lower_bound + pdr.lower_bound)
    most_fps = LIMIT_FPS + EXCESS_FPS
    assert LIMIT_FPS * (1 - ERROR) <= ndr.values[0] <= most_fps
    assert LIMIT_FPS / 0.9 * (1 - ERROR) <= pdr.values[0] <= most_fps / 0.9


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_early_end_finds_the_same_and_sends_less(tmp_path: Path) -> None:
    """A trial that fails is over once a frame has been missing for the drain's time."""
    plan = ThroughputPlan(
        timing=SHORT,
        seed=3,
        repetitions=1,
        error=SearchError(fraction=ERROR),
        max_rate_fps=100_000,
        early_end=True,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(RATE_LIMIT, tmp_path, tolerance_us=AWAY_US) as (session, _):
        (found,) = searches(plan, plan.trials(session))
    assert found.limit is Limit.DUT
    assert LIMIT_FPS * (1 - ERROR) <= found.rate_fps <= LIMIT_FPS + EXCESS_FPS
    assert any("first certain loss" in str(deviation) for deviation in plan.deviations)


class SlowerWithFlows(Observer):
    """Gives the gateway the next limit as the search for the next number of flows begins."""

    def __init__(self, dut: CalibrationDut, limits_fps: Iterable[int]) -> None:
        self._dut = dut
        self._limits_fps = iter(limits_fps)

    def repetition_started(self, number: int, count: int) -> None:
        limit = {"kind": "rate_limit", "rate_fps": next(self._limits_fps), "depth": DEPTH}
        self._dut.configure(faults=[limit])


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_degradation_is_what_more_flows_cost(tmp_path: Path) -> None:
    error = Fraction(1, 20)
    limits_fps = {1: LIMIT_FPS, 10: 30_000, 1000: 10_000}
    search = ThroughputPlan(
        timing=SHORT,
        seed=3,
        repetitions=1,
        error=SearchError(fraction=error),
        max_rate_fps=60_000,
        invalid_repeats=ATTEMPTS,
    )
    plan = OverloadPlan(test=search, flows=(10, 1000))
    with gateway_that(RATE_LIMIT, tmp_path, tolerance_us=AWAY_US) as (session, dut):
        slower = SlowerWithFlows(dut, limits_fps.values())
        result = overload(plan, session.with_observer(slower))
    for flows, limit_fps in limits_fps.items():
        at = f"{flows:,} flow{'s' if flows > 1 else ''}"
        found = result.figure("throughput", at=at)
        least = 0.5 if any(found.lower_bound) else 1 - error
        assert limit_fps * least <= found.values[0] <= limit_fps + EXCESS_FPS
    if any(any(figure.lower_bound) for figure in result.figures):
        return  # noise left bounds, which have no ratio
    # Both throughputs may be too high by what the bucket lets through, and too low by the error.
    most = float(100 * (EXCESS_FPS / LIMIT_FPS + error))
    assert result.figure("degradation of throughput", at="10 flows").values == pytest.approx(
        (25,), abs=most
    )
    assert result.figure("degradation of throughput", at="1,000 flows").values == pytest.approx(
        (75,), abs=most
    )


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_frame_timeout_counts_what_comes_later_as_lost(tmp_path: Path) -> None:
    """Delays of 1 and 4 ms in turn: all come within 10 ms, every second one not within 2, so that
    only a trial of a single frame passes: 19 a second in 0.1 s."""
    delays = '{kind = "delay", pattern_ns = [1000000, 4000000]}'
    plan = ThroughputPlan(
        timing=replace(SHORT, frame_timeout_s=Fraction(1, 100)),
        seed=3,
        repetitions=1,
        error=SearchError(fraction=Fraction(1, 50)),
        max_rate_fps=1_000,
        invalid_repeats=ATTEMPTS,
    )
    strict = replace(plan, timing=replace(SHORT, frame_timeout_s=Fraction(2, 1000)))
    with gateway_that(delays, tmp_path) as (session, _):
        for asked, tried_fps in ((plan, 1_000), (strict, 39)):
            (counted_fps,) = throughput(asked, session).figures[0].values
            # Pauses take up to 2 % of a valid trial (decision 0017), and the error is 2 %.
            assert 0.96 * tried_fps <= counted_fps <= tried_fps


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_mlrsearch_judges_each_direction_for_itself(tmp_path: Path) -> None:
    """Each 125th frame of one direction is 0.8 % of it: too much, unless there are few frames, or
    absences explain some; of both directions together it would be 0.4 %, and 8,000 would pass."""
    tolerance = LossTolerance(fraction=Fraction(5, 1000))
    timing = replace(SHORT, duration_s=4 * SHORT.duration_s)
    goal = pdr_goal(tolerance, final_duration_s=timing.duration_s, width=Fraction(1, 20))
    plan = MlrThroughputPlan(
        timing=timing, goals=(goal,), seed=3, max_rate_fps=8_000, invalid_repeats=ATTEMPTS
    )
    fault = '{kind = "loss", direction = "forward", every = 125}'
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        pdr = mlr_throughput(plan, session).figure("PDR (0.5 % loss)")
    assert 0 < pdr.values[0] < 6_000  # or a lower bound, since the rate does not explain the losses
