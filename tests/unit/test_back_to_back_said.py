"""Tests of the remarks about bursts, and of the bursts at the ends of the options' ranges."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, MeasurementError
from natxy.model.deviation import Differs
from natxy.model.reason import Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.procedure.back_to_back import BURST, BackToBackPlan, back_to_back
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.back_to_back import RATE_FPS, THROUGHPUT_FPS, longer_than, plan
from tests.unit.clauses import codes, text
from tests.unit.fake_engine import FakeEngine, frames_in
from tests.unit.kept import Kept
from tests.unit.reasons import LATE

BURSTS_SENT = "Bursts were sent at 100,000 fps in each direction, with at most 10,000 frames; "


@pytest.mark.parametrize(
    ("step", "said"),
    [(1, "binary search, step 1 frame. The"), (2, "binary search, step 2 frames. The")],
)
def test_the_search_and_the_rest_are_described(step: int, said: str, nat64: TrafficPlan) -> None:
    result = back_to_back(plan(step_frames=step), longer_than(9).session(nat64))
    assert str(result.remarks[0]) == f"{BURSTS_SENT}{said} benchmark is the mean."
    assert about(Topic.BURST_WAITS, result.remarks).facts == {"least_s": 2}
    assert len(result.remarks) == 3


def test_bursts_grow_from_64_frames_to_twice_as_many_and_the_step_is_what_passes_in_20_us(
    nat64: TrafficPlan,
) -> None:
    engine = longer_than(130)
    asked = plan(throughput_fps=250_000, burst_rate_fps=500_000, repetitions=1)
    result = back_to_back(asked, engine.session(nat64))
    lengths = [frames_in(spec.phases[0].streams[0]) for spec in engine.specs]
    assert lengths[:3] == [64, 128, 256]
    assert about(Topic.BURSTS_SENT, result.remarks).facts["step"] == 5


def test_how_much_too_long_bursts_took_is_said_in_frames(nat64: TrafficPlan) -> None:
    """The worst of valid bursts; 0.15 ms at 60,000 frames a second."""
    engine = longer_than(500)
    engine.excess_ns = 150_000
    result = back_to_back(plan(step_frames=10), engine.session(nat64))
    facts = about(Topic.BURSTS_LONGER, result.remarks).facts
    assert facts == pytest.approx({"excess_ns": 150_000, "frames": 9})


def test_without_a_figure_no_repetition_is_lacking(nat64: TrafficPlan) -> None:
    """No burst had to be sent, whatever number was asked for."""
    asked = plan(throughput_fps=RATE_FPS, repetitions=2)
    result = back_to_back(asked, longer_than(500).session(nat64))
    assert not set(topics(result.remarks)) & {
        Topic.LACKING_BY_PATIENCE,
        Topic.LACKING_BY_RETRY_TIME,
    }
    assert "2 repetitions, not 50 (RFC 2544 section 26.4)" in text(result.deviations)


def test_a_burst_has_at_least_a_frame(nat64: TrafficPlan) -> None:
    """A tenth of a frame is due in 1 µs."""
    timing = Timing(duration_s=Fraction(1, 10**6), drain_s=Fraction(2))
    engine = FakeEngine()
    result = back_to_back(plan(timing=timing), engine.session(nat64))
    assert result.figure(BURST).values == (1, 1)
    assert {frames_in(spec.phases[0].streams[0]) for spec in engine.specs} == {1}


def test_a_gateway_that_keeps_no_frame_has_no_burst(nat64: TrafficPlan) -> None:
    with pytest.raises(MeasurementError, match="forward: none of"):
        back_to_back(plan(), longer_than(0).session(nat64))


def test_a_rest_shorter_than_two_seconds_departs(nat64: TrafficPlan) -> None:
    short = replace(plan().timing, drain_s=Fraction(3, 2))
    said = back_to_back(plan(timing=short), longer_than(9).session(nat64)).deviations
    assert "at least 1.5 s of waiting after a burst, not 2 s (RFC 9004 section 6.2)" in text(said)
    of_2_s = back_to_back(plan(), longer_than(9).session(nat64)).deviations
    assert Differs.WAIT not in codes(of_2_s)


@pytest.mark.parametrize(
    ("timing", "said"),
    [
        ({"drain_s": Fraction(1801)}, r"drain_s: 1801 is out of range \(expected 0 to 1800\)"),
        ({"duration_s": Fraction(1801)}, r"duration_s: 1801 is out of range"),
    ],
)
def test_a_burst_or_a_rest_longer_than_half_an_hour_is_refused(
    timing: dict[str, Any], said: str
) -> None:
    longest = replace(plan().timing, duration_s=Fraction(1800), drain_s=Fraction(1800))
    assert plan(timing=longest).timing == longest
    with pytest.raises(ConfigurationError, match=said):
        plan(timing=replace(longest, **timing))


def test_the_media_of_a_very_long_trial_are_too_fast(nat64: TrafficPlan) -> None:
    """1 Tbit/s makes more frames in half an hour than have a number."""
    timing = Timing(duration_s=Fraction(1800), drain_s=Fraction(2))
    engine = FakeEngine(link_mbps=10**6)
    asked = plan(timing=timing, burst_rate_fps=None)
    with pytest.raises(ConfigurationError, match=r"^burst_rate_fps: .* is out of range"):
        back_to_back(asked, engine.session(nat64))
    assert not engine.specs


def test_the_longest_burst_of_each_repetition_is_shown_as_soon_as_it_is_found(
    nat64: TrafficPlan,
) -> None:
    shown = Kept()
    back_to_back(plan(), longer_than(777).session(nat64, observer=shown))
    assert [(each.name, each.values) for each in shown.figures] == [(BURST, (777,))] * 2


def test_bursts_that_stay_invalid_bound_the_search_down_to_a_single_frame(
    nat64: TrafficPlan,
) -> None:

    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if frames_in(spec.phases[0].streams[0]) > 1 else None

    engine = FakeEngine(invalid=invalid)
    asked = BackToBackPlan(
        timing=plan().timing,
        seed=1,
        repetitions=1,
        burst_rate_fps=RATE_FPS,
        throughput_fps=THROUGHPUT_FPS,
        invalid_repeats=1,
    )
    result = back_to_back(asked, engine.session(nat64))
    assert result.figure(BURST).values == (1,)
    assert result.figure(BURST).lower_bound == (True,)
