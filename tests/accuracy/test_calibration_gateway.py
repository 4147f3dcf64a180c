"""The tester's figures against a gateway whose truth is known, by that gateway's own record.

A trial in which the tester or the gateway was taken off its CPU is invalid, by the tester's own
judgement and by the gateway's record, and is repeated.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.model.distribution import Delays
from natxy.model.disturbance import Disturbance
from natxy.model.remark import Topic
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Segment
from natxy.model.verdict import Limit
from natxy.procedure.throughput import ThroughputPlan, searches, throughput
from natxy.search.bisection import SearchError
from natxy.trial.bursts import Bursts
from natxy.trial.load import Frames
from natxy.verdict.delay_error import TimingErrors
from tests.accuracy.calibration import (
    LOSES_NOTHING_US,
    MOVES_NO_MEDIAN_US,
    SHORT,
    TIMING,
    gateway_that,
    valid_trial,
)
from tests.remarks import topics
from tests.valid import ATTEMPTS, valid, with_and_without_noise

BUCKET_US = 2000  # the bucket holds that much of the limit; who is away for longer overflows it
NEAR_NS = 20_000
ERROR = SearchError(fraction=Fraction(1, 200))  # a fifth of what the bucket lets through beside it


@pytest.mark.parametrize(
    "limit_fps",
    [
        pytest.param(10_000, marks=pytest.mark.long),
        50_000,
        pytest.param(200_000, marks=pytest.mark.long),
    ],
)
@with_and_without_noise
def test_throughput_is_the_rate_limit(limit_fps: int, noise: str, tmp_path: Path) -> None:
    """[L, L + B / T], to the search's error: a bucket of B frames lets that much more through.

    In noise, one trial of 0.1 s in thirty has no absence of 1 ms. There trials are shorter, the
    bucket lets more through, and the search may end with a bound."""
    noisy = noise != "0%"
    timing = SHORT if noisy else TIMING
    depth = limit_fps * BUCKET_US // 10**6
    fault = f'{{kind = "rate_limit", rate_fps = {limit_fps}, depth = {depth}}}'
    plan = ThroughputPlan(
        timing=timing,
        seed=limit_fps,
        repetitions=1,
        error=ERROR,
        max_rate_fps=2 * limit_fps,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(fault, tmp_path, tolerance_us=BUCKET_US // 2) as (session, _):
        trials = plan.trials(session)
        (found,) = searches(plan, trials)
    assert found.limit is Limit.DUT or (noisy and found.lower_bound)
    share = Fraction(1, 2) if found.lower_bound else 1 - ERROR.fraction
    excess_fps = depth / timing.duration_s
    assert limit_fps * share <= found.rate_fps <= limit_fps + excess_fps
    assert trials.counts.misdelivered == trials.counts.without_udp_checksum == 0


@pytest.mark.usefixtures("noise")
def test_in_noise_the_throughput_is_the_rate_limit_or_a_bound_of_it(tmp_path: Path) -> None:
    """With a command's patience, which the noise may outlast: then the figure says so. The bucket
    takes the 128 frames that a sender may make up for at once (burst_limit_frames)."""
    limit_fps, depth, error = 50_000, 200, SearchError(fraction=Fraction(1, 50))
    fault = f'{{kind = "rate_limit", rate_fps = {limit_fps}, depth = {depth}}}'
    plan = ThroughputPlan(
        timing=replace(TIMING, retry_s=Fraction(4)),
        seed=1,
        repetitions=1,
        error=error,
        max_rate_fps=2 * limit_fps,
        loss_verifications=1,
    )
    with gateway_that(fault, tmp_path, tolerance_us=20_000) as (session, _):
        (found,) = searches(plan, plan.trials(session))
    assert found.rate_fps <= (limit_fps + depth / TIMING.duration_s) * (1 + ERROR.fraction)
    assert found.lower_bound or found.rate_fps >= limit_fps * (1 - error.fraction)


@pytest.mark.long  # tests/frames tests such frames
@with_and_without_noise
@pytest.mark.parametrize("sends", [True, False], ids=["checksums", "no_checksums"])
def test_a_gateway_that_sends_no_udp_checksum_has_its_throughput(
    sends: bool, noise: str, tmp_path: Path
) -> None:
    """As a gateway that sends them: its rate limit, and nothing misdelivered. Only in noise may the
    search end with a bound."""
    limit_fps, depth = 20_000, 200
    faults = [f'{{kind = "rate_limit", rate_fps = {limit_fps}, depth = {depth}}}']
    if not sends:
        faults.append('{kind = "corrupt", every = 1, field = "no_udp_checksum"}')
    error = SearchError(fraction=Fraction(1, 100))
    plan = ThroughputPlan(
        timing=TIMING,
        seed=1,
        repetitions=1,
        error=error,
        loss_verifications=1,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_that(", ".join(faults), tmp_path, tolerance_us=20_000) as (session, _):
        trials = plan.trials(session)
        (found,) = searches(plan, trials)
    assert trials.counts.misdelivered == 0
    assert (trials.counts.without_udp_checksum == 0) is sends
    assert found.rate_fps <= (limit_fps + depth / TIMING.duration_s) * (1 + error.fraction)
    assert found.limit is Limit.DUT or (noise != "0%" and found.lower_bound)
    share = Fraction(1, 2) if found.lower_bound else 1 - error.fraction
    assert found.rate_fps >= limit_fps * share


@pytest.mark.parametrize(("rate_fps", "every"), [(10_000, 7), (50_000, 100), (50_000, 4_999)])
def test_loss_of_every_kth_frame_is_exact(rate_fps: int, every: int, tmp_path: Path) -> None:
    fault = f'{{kind = "loss", direction = "forward", every = {every}}}'
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, dut):
        result, record = valid_trial(session, dut, rate_fps)
    forward, reverse = (stream.kinds.foreground for stream in result.streams)
    assert forward is not None
    assert reverse is not None
    frames = int(rate_fps * TIMING.duration_s)
    assert forward.sent == frames
    assert forward.lost == frames // every == record["directions"]["forward"]["dropped"]["loss"]
    assert reverse.lost == 0


def moved_median(result: TrialResult, record: Any) -> str | None:
    """By the error that stands beside the figure, with the gateway's own record of its absences."""
    noise = Disturbance(
        away_ns=record["away_ns"],
        longest_away_ns=record["worst_poll_gap_ns"],
        sending_ns=result.sending_ns,
    )
    for stream in result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        delays = Delays(distributions=(seen.delay,))
        error_ns = TimingErrors.of(stream, result, noise).percentile_ns(delays, Fraction(1, 2))
        if error_ns > NEAR_NS:
            return f"the median may be {error_ns:.0f} ns off"
    return None


@pytest.mark.parametrize("delay_ns", [100_000, 1_000_000, 20_000_000])
def test_the_median_delay_is_the_gateways(delay_ns: int, tmp_path: Path) -> None:
    """Within 20 us of the median of the delays that the gateway really gave, where the figure's own
    error says so."""
    fault = f'{{kind = "delay", ns = {delay_ns}}}'
    with gateway_that(fault, tmp_path, tolerance_us=MOVES_NO_MEDIAN_US) as (session, dut):
        result, record = valid_trial(session, dut, 20_000, doubt=moved_median)
    for stream in result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        given = record["directions"][stream.direction]["delay_ns"]
        assert abs(seen.delay.p50_ns - given["p50"]) <= NEAR_NS
        assert given["p50"] >= delay_ns
        assert seen.delay.min_ns >= given["min"] - 1_000


BURSTS_LIMIT_FPS = 20_000
BURSTS_DEPTH = 512
BURSTS_LIMIT = f'{{kind = "rate_limit", rate_fps = {BURSTS_LIMIT_FPS}, depth = {BURSTS_DEPTH}}}'
BY_NOISE = Topic.BOUND_BY_NOISE  # that of other programs, if none is added


@pytest.mark.parametrize(
    ("frames", "noise"),
    [
        (16, "0%"),
        (256, "0%"),
        pytest.param(16, "5%", marks=pytest.mark.long),
        pytest.param(256, "5%", marks=pytest.mark.long),
    ],
    indirect=["noise"],
)
def test_bursts_pass_up_to_the_limit_where_the_bucket_takes_them(
    frames: int, noise: str, tmp_path: Path
) -> None:
    """A bucket of D frames takes a burst of D whatever its rate. A burst that was late finds the
    bucket less full: D has twice a burst's room, or the 128 frames that a sender may make up
    for."""
    plan = ThroughputPlan(
        timing=TIMING,
        seed=frames,
        repetitions=1,
        error=SearchError(fraction=Fraction(1, 50)),
        max_rate_fps=2 * BURSTS_LIMIT_FPS,
        invalid_repeats=ATTEMPTS,
        bursts=Bursts(frames=frames, rate_fps=200_000),
    )
    with gateway_that(BURSTS_LIMIT, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        result = valid(
            lambda: throughput(plan, session),
            lambda found: [] if noise != "0%" else [r for r in found.remarks if r.code is BY_NOISE],
        )
    assert result.counts.misdelivered == 0
    found = result.figure(f"throughput, bursts of {frames}")
    ((rate_fps,), (lower_bound,)) = (found.values, found.lower_bound)
    least_s = float(max(TIMING.duration_s, Fraction(10 * frames) / Fraction(rate_fps)))
    assert noise != "0%" or not lower_bound
    assert Topic.MEDIA not in topics(result.remarks)  # the gateway was the limit
    share = 0.5 if lower_bound else 0.97
    excess_fps = BURSTS_DEPTH / least_s + rate_fps * 0.02  # the search's error
    assert BURSTS_LIMIT_FPS * share <= rate_fps <= BURSTS_LIMIT_FPS + excess_fps
    (interval_s,) = result.figure(f"least interval between bursts of {frames}").values
    assert interval_s == frames / rate_fps


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ('{kind = "buffer", frames = 4, drain_fps = 10000}', "buffer"),
        ('{kind = "rate_limit", rate_fps = 10000, depth = 8}', "rate_limit"),
        ('{kind = "buffer", frames = 20, drain_fps = 10000, depth = 50}', "buffer"),
        ('{kind = "sulk", every_ns = 20000000, for_ns = 2000000}', "sulk"),
        ('{kind = "sulk", exponential_ns = 20000000, seed = 7, for_ns = 2000000}', "sulk"),
        ('{kind = "loss", share_ppm = 10000, seed = 3}', "loss"),
    ],
    ids=["queue", "policer", "shaper", "sulks", "sulks_by_chance", "chance"],
)
def test_what_is_lost_is_what_the_gateway_drops_by_this_cause(
    fault: str, cause: str, tmp_path: Path
) -> None:
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, dut):
        result, record = valid_trial(session, dut, 20_000)
    for stream in result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        dropped = record["directions"][stream.direction]["dropped"]
        assert seen.lost == dropped[cause] > 0
        assert sum(dropped.values()) == dropped[cause]


def test_a_burst_that_no_buffer_takes_loses_the_rest_whatever_the_interval(tmp_path: Path) -> None:
    """Of each burst the bucket passes what it holds, and what comes into it during the burst. A
    burst whose begin or end is late is shorter or longer by the tolerance of each of the two."""
    # The mean rate is below the limit, and the trial is short enough for the real-time policy.
    bursts, frames, mean_fps, burst_fps, late_us = 2, 1024, 12_000, 200_000, 1000
    segment = Segment(
        frames=bursts * frames,
        rate_fps=mean_fps,
        pause_ns=0,
        burst_frames=frames,
        burst_rate_fps=burst_fps,
    )
    load = Frames(segments=(segment,))
    with gateway_that(BURSTS_LIMIT, tmp_path, tolerance_us=late_us) as (session, dut):
        result, record = valid_trial(session, dut, load)
    meanwhile = BURSTS_LIMIT_FPS * (frames - 1) / burst_fps
    lost = frames - BURSTS_DEPTH - meanwhile
    by_lateness = BURSTS_LIMIT_FPS * late_us / 10**6
    for stream in result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        given = record["directions"][stream.direction]
        assert seen.sent == bursts * frames
        assert seen.lost == given["dropped"]["rate_limit"]
        assert abs(seen.lost / bursts - lost) <= 2 * by_lateness + 1
