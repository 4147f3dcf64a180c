"""Trials that the gateway's absence excuses, held against the gateway's own record of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.trials import Trials
from natxy.verdict.counted import Counting
from tests.accuracy.calibration import TIMING, gateway_that

RATE_FPS = 120_000
DEPTH = 3000  # frames: what waits while the gateway is away for 25 ms is let through afterwards
TRIALS = 10
ROUNDS = 20  # until noise has met one of them, or left one out
AS_A_SEARCH = Counting(above_fps=1, short=False)  # a FAIL at less than the rate is one at the rate


def trials_with_limit(limit_fps: int, folder: Path) -> list[tuple[TrialRecord, int]]:
    """Each with the frames that the gateway dropped for its limit, by its own record."""
    done = []
    fault = f'{{kind = "rate_limit", rate_fps = {limit_fps}, depth = {DEPTH}}}'
    with gateway_that(fault, folder, tolerance_us=20_000) as (setup, dut):
        trials = Trials(
            tester=setup.tester, dut=dut, timing=TIMING, campaign_seed=1, observer=Observer()
        )
        load = replace(steady(RATE_FPS, TIMING.duration_s), counting=AS_A_SEARCH)
        for seed in range(TRIALS):
            trial = trials.run(load=load, repetition=1, seed=seed)
            done.append((trial, dropped(dut.record())))
    return done


def dropped(record: Any) -> int:
    return sum(way["dropped"]["rate_limit"] for way in record["directions"].values())


@pytest.mark.parametrize("noise", ["20%"], indirect=True)
@pytest.mark.usefixtures("noise")
def test_below_its_limit_the_gateway_has_dropped_nothing_in_what_is_left_out(
    tmp_path: Path,
) -> None:
    """An absence of 10 ms is 1,200 frames, and its ring holds 1,024: some trials meet one."""
    excused: list[tuple[TrialRecord, int]] = []
    for _ in range(ROUNDS):
        done = trials_with_limit(RATE_FPS * 5 // 4, tmp_path)
        assert all(trial.verdict is not Verdict.FAIL for trial, _ in done)
        assert all(own == 0 for trial, own in done if trial.verdict is Verdict.PASS)
        excused += [each for each in done if "was away for" in "".join(each[0].invalid_reasons)]
        if excused:
            break
    assert excused, "no absence was long enough"
    assert all(own == 0 < trial.result.lost for trial, own in excused)


@pytest.mark.parametrize("noise", ["20%"], indirect=True)
@pytest.mark.usefixtures("noise")
def test_above_its_limit_no_trial_passes_and_what_is_kept_has_failed_by_the_limit(
    tmp_path: Path,
) -> None:
    kept: list[int] = []
    for _ in range(ROUNDS):
        done = trials_with_limit(RATE_FPS // 4, tmp_path)
        assert all(trial.verdict is not Verdict.PASS for trial, _ in done)
        assert all(own > 0 for _, own in done), "also in what is left out"
        kept += [own for trial, own in done if trial.verdict is Verdict.FAIL]
        if kept:
            break
    assert kept, "no absence was short enough"
    assert all(own > 0 for own in kept)
