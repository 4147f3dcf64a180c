"""The capacity of a table that is known is found to one entry, and what a deletion costs is what
the gateway says."""

from fractions import Fraction
from pathlib import Path

import pytest

from natxy.measure.table_size import Size
from natxy.model.testbed import read_testbed
from natxy.procedure.capacity import CAPACITY, CapacityPlan, capacity
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.search.bisection import SearchError
from natxy.search.capacity_goal import CapacityGoal
from natxy.trial.timing import Timing
from tests.accuracy.bench import BENCH
from tests.valid import ATTEMPTS, with_and_without_noise

TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
COARSE = SearchError(fraction=Fraction(1, 4))
# Mapping by remote endpoint: one address outside has ports for more than 64,512 connections.
TESTBED = """
[tester]
cores = [0]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = 1000
rate_fps = 20000
[dut]
kind = "calibration"
poll_gap_limit_us = 20000
nat = {{mapping = "address-and-port-dependent", entries = {entries}{more}}}
"""


def testbed_file(folder: Path, entries: int, more: str) -> Path:
    path = folder / "capacity.toml"
    path.write_text(TESTBED.format(entries=entries, more=more))
    return path


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize(  # more than one port each, and than 2^16
    ("entries", "noise"),
    [
        (10_000, "0%"),
        pytest.param(70_001, "0%", marks=pytest.mark.long),
        pytest.param(10_000, "5%", marks=pytest.mark.long),
        pytest.param(70_001, "5%", marks=pytest.mark.long),
    ],
    indirect=["noise"],
)
def test_capacity_is_found_exactly(entries: int, tmp_path: Path) -> None:
    goal = CapacityGoal(
        c0=entries * 2 // 3,
        error=1,
        first_cps=40_000,
        rate_error=COARSE,
        max_cps=160_000,
        patience=10,
        invalid_repeats=ATTEMPTS,
    )
    # What exists takes more than what is new: validation may be faster than phase 1.
    plan = CapacityPlan(timing=TIMING, seed=1, repetitions=1, goal=goal, alpha=Fraction(3))
    with BENCH.lab(*read_testbed(testbed_file(tmp_path, entries, ""))) as (session, _):
        result = capacity(plan, session)
    assert result.figure(CAPACITY).values == (float(entries),)
    assert result.figure("CS").values[0] <= entries < result.figure("CT").values[0]


# Neither is what the gateway's own work takes, so that each must be recovered from the other.
FLUSH_S, DELETION_S = 0.03, 20e-6
COUNTS = (1000, 5000)
NEAR_S = 0.004  # of a median; an absence of the gateway's core counts only where it ends a deletion


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_tear_down_rate_is_what_a_deletion_costs(tmp_path: Path) -> None:
    """1 / deletion_ns, whatever the deletion of an empty table takes."""
    costs = f", flush_ns = {int(FLUSH_S * 1e9)}, deletion_ns = {int(DELETION_S * 1e9)}"
    plan = TearDownPlan(
        timing=TIMING,
        seed=1,
        repetitions=3,
        sizes=tuple(Size(connections=count) for count in COUNTS),
        incomplete_repeats=ATTEMPTS,
    )
    with BENCH.lab(*read_testbed(testbed_file(tmp_path, 65536, costs))) as (session, _):
        result = tear_down(plan, session)
    for count in COUNTS:
        at = f"{count:,} connections"
        full_s = result.figure("full table deletion time", at=at).values
        empty_s = result.figure("empty table deletion time", at=at).values
        assert min(full_s) >= FLUSH_S + count * DELETION_S
        assert min(empty_s) >= FLUSH_S
        (rate_cps,) = next(f for f in result.figures if f.at == at and "rate" in f.name).values
        assert count / rate_cps == pytest.approx(count * DELETION_S, abs=NEAR_S)
