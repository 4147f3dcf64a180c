"""The losses that count, with the simulated gateways, frame by frame."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from statistics import median
from typing import Any

import numpy as np
import pytest

from natxy.model.trial_spec import Segment
from natxy.verdict.timeline import Full, Run, Schedule, Timeline
from tests.simulation import gateways as g
from tests.simulation import noise, rule
from tests.simulation.trial import Bench, Direction, Seen, run

GATEWAYS = {
    "queue of 4": g.queue(50_000, 4),
    "queue of 1,000": g.queue(50_000, 1000),
    "policer": g.limited(50_000, 8),
    "poller": g.poller(50_000, 256),
}


def schedule_of(*segments: tuple[int, int], pauses: Any = ()) -> Schedule:
    """Of segments of a rate and a number of frames."""
    made = tuple(Segment(rate_fps=rate, frames=frames, pause_ns=0) for rate, frames in segments)
    return Schedule.of(made, pauses)


def runs_of(lost: np.ndarray[Any, np.dtype[np.bool_]]) -> list[Run]:
    edges = np.flatnonzero(np.diff(lost.astype(int), prepend=0, append=0)).tolist()
    return [(a, b - a, b - a) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def timeline_of(seen: Seen, each: Direction) -> Timeline:
    first_ns = float(each.sent.due_s[0]) * 1e9
    befores = np.searchsorted(each.sent.due_s, each.sent.pauses[:, 1] - 1e-9).tolist()
    took = (np.diff(each.sent.pauses, axis=1)[:, 0] * 1e9).tolist()
    schedule = schedule_of((seen.rate_fps, len(each.lost)), pauses=zip(befores, took, strict=True))
    late = np.searchsorted(each.sent.due_s, each.sent.late - 1e-9).tolist()
    away = [] if seen.away is None else (seen.away * 1e9 - first_ns).tolist()
    disturbed = schedule.disturbed(away, late)
    return Timeline.of(schedule, runs_of(each.lost), disturbed, befores)


@pytest.mark.parametrize("rate_fps", [45_000, 60_000, 120_000])
@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_intervals_of_numbers_judge_as_each_frame_does(gateway: g.Gateway, rate_fps: int) -> None:
    bench = Bench(gateway=gateway, share=0.1)
    for seed in range(4):
        seen = run(bench, rate_fps, 0.2, np.random.default_rng(seed))
        (each,) = seen.directions
        found, whole = timeline_of(seen, each), rule.Clean.of(seen, each)
        clean = len(whole.lost)
        assert found.clean == pytest.approx(clean, abs=0.002 * len(each.lost) + 8)
        assert found.excused == pytest.approx(whole.excused, abs=0.002 * len(each.lost) + 8)
        full, lost = found.full(), whole.full()
        assert full.share == pytest.approx(lost.mean() if len(lost) else 0, abs=0.01)
        assert full.is_spread(found.clean) == rule.is_spread(lost, clean)


def judged(gateway: g.Gateway, rate_fps: int, seed: int) -> Timeline:
    """The time line of a trial of 0.2 s, of which noise takes 5 %."""
    seen = run(Bench(gateway=gateway, share=0.05), rate_fps, 0.2, np.random.default_rng(seed))
    return timeline_of(seen, seen.directions[0])


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_noise_makes_no_failure_that_the_rate_explains(gateway: g.Gateway) -> None:
    found = [judged(gateway, 49_000, seed) for seed in range(15)]
    assert not any(each.full().is_spread(each.clean) for each in found)


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_an_overload_tells_what_the_gateway_does_when_it_is_full(gateway: g.Gateway) -> None:
    """Whatever its queue or bucket holds."""
    found = [judged(gateway, 60_000, seed) for seed in range(10)]
    full = [each.full() for each in found if each.full().is_spread(each.clean)]
    assert len(full) >= 8
    assert all(abs(60_000 * (1 - each.share) / 50_000 - 1) < 0.01 for each in full)


def test_a_loss_in_an_absence_does_not_count() -> None:
    found = judged(g.queue(50_000, 64), 45_000, seed=1)
    assert found.excused > 0
    assert found.lost == 0


def test_due_times_follow_segments_and_pauses() -> None:
    schedule = schedule_of((1000, 10), (2000, 10), pauses=[(5, 7e6), (12, 1e6)])
    due = [schedule.due_ns(number) / 1e6 for number in (0, 4, 5, 9, 10, 11, 12)]
    assert due == [0, 4, 12, 16, 17, 17.5, 19]
    assert [schedule.first_from(ms * 1e6) for ms in (-1, 0, 4, 4.1, 12, 17.1, 99)] == [
        0, 0, 4, 5, 5, 11, 20,
    ]  # fmt: skip


def test_an_absence_disturbs_as_long_again() -> None:
    schedule = schedule_of((100_000, 2000))
    assert schedule.disturbed([(5e6, 6e6)], []) == [(480, 720)]
    assert schedule.disturbed([(5e6, 6e6)], [(600, 650), (1900, 1999)]) == [
        (480, 720),
        (1880, 2000),
    ]


def test_a_loss_in_disturbed_time_does_not_count() -> None:
    schedule = schedule_of((100_000, 1000))
    found = Timeline.of(schedule, [(5, 10, 10), (100, 50, 25)], [(100, 200)], [500])
    assert found.pieces == ((0, 100), (200, 500), (500, 1000))
    assert (found.clean, found.lost, found.excused) == (900, 10, 25)


def test_the_time_in_which_a_gateway_is_full_goes_from_run_to_run() -> None:
    schedule = schedule_of((100_000, 1000))
    found = Timeline.of(schedule, [(10, 2, 2), (20, 1, 1), (30, 4, 4), (600, 1, 1)], (), [500])
    full = found.full()
    assert (full.frames, full.lost) == (20, 3)


def test_losses_that_come_at_all_moments_are_spread() -> None:
    every_third = Full(frames=900, runs=tuple((n, 1, 1) for n in range(0, 900, 3)))
    assert every_third.is_spread(1000)
    assert not every_third.is_spread(10_000)
    holes = Full(frames=900, runs=tuple((n, 45, 45) for n in range(0, 900, 90)))
    assert not holes.is_spread(1000)
    assert (every_third + holes).frames == 1800
    assert (every_third + holes).share == pytest.approx((300 + 450) / 1800)


def test_a_queue_that_is_full_too_soon_was_filled_by_an_absence_that_nobody_saw() -> None:
    """It holds 50 frames, of which an overload by a fifth leaves one in five."""
    runs = [(number, 1, 1) for number in range(30, 1000, 5)]
    waits = ((0, 10_000), (250, 1_260_000), (500, 1_260_000))
    line = replace(Timeline.of(schedule_of((50_000, 1000)), runs), lows=waits)
    assert line.first_lost(line.full()) == (30, 220)
    later = replace(line, runs=tuple(run for run in line.runs if run[0] > 255))
    assert later.first_lost(later.full()) == (260, 0)


def test_a_queue_that_was_full_before_the_first_frame_hides_how_long_frames_wait() -> None:
    """Nobody saw it empty, so all of the delay may be waiting."""
    runs = [(number, 1, 1) for number in range(30, 1000, 5)]
    waits = ((0, 1_010_000), (250, 1_260_000), (500, 1_260_000))
    away = Timeline.of(schedule_of((50_000, 1000)), runs, [(0, 50)])
    away = replace(away, lows=waits)
    assert away.first_lost(away.full()) == (50, 202)
    closed = replace(Timeline.of(schedule_of((50_000, 1000)), runs), lows=waits, watched=False)
    assert closed.first_lost(closed.full()) == (30, 222)


def test_what_is_left_of_a_run_behind_an_absence_is_no_second_run() -> None:
    """A gateway that took 109 frames, and lost all others, shows no loss rate of a full one."""
    schedule, absences = schedule_of((10_000, 2000)), [(1000, 1050), (1600, 1630)]
    found = Timeline.of(schedule, [(109, 1891, 1891)], absences)
    assert found.full() == found.span() == Full()
    found = Timeline.of(schedule, [(109, 500, 500), (700, 1300, 1300)], absences)
    assert (found.full().lost, found.full().frames) == (500, 591)
    found = Timeline.of(schedule, [(109, 1400, 1400), (1700, 300, 300)], absences)
    assert found.full() == Full()
    assert (found.span().lost, found.span().frames) == (1350, 1511)


def test_a_gateway_that_serves_directions_in_slices_loses_in_holes() -> None:
    """Of each 6 ms, it serves the direction for 4.5. The sender is late for 0.1 ms every 5 ms."""
    schedule = schedule_of((100_000, 20_000))
    runs = [(first, 150, 150) for first in range(0, 20_000, 600)]
    late = [(first, first + 10) for first in range(250, 20_000, 500)]
    found = Timeline.of(schedule, runs, schedule.disturbed([], late))
    assert not found.full().is_spread(found.clean)
    assert found.span().is_spread(found.clean)
    assert found.span().share == pytest.approx(1 / 4, abs=0.03)


def lows_of(
    delay_ns: Callable[[int], float], frames: int, width: int
) -> tuple[tuple[int, int], ...]:
    return tuple((first, int(delay_ns(first))) for first in range(0, frames, width))


def test_the_delay_grows_in_the_whole_trial_as_it_did_in_clean_time() -> None:
    """It grows by 2 us a frame, and by 3 ms more in an absence, which does not count."""
    schedule = schedule_of((50_000, 5000))
    found = Timeline.of(schedule, [], [(1000, 1300), (3000, 3500)])
    lows = lows_of(lambda n: 20_000 + 2000 * n + (3_000_000 if n > 1150 else 0), 5000, 16)
    growth = replace(found, lows=lows).growth_ns
    assert growth == pytest.approx((10_000_000, 10_000_000))


def test_too_little_clean_time_shows_no_growth() -> None:
    found = Timeline.of(schedule_of((50_000, 5000)), [], [(1000, 5000)])
    lows = lows_of(lambda n: 20_000 + 2000 * n, 5000, 16)
    assert replace(found, lows=lows).growth_ns is None


def test_the_error_of_a_growth_reaches_the_truth() -> None:
    """Absences that nobody saw, of 0.2 ms at the mean, add to 2 ms of growth."""
    chance, reached, errors_ns = Random(5), 0, []
    schedule = schedule_of((50_000, 5000))
    disturbed = [(first, first + 150) for first in range(300, 5000, 500)]
    found = Timeline.of(schedule, [], disturbed)
    for _ in range(200):
        unseen = {chance.randrange(5000): chance.expovariate(1 / 200_000) for _ in range(10)}

        def delay_ns(number: int, unseen: dict[int, float] = unseen) -> float:
            return 20_000 + 400 * number + sum(ns for at, ns in unseen.items() if at <= number)

        growth = replace(found, lows=lows_of(delay_ns, 5000, 16)).growth_ns
        assert growth is not None
        truth_ns = delay_ns(4999) - delay_ns(0)
        likely_ns, most_ns = growth
        reached += abs(likely_ns - truth_ns) <= most_ns - likely_ns + 100_000
        errors_ns.append(most_ns - likely_ns)
    assert reached >= 170, "absences are few and differ much, so twice the error is too little"
    assert median(errors_ns) < 2_000_000


def test_the_last_loss_that_counts_is_that_of_the_last_piece() -> None:
    schedule = schedule_of((1000, 100))
    runs = [(10, 1, 1), (30, 5, 5), (55, 10, 10), (90, 1, 1)]
    assert Timeline.of(schedule, runs).last_lost == 90
    assert Timeline.of(schedule, runs, [(60, 100)]).last_lost == 59
    assert Timeline.of(schedule, runs, [(20, 100)]).last_lost == 10
    assert Timeline.of(schedule, runs, [(20, 50)]).last_lost == 90
    assert Timeline.of(schedule, runs, [(0, 100)]).last_lost is None


def test_what_a_watch_sees_contains_each_long_absence() -> None:
    chance = np.random.default_rng(3)
    true = noise.pieces(0.1, 1.0, chance)
    long = true[true[:, 1] - true[:, 0] >= 1.5 * noise.PERIOD_S]
    seen = noise.seen(true, chance)
    assert (seen[:, 0] <= long[:, 0]).all()
    assert (seen[:, 1] >= long[:, 1]).all()


def test_a_core_works_nothing_while_it_is_away() -> None:
    clock = noise.WorkTime(np.array([[1.0, 1.5]]))
    assert clock.at(np.array([0.5, 1.2, 2.0])) == pytest.approx([0.5, 1.0, 1.5])
    assert clock.real(np.array([0.5, 1.25])) == pytest.approx([0.5, 1.75])


def test_a_queue_in_the_model_serves_at_its_rate() -> None:
    times = np.arange(6000) / 60_000
    kept, left = g.leaky(times, 1 / 50_000, 0, 8)
    assert kept.sum() == pytest.approx(5008, abs=2)
    assert np.diff(left[kept]).min() == pytest.approx(1 / 50_000)
