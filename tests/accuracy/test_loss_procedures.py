"""Loss, bursts, recovery and reset against a gateway that does each of them as ordered."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.model.measurement import Measurement
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction
from natxy.procedure.back_to_back import BURST, CORRECTED, BackToBackPlan, back_to_back
from natxy.procedure.frame_loss import LOSS, FrameLossPlan, frame_loss
from natxy.procedure.recovery import RECOVERY, RecoveryPlan, recovery
from natxy.procedure.reset import BY_LOSS, BY_TIMESTAMPS, ResetPlan, reset
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from tests.accuracy.bench import BENCH
from tests.accuracy.calibration import LOSES_NOTHING_US, TIMING, away_ns, gateway_that
from tests.valid import ATTEMPTS, with_and_without_noise

MS = Fraction(1, 1000)
DIRECTIONS: tuple[Direction, ...] = ("forward", "reverse")


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_the_loss_rate_is_that_of_every_kth_frame(tmp_path: Path) -> None:
    """At each rate floor(N / k) of N frames, and the series ends only where two lose nothing.

    Where a sender was late, the rate is estimated, to within its error.
    """
    plan = FrameLossPlan(
        timing=TIMING, seed=1, rates_fps=(40_000, 20_000), invalid_repeats=ATTEMPTS
    )
    fault = '{kind = "loss", direction = "forward", every = 7}'
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = frame_loss(plan, session)
    for rate_fps in plan.rates_fps:
        frames = int(rate_fps * TIMING.duration_s)
        at = f"{rate_fps:,} fps"
        forward = result.figure(LOSS, "forward", at)
        assert forward.values[0] == pytest.approx(
            frames // 7 / frames * 100, abs=forward.errors[0] + 1e-9
        )
        # Of half of the frames, in 20 parts: one frame of 50 more or less in each.
        assert forward.errors[0] < 0.6
        assert result.figure(LOSS, "reverse", at).values == (0.0,)


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_the_series_goes_down_until_two_rates_lose_nothing(tmp_path: Path) -> None:
    plan = FrameLossPlan(timing=TIMING, seed=1, max_rate_fps=50_000, invalid_repeats=ATTEMPTS)
    limit = '{kind = "rate_limit", direction = "reverse", rate_fps = 33000, depth = 100}'
    # The bucket holds 3 ms of the limit.
    with gateway_that(limit, tmp_path, tolerance_us=2500) as (session, _):
        result = frame_loss(plan, session)
    figures = {f.at: f for f in result.figures if f.direction == "reverse"}
    reverse = {at: figure.values[0] for at, figure in figures.items()}
    places = ["100 % (50,000 fps)", "90 % (45,000 fps)", "80 % (40,000 fps)"]
    places += ["70 % (35,000 fps)", "60 % (30,000 fps)", "50 % (25,000 fps)"]
    assert list(reverse) == places
    sent = int(50_000 * TIMING.duration_s)
    passed = float(33_000 * TIMING.duration_s) + 100
    (stated,) = figures[places[0]].errors or (0.0,)  # by pauses, while which the bucket fills
    assert reverse[places[0]] == pytest.approx((sent - passed) / sent * 100, abs=0.5 + stated)
    assert [reverse[place] for place in places[4:]] == [0.0, 0.0]


@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize(("frames", "drain_fps"), [(100, 25_000), (1000, 40_000)])
@pytest.mark.long
def test_the_longest_burst_is_the_buffers(frames: int, drain_fps: int, tmp_path: Path) -> None:
    """The smallest n for which n - floor(n r / R) >= B, exactly: the buffer goes by departures."""
    rate_fps = 50_000
    longest = next(n for n in range(10**6) if n - n * drain_fps // rate_fps >= frames)
    departures = f"departures = [{{frames = 1, rate_fps = {rate_fps}}}]"
    fault = f'{{kind = "buffer", frames = {frames}, drain_fps = {drain_fps}, {departures}}}'
    plan = BackToBackPlan(
        timing=Timing(duration_s=Fraction(1, 4), drain_s=Fraction(1, 10)),
        seed=1,
        repetitions=1,
        burst_rate_fps=rate_fps,
        throughput_fps=drain_fps,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = back_to_back(plan, session)
    assert result.figure(BURST).values == (longest,)
    assert not any(result.figure(BURST).lower_bound)
    # What remains when the frames are taken off that left while the burst came: the buffer.
    corrected_s = longest / rate_fps * (1 - drain_fps / rate_fps)
    assert result.figure(CORRECTED).values == pytest.approx((corrected_s,))
    assert corrected_s * rate_fps == pytest.approx(frames, rel=0.01)


@with_and_without_noise
def test_the_longest_burst_is_the_buffers_by_its_own_arrivals(noise: str, tmp_path: Path) -> None:
    """The gateway's buffer empties while the burst really comes, not while it is due: what a burst
    takes in excess is in its length, by a step of frames at most. So is what the gateway's own
    polls are late by: its buffer empties meanwhile, and the burst may be longer by twice that."""
    frames, drain_fps, rate_fps, step = 100, 25_000, 50_000, 4
    late_us = (
        80 if noise == "0%" else 1_000
    )  # in quiet it is hardly ever late by more; in noise, not more
    longest = next(n for n in range(10**6) if n - n * drain_fps // rate_fps >= frames)
    fault = f'{{kind = "buffer", frames = {frames}, drain_fps = {drain_fps}}}'
    plan = BackToBackPlan(
        timing=Timing(duration_s=Fraction(1, 4), drain_s=Fraction(1, 50)),
        seed=1,
        repetitions=1,
        burst_rate_fps=rate_fps,
        throughput_fps=drain_fps,
        step_frames=step,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(fault, tmp_path, tolerance_us=1_000) as (session, _):
        result = back_to_back(plan, session)
    for found in result.figure(BURST).values:
        assert longest - step <= found <= longest + step + 2 * drain_fps * late_us / 10**6


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_buffer_is_waited_for_until_it_is_empty(tmp_path: Path) -> None:
    """It needs 50 ms; the drain that was asked for is a fifth of that."""
    frames, drain_fps, rate_fps = 50, 1000, 50_000
    longest = next(n for n in range(10**6) if n - n * drain_fps // rate_fps >= frames)
    departures = f"departures = [{{frames = 1, rate_fps = {rate_fps}}}]"
    fault = f'{{kind = "buffer", frames = {frames}, drain_fps = {drain_fps}, {departures}}}'
    plan = BackToBackPlan(
        timing=Timing(duration_s=Fraction(1, 4), drain_s=Fraction(1, 100)),
        seed=1,
        repetitions=1,
        burst_rate_fps=rate_fps,
        throughput_fps=drain_fps,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = back_to_back(plan, session)
    assert result.figure(BURST).values == (longest,)
    assert result.figure(BURST).lower_bound == (False,)


@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize("sulks_s", [pytest.param(50 * MS, marks=pytest.mark.long), 150 * MS])
def test_recovery_is_as_long_as_the_gateway_sulks(sulks_s: Fraction, tmp_path: Path) -> None:
    """The gateway goes by departures, so that who was away in between moves nothing."""
    throughput_fps = 20_000
    overload_fps = throughput_fps * 11 // 10
    plan = RecoveryPlan(
        timing=Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20)),
        seed=1,
        repetitions=3,
        rate_fps=throughput_fps,
        invalid_repeats=ATTEMPTS,
    )
    parts = ((overload_fps * plan.timing.duration_s, overload_fps), (1, overload_fps // 2))
    departures = ", ".join(f"{{frames = {frames}, rate_fps = {fps}}}" for frames, fps in parts)
    fault = (
        f'{{kind = "sulk", rate_fps = {throughput_fps}, depth = 20, for_ns = {sulks_s * 10**9}, '
        f"departures = [{departures}]}}"
    )
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = recovery(plan, session)
    for direction in DIRECTIONS:
        figure = result.figure(RECOVERY, direction)
        assert figure.values == pytest.approx([float(sulks_s)] * 3, rel=0.02)
        assert not any(figure.lower_bound)


def test_a_gateway_that_never_recovers_is_a_lower_bound(tmp_path: Path) -> None:
    fault = '{kind = "sulk", rate_fps = 20000, depth = 20, for_ns = 10000000000}'
    plan = RecoveryPlan(
        timing=TIMING, seed=1, repetitions=1, rate_fps=20_000, invalid_repeats=ATTEMPTS
    )
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = recovery(plan, session)
    assert result.figure(RECOVERY, "forward").lower_bound == (True,)


# A gateway and a tester that keep both cores to themselves would keep who resets it away as well.
SHARED_CORES = """
[tester]
cores = [0]
warm_up = "neighbours"
realtime = "off"
lateness_tolerance_us = 25000      # 500 frames, of which the ring holds 1023
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "calibration"
poll_gap_limit_us = 25000
restart_s = 0.2
"""


class LastTrial(Observer):
    """The trial that the figures are of: what was invalid before it was repeated."""

    result: TrialResult

    def trial_ended(self, trial: TrialRecord) -> None:
        self.result = trial.result


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_reset_is_as_long_as_the_gateway_is_mute(tmp_path: Path) -> None:
    """By its own record: exactly in frames, and in time as well as gateway and tester were there
    when it began and ended."""
    plan = ResetPlan(
        timing=Timing(duration_s=Fraction(1, 2), drain_s=Fraction(1, 20)),
        seed=1,
        repetitions=1,
        rate_fps=20_000,
        invalid_repeats=ATTEMPTS,
    )
    path = tmp_path / "shared.toml"
    path.write_text(SHARED_CORES)
    last = LastTrial()
    with BENCH.lab(*read_testbed(path)) as (session, dut):
        for _ in range(2):
            result = reset(plan, session.with_observer(last))
            expect_mute(result, last.result, dut.record())


def expect_mute(found: Measurement, trial: TrialResult, record: Any) -> None:
    for direction in DIRECTIONS:
        stream = next(stream for stream in trial.streams if stream.direction == direction)
        late_s = (stream.lateness.max_ns + away_ns(trial, record)) / 1e9
        within = pytest.approx([0.2], abs=0.002 + late_s)
        assert found.figure(BY_LOSS, direction).values == within
        assert found.figure(BY_TIMESTAMPS, direction).values == within
        dropped = record["directions"][direction]["dropped"]["mute"]
        assert found.figure(BY_LOSS, direction).values == (dropped / 20_000,)
