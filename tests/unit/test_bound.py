"""Pauses leave holes, which last about as long at each rate; chance takes single frames."""

from random import Random

import pytest

from natxy.model.trial_spec import Segment
from natxy.trial.bound import pattern_of
from natxy.verdict.losses import Losses
from natxy.verdict.timeline import Run, Schedule, Timeline

FRAMES = 20_000
SCHEDULE = Schedule.of([Segment(frames=FRAMES, rate_fps=50_000, pause_ns=0)])


def failure(*runs: Run) -> Losses:
    line = Timeline.of(SCHEDULE, sorted(runs))
    return Losses(lines={("test", "forward"): line})


def paused(rate_fps: int, *, pause_ms: float = 0.5, room: int = 5) -> Losses:
    """Ten pauses, of which a queue bridges some frames."""
    lost = int(rate_fps * pause_ms / 1000) - room
    return failure(*((place, lost, lost) for place in range(1000, FRAMES, 1900)))


def test_pauses_are_holes_of_about_the_same_time_at_each_rate() -> None:
    found = pattern_of({rate: [paused(rate)] for rate in (50_000, 100_000, 200_000)})
    assert found is not None
    assert found.name == "pauses"
    assert found.typical_ns == pytest.approx(450_000)
    assert found.longest_ns < 500_000
    assert found.per_s == pytest.approx(30 / (0.4 + 0.2 + 0.1))


def test_chance_takes_single_frames_wherever_they_are() -> None:
    draw = Random(7)
    lost = sorted(draw.sample(range(FRAMES), FRAMES // 500))
    found = pattern_of({50_000: [failure(*((number, 1, 1) for number in lost))]})
    assert found is not None
    assert (found.name, found.frames) == ("chance", 500)


def test_losses_in_disturbed_time_show_no_pattern() -> None:
    line = Timeline.of(SCHEDULE, [(1500, 200, 200)], disturbed=[(1000, 3000)])
    assert pattern_of({50_000: [Losses(lines={("test", "forward"): line})]}) is None
    assert pattern_of({}) is None


def test_what_is_neither_has_no_name() -> None:
    """Of many frames in a row, only some are lost: the engine has joined runs."""
    assert pattern_of({50_000: [failure((100, 400, 100), (9000, 400, 100))]}) is None
