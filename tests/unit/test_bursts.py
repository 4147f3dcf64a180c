"""Throughput of bursts: the mean rate, and the least interval between them."""

from collections.abc import Sequence
from fractions import Fraction

import pytest

from natxy.cli.throughput import bursts_of
from natxy.errors import ConfigurationError
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Segment, Stream
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.results_json import result_entry
from natxy.search.bisection import SearchError
from natxy.trial.bursts import LEAST_BURSTS, Bursts, silence_s
from natxy.trial.timing import Timing
from tests.remarks import about
from tests.unit.clauses import codes
from tests.unit.fake_engine import FakeEngine

LIMIT_FPS, DEPTH = 20_000, 256
BURST_RATE_FPS = 1_000_000


def bucket(stream: Stream) -> Sequence[int]:
    """A gateway that forwards LIMIT_FPS and holds DEPTH frames, frame by frame."""
    (segment,) = stream.segments
    room, last_s, lost = float(DEPTH), 0.0, []
    for number in range(segment.frames):
        in_burst = number % segment.burst_frames
        due_s = (number - in_burst) / segment.rate_fps
        due_s += in_burst / (segment.burst_rate_fps or 1)
        room = min(DEPTH, room + (due_s - last_s) * LIMIT_FPS)
        last_s = due_s
        if room >= 1 - 1e-6:
            room -= 1
        else:
            lost.append(number)
    return lost


def found(
    traffic: TrafficPlan, frames: int, *, max_rate_fps: int | None = 60_000
) -> tuple[Measurement, FakeEngine]:
    engine = FakeEngine(lose=bucket)
    plan = ThroughputPlan(
        timing=Timing(duration_s=Fraction(1), drain_s=Fraction(0)),
        seed=1,
        repetitions=1,
        error=SearchError(fraction=Fraction(1, 50)),
        max_rate_fps=max_rate_fps,
        bursts=Bursts(frames=frames, rate_fps=BURST_RATE_FPS),
    )
    return throughput(plan, engine.session(traffic)), engine


@pytest.mark.parametrize("frames", [16, 64, 256])
def test_bursts_that_the_buffer_takes_pass_up_to_the_limit(nat64: TrafficPlan, frames: int) -> None:
    result, engine = found(nat64, frames)
    (rate_fps,) = result.figures[0].values
    assert LIMIT_FPS * 0.97 <= rate_fps <= LIMIT_FPS + DEPTH
    (interval,) = result.figure(f"least interval between bursts of {frames}").values
    assert interval == frames / rate_fps
    assert result.figure(f"throughput, bursts of {frames}").values == (rate_fps,)
    for spec in engine.specs:
        (segment,) = spec.phases[0].streams[0].segments
        assert (segment.burst_frames, segment.burst_rate_fps) == (frames, BURST_RATE_FPS)
        assert segment.frames % frames == 0
        assert segment.frames >= LEAST_BURSTS * frames
    assert Differs.BURST_RATE in codes(result.deviations)
    entry = result_entry(result)
    assert (entry["burst_frames"], entry["burst_rate_fps"]) == (frames, BURST_RATE_FPS)


def test_bursts_that_the_buffer_does_not_take_pass_at_no_rate(nat64: TrafficPlan) -> None:
    result, engine = found(nat64, 1024)
    (figure,) = result.figures
    assert (figure.name, figure.values) == ("throughput, bursts of 1,024", (0,))
    said = "0 means that no rate passed: the lowest rate tried is 171 fps, one burst every 5.99 s."
    assert str(about(Topic.LOWEST_RATE_OF_BURSTS, result.remarks)) == said
    tried = engine.rates_fps
    assert min(tried) >= 171  # 10 bursts in 60 s
    assert len(tried) < 20


def test_without_a_maximum_the_search_goes_up(nat64: TrafficPlan) -> None:
    result, engine = found(nat64, 64, max_rate_fps=None)
    assert LIMIT_FPS * 0.97 <= result.figures[0].values[0] <= LIMIT_FPS + DEPTH
    assert engine.specs[0].phases[0].streams[0].segments[0].rate_fps == 1000


def test_a_rate_of_too_few_bursts_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match=r"\(expected a rate of 171 or more\)"):
        found(nat64, 1024, max_rate_fps=100)


def test_the_rate_of_bursts_is_needed_where_the_media_have_none(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="rate_fps: is missing"):
        Bursts(frames=16).rate_of(FakeEngine().session(nat64))
    session = FakeEngine(link_mbps=10).session(nat64)
    assert Bursts(frames=16).rate_of(session) == 12_019


def test_silence_is_what_bursts_have_beyond_steady_traffic() -> None:
    """4 frames each 4 ms, the last of which is due after 3 us."""
    segment = Segment(frames=8, rate_fps=1000, pause_ns=0, burst_frames=4, burst_rate_fps=10**6)
    assert silence_s(segment) == Fraction(3, 1000) - Fraction(3, 10**6)
    assert silence_s(Segment(frames=8, rate_fps=1000, pause_ns=0)) == 0


def test_lengths_as_a_person_writes_them() -> None:
    assert bursts_of(None, None) == (None,)
    assert bursts_of("1,16", 7) == (None, Bursts(frames=16, rate_fps=7))
    with pytest.raises(ConfigurationError, match="frames: 70000 is out of range"):
        bursts_of("70000", None)
    with pytest.raises(ConfigurationError, match="--burst-rate"):
        bursts_of(None, 7)
    with pytest.raises(ConfigurationError, match=r"frames: .* is not a list"):
        bursts_of("sixteen", None)
