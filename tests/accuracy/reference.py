"""The reference gateway with its faults ordered, and valid trials through it."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.choice import dut_of
from natxy.dut.reference import ReferenceDut
from natxy.model.testbed import read_testbed
from natxy.model.trial_result import TrialResult
from natxy.procedure.observer import Observer
from natxy.procedure.setup import FrameRecords, Setup, set_up
from natxy.procedure.timing import Timing
from natxy.procedure.trial import Load, TrialPlan, run_trial

TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
ATTEMPTS = 20

TESTBED = """
[tester]
cores = [0]
warm_up = "neighbours"             # no probe is in the record
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "reference"
realtime = true
poll_gap_limit_us = 1000           # a gateway that was away is not the one that was ordered
faults = [{fault}]
"""


@contextmanager
def gateway_that(
    fault: str, folder: Path, records: FrameRecords | None = None
) -> Iterator[tuple[Setup, ReferenceDut]]:
    path = folder / "reference.toml"
    path.write_text(TESTBED.format(fault=fault))
    testbed, source = read_testbed(path)
    dut = dut_of(testbed, source)
    assert isinstance(dut, ReferenceDut)
    with set_up(testbed, source, dut, records) as setup:
        yield setup, dut


def valid_trial(
    setup: Setup, dut: ReferenceDut, load: Load | int, *, attempts: int = ATTEMPTS
) -> tuple[TrialResult, Any]:
    """The result of a valid trial, and the gateway's record of it."""
    plan = TrialPlan(traffic=setup.traffic, timing=TIMING)
    reasons: tuple[str, ...] = ()
    for nonce in range(1, attempts + 1):
        spec = plan.spec(load=load, seed=nonce, nonce=nonce)
        outcome = run_trial(spec, setup.tester, dut, Observer())
        if not outcome.invalid_reasons:
            return outcome.result, dut.record()
        reasons = outcome.invalid_reasons
    pytest.fail(f"no valid trial in {attempts}: {reasons}")
