"""A lab watches its gateway, and what its absence explains is no FAIL."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials

RATE_FPS = 60_000
TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
TESTBED = """
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "namespace"
driver = "kernel-router"
"""
CALIBRATION = TESTBED.replace('"namespace"\ndriver = "kernel-router"', '"calibration"')


def trials_of(
    folder: Path, count: int, *, rate_fps: int = RATE_FPS, timing: Timing = TIMING
) -> Iterator[TrialRecord]:
    path = folder / "testbed.toml"
    path.write_text(TESTBED)
    testbed, source = read_testbed(path)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        trials = Trials(session=session, timing=timing, campaign_seed=1)
        for number in range(count):
            yield trials.run(load=rate_fps, repetition=1, seed=number)


def test_every_trial_says_how_long_the_gateways_cpu_was_away(tmp_path: Path) -> None:
    for trial in trials_of(tmp_path, 1):
        assert not trial.result.unwatched_reason
        (watched,) = trial.result.watched
        assert watched.samples > 1000, "a look every 100 us for 0.2 s"
        assert 0 <= watched.longest_away_ns <= watched.away_ns <= trial.result.duration_ns


@pytest.mark.parametrize("noise", ["20%"], indirect=True)
def test_what_takes_the_core_is_seen_and_excuses_what_it_loses(noise: str, tmp_path: Path) -> None:
    """At a rate far below what the router forwards, and pauses that its ring does not outlast."""
    del noise
    trials = list(trials_of(tmp_path, 8))
    away_share = sum(t.away_ns for t in trials) / sum(t.result.sending_ns for t in trials)
    assert 0.1 < away_share < 0.9
    losing = [trial for trial in trials if trial.result.lost]
    assert losing, "a pause of 10 ms is 600 frames, and the ring holds 256"
    assert all(trial.verdict is Verdict.INVALID for trial in losing)
    assert any("CPU" in trial.invalid_reasons[0].where for trial in losing)


SLOW_FPS = (60, 1_000)  # a queue holds all frames of a trial


@pytest.mark.parametrize("noise", ["60% --pieces 450ms-450ms --cpus 1"], indirect=True)
def test_frames_that_still_waited_at_the_end_are_no_loss_of_the_gateway(
    noise: str, tmp_path: Path
) -> None:
    """The core is away for longer than a trial and its drain."""
    del noise
    for rate_fps in SLOW_FPS:
        seen = []
        for trial in trials_of(tmp_path, 50, rate_fps=rate_fps):
            seen.append((trial.verdict, trial.result.lost, trial.invalid_reasons))
            if trial.result.lost and trial.verdict is Verdict.INVALID:
                break
        print(seen)
        assert seen[-1][0] is Verdict.INVALID, "no absence was there when a trial ended"
        assert [each for each in seen if each[0] is Verdict.FAIL] == []


def test_a_gateway_that_is_seldom_busy_is_not_away(tmp_path: Path) -> None:
    """At 5,000 fps it is in one look of a hundred. The host may take its core in some trials."""
    timing = Timing(duration_s=Fraction(1, 2), drain_s=Fraction(1, 20))
    trials = trials_of(tmp_path, 12, rate_fps=5_000, timing=timing)
    assert any(trial.away_ns / trial.result.sending_ns < 0.15 for trial in trials)


def test_the_watch_takes_no_time_from_a_gateway_that_is_busy(tmp_path: Path) -> None:
    """What keeps the CPU awake is an ordinary thread; the kernel gives those 50 ms of each second
    where real-time threads, as the gateway is, leave them less. Here these are 5,000 frames of
    each direction in every second, where the ring holds 256. The host can slow the gateway down in
    some trials, but the kernel would take the time in every one."""
    timing = Timing(duration_s=Fraction(6, 5), drain_s=Fraction(1, 20))

    def lost_nothing_else(trial: TrialRecord) -> bool:
        away_s = trial.result.watched[0].away_ns / 1e9
        return trial.result.lost <= 2 * 100_000 * away_s and trial.verdict is not Verdict.FAIL

    trials = trials_of(tmp_path, 6, rate_fps=100_000, timing=timing)
    assert any(map(lost_nothing_else, trials)), "what is lost came while the CPU was away"


@pytest.mark.parametrize("text", [TESTBED, CALIBRATION], ids=["namespace", "calibration"])
def test_throttling_is_off_while_a_lab_is_there(text: str, tmp_path: Path) -> None:
    throttling = Path("/proc/sys/kernel/sched_rt_runtime_us")
    before = throttling.read_text()
    path = tmp_path / "testbed.toml"
    path.write_text(text)
    testbed, source = read_testbed(path)
    with set_up(testbed, source, dut_of(testbed, source)):
        assert throttling.read_text().strip() == "-1"
    assert throttling.read_text() == before
