"""Bursts: what is searched, what follows from the longest, and when there is no figure."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, TesterLimit
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.back_to_back import (
    BURST,
    CORRECTED,
    IMPLIED,
    RATE_ERROR_NS,
    RFC_REPETITIONS,
    BackToBackPlan,
    back_to_back,
)
from natxy.procedure.throughput import ThroughputPlan
from natxy.procedure.timing import Timing
from natxy.search.bisection import SearchError
from tests.unit.scripted_engine import ScriptedEngine, frames_in, rate_of

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(2))
RATE_FPS = 100_000
THROUGHPUT_FPS = 60_000


def plan(**changes: Any) -> BackToBackPlan:
    given: dict[str, Any] = {
        "timing": FAST,
        "seed": 7,
        "repetitions": 2,
        "burst_rate_fps": RATE_FPS,
        "throughput_fps": THROUGHPUT_FPS,
    }
    return BackToBackPlan(**given | changes)


def longer_than(frames: int) -> ScriptedEngine:
    """What comes after so many frames is lost."""
    return ScriptedEngine(lose=lambda stream: range(frames, frames_in(stream)))


@pytest.mark.parametrize("frames", [1, 2, 63, 64, 65, 777, 9_999])
def test_the_longest_burst_is_found_to_a_frame(frames: int, nat64: TrafficPlan) -> None:
    result = back_to_back(plan(), longer_than(frames).tester(nat64), NoDut())
    burst = result.figure(BURST)
    assert burst.values == (frames, frames)
    assert burst.lower_bound == (False, False)


def test_implied_and_corrected_buffer_time(nat64: TrafficPlan) -> None:
    """RFC 9004 section 6.4: 500 frames at 100,000 fps are 5 ms, of which 60 % were forwarded."""
    result = back_to_back(plan(), longer_than(500).tester(nat64), NoDut())
    assert result.figure(IMPLIED).values == pytest.approx((0.005, 0.005))
    assert result.figure(CORRECTED).values == pytest.approx((0.002, 0.002))


def test_a_burst_at_the_end_of_the_search_is_a_lower_bound(nat64: TrafficPlan) -> None:
    """RFC 9004 section 6.2: at the upper limit, the search is to be repeated with a higher one."""
    result = back_to_back(plan(), ScriptedEngine().tester(nat64), NoDut())
    assert result.figure(BURST).values == (10_000, 10_000)
    assert all(result.figure(BURST).lower_bound)
    assert all(result.figure(CORRECTED).lower_bound)


@pytest.mark.parametrize("throughput_fps", [RATE_FPS, RATE_FPS + 1])
def test_a_device_as_fast_as_the_bursts_has_no_figure(
    throughput_fps: int, nat64: TrafficPlan
) -> None:
    """RFC 9004 section 6.1: no burst fills its buffer."""
    engine = longer_than(500)
    result = back_to_back(plan(throughput_fps=throughput_fps), engine.tester(nat64), NoDut())
    assert result.figures == ()
    assert any("section 6.1" in said for said in result.remarks)
    assert engine.specs == []


def test_the_throughput_is_found_first(nat64: TrafficPlan) -> None:
    def lose(stream: Stream) -> range:
        lasts = rate_of(stream) > THROUGHPUT_FPS and frames_in(stream) > 800
        return range(1 if lasts else 0)

    search = ThroughputPlan(
        timing=FAST,
        seed=0,
        repetitions=1,
        error=SearchError(rate_fps=1),
        max_rate_fps=RATE_FPS,
    )
    engine = ScriptedEngine(lose=lose)
    asked = plan(throughput_fps=None, search=search)
    result = back_to_back(asked, engine.tester(nat64), NoDut())
    assert result.figure(BURST).values == (800, 800)
    share = 1 - THROUGHPUT_FPS / RATE_FPS
    assert result.figure(CORRECTED).values == pytest.approx((0.008 * share,) * 2)
    assert any(f"{THROUGHPUT_FPS:,} fps" in said for said in result.remarks)
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces)


def test_bursts_come_at_the_medias_rate(nat64: TrafficPlan) -> None:
    """84 bytes at 1 Gb/s: 1,201,923 fps; nobody has to say so."""
    engine = longer_than(50)
    engine.link_mbps = 1000
    result = back_to_back(plan(burst_rate_fps=None), engine.tester(nat64), NoDut())
    assert result.conditions.rate_fps == 1_201_923
    assert result.figure(IMPLIED).values == pytest.approx((50 / 1_201_923,) * 2)


def test_without_a_rate_it_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="--burst-rate: is missing"):
        back_to_back(plan(burst_rate_fps=None), ScriptedEngine().tester(nat64), NoDut())


def test_a_burst_that_was_sent_too_slowly_is_no_burst(nat64: TrafficPlan) -> None:
    """It took longer than it may: every trial is invalid, and nothing is reported."""
    engine = longer_than(500)
    engine.excess_ns = RATE_ERROR_NS + 1
    with pytest.raises(TesterLimit, match="the burst took"):
        back_to_back(plan(), engine.tester(nat64), NoDut())
    engine.excess_ns = RATE_ERROR_NS - 1
    assert back_to_back(plan(), engine.tester(nat64), NoDut()).figure(BURST).values == (500, 500)


def test_the_testers_ceiling_is_a_lower_bound(nat64: TrafficPlan) -> None:
    def invalid(spec: TrialSpec) -> str:
        return "forward: late" if frames_in(spec.phases[0].streams[0]) > 300 else ""

    engine = ScriptedEngine(invalid=invalid)
    result = back_to_back(plan(invalid_repeats=1), engine.tester(nat64), NoDut())
    assert result.figure(BURST).values == (300, 300)
    assert all(result.figure(BURST).lower_bound)
    assert result.counts.invalid_trials > 0


def test_the_step_ends_the_search_and_is_reported(nat64: TrafficPlan) -> None:
    result = back_to_back(plan(step_frames=100), longer_than(777).tester(nat64), NoDut())
    assert all(677 < frames <= 777 for frames in result.figure(BURST).values)
    assert any("step 100 frames" in said for said in result.remarks)


def test_what_rfc_9004_asks_for_conforms(nat64: TrafficPlan) -> None:
    asked = plan(repetitions=RFC_REPETITIONS)
    said = back_to_back(asked, longer_than(9).tester(nat64), NoDut()).departures
    assert ["bursts at a given rate" in one for one in said] == [True]
    short = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1))
    said = back_to_back(plan(timing=short), longer_than(9).tester(nat64), NoDut()).departures
    assert ["rest" in said[1], "repetitions" in said[2]] == [True, True]
