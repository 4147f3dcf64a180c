"""New connections beside a load, through a gateway for which a new connection has a known cost."""

from fractions import Fraction
from pathlib import Path

import pytest

from natxy.model.measurement import Measurement
from natxy.model.testbed import read_testbed
from natxy.procedure.churn import ChurnPlan, churn
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.accuracy.bench import BENCH
from tests.valid import ATTEMPTS, with_and_without_noise

# 60,000 packets a second, or as many fewer as connections are created, times 10.
WORK_PER_S, CREATED, DEPTH = 60_000, 10, 100
LOAD_FPS, NEW_CPS = 10_000, 4000  # 2 x 10,000 + 10 x 4,000 = 60,000
TESTBED = f"""
[tester]
cores = [0]
burst_limit_frames = 4
[traffic]
left_ip_version = 4
right_ip_version = 4
[traffic.forward]
source_port = {{mode = "pseudorandom", min = 10000, max = 19999}}
destination_port = {{mode = "pseudorandom", min = 1, max = 10}}
[connections]
count = 100
sample = 0
rate_fps = 5000
incomplete = "repeat"  # of frames that come at once, the gateway takes 10
[dut]
kind = "calibration"
realtime = true
poll_gap_limit_us = 1500  # the bucket holds 1.7 ms of work
nat = {{work = {{per_s = {WORK_PER_S}, depth = {DEPTH}, created = {CREATED}}}}}
"""
# A full bucket lets DEPTH packets more pass in a trial: 0.6 % of NEW_CPS, 1.25 % of LOAD_FPS.
TIMING = Timing(duration_s=Fraction(2, 5), drain_s=Fraction(3, 100))
NEAR = 0.03
ERROR = SearchError(fraction=Fraction(1, 100))


def measure(plan: ChurnPlan, folder: Path) -> Measurement:
    path = folder / "churn.toml"
    path.write_text(TESTBED)
    with BENCH.lab(*read_testbed(path)) as (session, _):
        return churn(plan, session)


@pytest.mark.long
@with_and_without_noise
@pytest.mark.parametrize(
    ("load_fps", "new_cps", "truth"),
    [(LOAD_FPS, None, NEW_CPS), (None, NEW_CPS, LOAD_FPS)],
    ids=["new connections", "load"],
)
def test_the_rate_follows_from_the_cost_of_a_connection(
    load_fps: int | None, new_cps: int | None, truth: int, noise: str, tmp_path: Path
) -> None:
    plan = ChurnPlan(
        timing=TIMING,
        seed=5,
        repetitions=1,
        error=ERROR,
        max_rate_fps=2 * truth,
        loss_verifications=3,
        invalid_repeats=ATTEMPTS,
        load_fps=load_fps,
        new_cps=new_cps,
    )
    result = measure(plan, tmp_path)
    found, *latencies = result.figures
    (value,) = found.values
    assert value <= truth * (1 + NEAR)
    if any(found.lower_bound):  # noise asked for more patience than a search has
        assert noise != "0%"
        assert result.counts.invalid_trials
        return
    assert value >= truth * (1 - NEAR)
    assert len(latencies) == 4
    assert all(figure.values[0] > 0 for figure in latencies)
