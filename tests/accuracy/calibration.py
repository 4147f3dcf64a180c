"""The calibration gateway with its faults ordered, and valid trials through it.

Trials are short: the shorter one is, the likelier nobody takes a core away while it lasts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.model.testbed import read_testbed
from natxy.model.trial_result import TrialResult
from natxy.trial.load import Frames
from natxy.trial.session import FrameRecords, Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trial import Trial, run_trial
from natxy.trial.trial_plan import TrialPlan
from tests.accuracy.bench import BENCH
from tests.valid import valid

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 25))
# Noise spoils fewer of shorter trials. A bucket that is smaller as well lets as much through.
SHORT = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 50))
# A memif's ring holds 1024 frames: 20 ms at 50,000 fps. Where frames are counted and delays are
# not judged, whoever was away for less has lost nothing.
LOSES_NOTHING_US = 10_000
# A median of frames at even distances is not moved by one stretch of them that came late.
MOVES_NO_MEDIAN_US = 5_000

TESTBED = """
[tester]
cores = [0]
lateness_tolerance_us = {tolerance_us}
warm_up = "neighbours"             # no probe is in the record
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "calibration"
realtime = true
poll_gap_limit_us = {tolerance_us}
faults = [{fault}]
"""


@contextmanager
def gateway_that(
    fault: str,
    folder: Path,
    records: FrameRecords | None = None,
    *,
    tolerance_us: int = 1000,
) -> Iterator[tuple[Session, CalibrationDut]]:
    path = folder / "calibration.toml"
    path.write_text(TESTBED.format(fault=fault, tolerance_us=tolerance_us))
    testbed, source = read_testbed(path)
    if records is None:
        with BENCH.lab(testbed, source) as lab:
            yield lab
        return
    dut = dut_of(testbed, source)
    assert isinstance(dut, CalibrationDut)
    with set_up(testbed, source, dut, records) as session:
        yield session, dut


def valid_trial(
    session: Session,
    dut: CalibrationDut,
    load: Frames | int,
    *,
    quiet_ns: float | None = None,
    doubt: Callable[[TrialResult, Any], str | None] = lambda *_: None,
) -> tuple[TrialResult, Any]:
    """The result of a valid trial, and the gateway's record of it.

    quiet_ns: in which gateway and tester together were not away for longer.
    doubt: what else speaks against a trial, by its result and the gateway's record.
    """
    plan = TrialPlan(traffic=session.traffic, timing=TIMING)
    seeds = count(1)

    def attempt() -> tuple[Trial, Any]:
        # The trials of all tests with one engine have different nonces.
        spec = plan.spec(load=load, seed=next(seeds), nonce=session.trials)
        return run_trial(spec, session), dut.record()

    def reasons(outcome_and_record: tuple[Trial, Any]) -> list[object]:
        outcome, record = outcome_and_record
        against: list[object] = list(outcome.invalid_reasons)
        away = away_ns(outcome.result, record)
        if quiet_ns is not None and away > quiet_ns:
            against.append(f"gateway and tester were away for {away:.0f} ns")
        if doubted := doubt(outcome.result, record):
            against.append(doubted)
        return against

    outcome, record = valid(attempt, reasons)
    return outcome.result, record


def away_ns(result: TrialResult, record: Any) -> float:
    """The most by which gateway and tester can have been late for one frame, by both accounts."""
    tester_ns = max(port.worst_poll_gap_ns for port in result.ports)
    return float(record["worst_poll_gap_ns"]) + tester_ns
