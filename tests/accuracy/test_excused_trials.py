"""Trials that the gateway's absence excuses, held against the gateway's own record of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from natxy.model.reason import Code
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.trial.trials import Trials
from natxy.verdict.counted import Counting
from tests.accuracy.calibration import TIMING, gateway_that

RATE_FPS = 120_000
DEPTH = 3000  # frames: what waits while the gateway is away for 25 ms is let through afterwards
LEAST, MOST = 5, 200  # trials, until noise has met one of them, or left one out
AS_A_SEARCH = Counting(above_fps=1, short=False)  # a FAIL at less than the rate is one at the rate
Done = tuple[TrialRecord, int]


def trials_until(wanted: Callable[[TrialRecord], bool], limit_fps: int, folder: Path) -> list[Done]:
    """Each with the frames that the gateway dropped for its limit, by its own record; at least
    LEAST trials, and the first one that is wanted."""
    done: list[Done] = []
    fault = f'{{kind = "rate_limit", rate_fps = {limit_fps}, depth = {DEPTH}}}'
    with gateway_that(fault, folder, tolerance_us=20_000) as (session, dut):
        trials = Trials(session=session, timing=TIMING, campaign_seed=1)
        load = replace(steady(RATE_FPS, TIMING.duration_s), counting=AS_A_SEARCH)
        while len(done) < MOST:
            trial = trials.run(load=load, repetition=1, seed=len(done))
            done.append((trial, dropped(dut.record())))
            if len(done) >= LEAST and any(wanted(each) for each, _ in done):
                break
    return done


def was_excused(trial: TrialRecord) -> bool:
    return any(reason.code is Code.GATEWAY_AWAY for reason in trial.invalid_reasons)


def has_failed(trial: TrialRecord) -> bool:
    return trial.verdict is Verdict.FAIL


def dropped(record: Any) -> int:
    return sum(way["dropped"]["rate_limit"] for way in record["directions"].values())


@pytest.mark.parametrize("noise", ["20%"], indirect=True)
@pytest.mark.usefixtures("noise")
def test_below_its_limit_the_gateway_has_dropped_nothing_in_what_is_left_out(
    tmp_path: Path,
) -> None:
    """An absence of 10 ms is 1,200 frames, and its ring holds 1,024: some trials meet one."""
    done = trials_until(was_excused, RATE_FPS * 5 // 4, tmp_path)
    assert not any(has_failed(trial) for trial, _ in done)
    assert all(own == 0 for trial, own in done if trial.verdict is Verdict.PASS)
    excused = [each for each in done if was_excused(each[0])]
    assert excused, "no absence was long enough"
    assert all(own == 0 < trial.result.lost for trial, own in excused)


@pytest.mark.parametrize("noise", ["20%"], indirect=True)
@pytest.mark.usefixtures("noise")
def test_above_its_limit_no_trial_passes_and_what_is_kept_has_failed_by_the_limit(
    tmp_path: Path,
) -> None:
    done = trials_until(has_failed, RATE_FPS // 4, tmp_path)
    assert all(trial.verdict is not Verdict.PASS for trial, _ in done)
    assert all(own > 0 for _, own in done), "also in what is left out"
    assert any(has_failed(trial) for trial, _ in done), "no absence was short enough"
