"""Bursts: what is searched, what follows from the longest, and when there is no figure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, DutError, MeasurementError, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.back_to_back import (
    BURST,
    CORRECTED,
    FIRST_BURST,
    IMPLIED,
    RFC_REPETITIONS,
    BackToBackPlan,
    back_to_back,
)
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.back_to_back import FAST, RATE_FPS, THROUGHPUT_FPS, longer_than, plan
from tests.unit.clauses import codes, in_full_series, text
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import LATE, Disturbed

SLOW_FPS = 8_000


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A gateway that keeps so many frames and forwards so many a second, as on a drawing board."""

    frames: int
    drains_fps: int

    @property
    def longest(self) -> int:
        """The shortest burst that fills it."""
        filled = (n for n in range(10**6) if n - n * self.drains_fps // SLOW_FPS >= self.frames)
        return next(filled)

    def engine(self) -> FakeEngine:
        """Returns an engine that also loses what has not come by the end of the drain."""
        engine = FakeEngine()

        def come_s(stream: Stream) -> float:
            drained_s = engine.specs[-1].drain_ns / 1e9
            return frames_in(stream) / SLOW_FPS + drained_s

        def lose(stream: Stream) -> range:
            forwarded = min(self.longest, int(come_s(stream) * self.drains_fps))
            return range(min(forwarded, frames_in(stream)), frames_in(stream))

        def delays_ns(stream: Stream) -> tuple[float, float]:
            number = min(frames_in(stream), lose(stream).start) - 1
            return 1.0, number * 1e9 * (1 / self.drains_fps - 1 / SLOW_FPS)

        engine.lose, engine.delays_ns = lose, delays_ns
        return engine


def slow_plan(drain_s: Fraction, throughput_fps: int) -> BackToBackPlan:
    times = Timing(duration_s=Fraction(2), drain_s=drain_s)
    return plan(timing=times, burst_rate_fps=SLOW_FPS, throughput_fps=throughput_fps, repetitions=1)


@pytest.mark.parametrize(("drains_fps", "drain_s"), [(400, Fraction(2)), (1000, Fraction(1, 5))])
def test_a_buffer_that_takes_long_to_empty_is_waited_for(
    drains_fps: int, drain_s: Fraction, nat64: TrafficPlan
) -> None:
    """RFC 9004 section 6.2: the rest begins when the burst was received at the throughput."""
    buffer = Buffer(frames=1000, drains_fps=drains_fps)
    engine = buffer.engine()
    result = back_to_back(slow_plan(drain_s, drains_fps), engine.session(nat64))
    assert result.figure(BURST).values == (buffer.longest,)
    assert result.figure(BURST).lower_bound == (False,)
    for spec in engine.specs:
        assert spec.burst_limit_frames == 0, "no sender pauses"
        sent_s = Fraction(frames_in(spec.phases[0].streams[0]), SLOW_FPS)
        received_s = sent_s * SLOW_FPS / drains_fps
        rest_s = Fraction(spec.drain_ns + 1, 10**9) - (received_s - sent_s)
        assert rest_s >= drain_s
        assert rest_s >= received_s  # "longer times" where the burst or the buffer are long


def test_a_device_slower_than_its_throughput_is_a_lower_bound(nat64: TrafficPlan) -> None:
    """A short search takes what the buffer took for throughput: the rest is too short then."""
    buffer = Buffer(frames=1000, drains_fps=400)
    result = back_to_back(slow_plan(Fraction(1, 5), 2000), buffer.engine().session(nat64))
    assert result.figure(BURST).values[0] < buffer.longest
    assert result.figure(BURST).lower_bound == (True,)
    assert Topic.DRAIN_TOO_SHORT in topics(result.remarks)


def test_a_burst_that_no_trial_can_wait_for_is_not_tried(nat64: TrafficPlan) -> None:
    times = Timing(duration_s=Fraction(1800), drain_s=Fraction(2))
    asked = plan(timing=times, burst_rate_fps=RATE_FPS, throughput_fps=1, repetitions=1)
    engine = FakeEngine()
    result = back_to_back(asked, engine.session(nat64))
    assert result.figure(BURST).values == (1800,)
    assert result.figure(BURST).lower_bound == (True,)
    assert about(Topic.BURSTS_SENT, result.remarks).facts["longest"] == 1800
    with pytest.raises(ConfigurationError, match="duration_s: 1801 is out of range"):
        plan(timing=replace(times, duration_s=Fraction(1801)))


@pytest.mark.parametrize("frames", [1, 2, 63, 64, 65, 777, 9_999])
def test_the_longest_burst_is_found_to_a_frame(frames: int, nat64: TrafficPlan) -> None:
    result = back_to_back(plan(), longer_than(frames).session(nat64))
    burst = result.figure(BURST)
    assert burst.values == (frames, frames)
    assert burst.lower_bound == (False, False)


def test_implied_and_corrected_buffer_time(nat64: TrafficPlan) -> None:
    """RFC 9004 section 6.4: 500 frames at 100,000 fps are 5 ms, of which 60 % were forwarded."""
    result = back_to_back(plan(), longer_than(500).session(nat64))
    assert result.figure(IMPLIED).values == pytest.approx((0.005, 0.005))
    assert result.figure(CORRECTED).values == pytest.approx((0.002, 0.002))


def test_a_burst_at_the_end_of_the_search_is_a_lower_bound(nat64: TrafficPlan) -> None:
    """RFC 9004 section 6.2: at the upper limit, the search is to be repeated with a higher one."""
    result = back_to_back(plan(), FakeEngine().session(nat64))
    assert result.figure(BURST).values == (10_000, 10_000)
    assert all(result.figure(BURST).lower_bound)
    assert all(result.figure(CORRECTED).lower_bound)


@pytest.mark.parametrize("throughput_fps", [RATE_FPS, RATE_FPS + 1])
def test_a_device_as_fast_as_the_bursts_has_no_figure(
    throughput_fps: int, nat64: TrafficPlan
) -> None:
    """RFC 9004 section 6.1: no burst fills its buffer."""
    engine = longer_than(500)
    result = back_to_back(plan(throughput_fps=throughput_fps), engine.session(nat64))
    assert result.figures == ()
    assert Topic.NO_BURST_FILLS in topics(result.remarks)
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
    engine = FakeEngine(lose=lose)
    asked = plan(throughput_fps=None, search=search)
    result = back_to_back(asked, engine.session(nat64))
    assert result.figure(BURST).values == (800, 800)
    share = 1 - THROUGHPUT_FPS / RATE_FPS
    assert result.figure(CORRECTED).values == pytest.approx((0.008 * share,) * 2)
    corrected = about(Topic.CORRECTED_AS_FOUND, result.remarks)
    assert corrected.facts["rate_fps"] == THROUGHPUT_FPS
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces)


def too_fast_for_the_tester(spec: TrialSpec) -> Reason | None:
    """A search for the throughput has its trials of 10 ms; the bursts here are shorter."""
    stream = spec.phases[0].streams[0]
    return LATE if THROUGHPUT_FPS < rate_of(stream) < RATE_FPS else None


def found_by_a_weak_tester(lose: Callable[[Stream], range], nat64: TrafficPlan) -> Measurement:
    """Of the throughput no more is known than that it is at least 60,000 fps."""
    search = ThroughputPlan(
        timing=FAST, seed=0, repetitions=1, error=SearchError(rate_fps=1), max_rate_fps=99_999
    )
    engine = FakeEngine(lose=lose, invalid=too_fast_for_the_tester)
    asked = plan(throughput_fps=None, search=search)
    return back_to_back(asked, engine.session(nat64))


def test_corrected_with_a_lower_bound_of_the_throughput_it_is_an_upper_bound(
    nat64: TrafficPlan,
) -> None:
    def lose(stream: Stream) -> range:
        return range(500, frames_in(stream) if rate_of(stream) == RATE_FPS else 0)

    result = found_by_a_weak_tester(lose, nat64)
    corrected = result.figure(CORRECTED)
    assert corrected.values == pytest.approx((0.002, 0.002))
    assert corrected.bound(corrected.values[0]) == "upper"
    assert result.figure(BURST).bound(500) == "exact"
    assert Topic.CORRECTED_IS_BOUND in topics(result.remarks)
    assert Differs.OF_A_BOUND in codes(result.deviations)


def test_where_both_are_lower_bounds_nothing_is_known_of_the_corrected_time(
    nat64: TrafficPlan,
) -> None:
    result = found_by_a_weak_tester(lambda _: range(0), nat64)
    assert {figure.name for figure in result.figures} == {BURST, IMPLIED}
    assert Topic.CORRECTED_UNKNOWN in topics(result.remarks)


def test_a_device_that_loses_frames_at_every_rate_is_refused(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: range(frames_in(stream) // 2, frames_in(stream)))
    with pytest.raises(DutError, match=r"loses frames at every rate.*set throughput"):
        back_to_back(plan(throughput_fps=None), engine.session(nat64))


def test_where_the_throughput_comes_from_is_said(nat64: TrafficPlan) -> None:
    given = back_to_back(plan(), longer_than(9).session(nat64))
    assert about(Topic.CORRECTED_AS_GIVEN, given.remarks).facts == {"rate_fps": 60_000}

    def lose(stream: Stream) -> range:
        return range(1 if rate_of(stream) > THROUGHPUT_FPS else 0)

    asked = plan(throughput_fps=None, burst_rate_fps=10**6)
    found = back_to_back(asked, FakeEngine(lose=lose).session(nat64))
    how = str(about(Topic.CORRECTED_AS_FOUND, found.remarks))
    assert how.endswith(" fps, found first: 1 search, trials of 0.1 s, error 0.1 %.")
    short = next(each for each in found.deviations if each.where == "throughput")
    assert (short.code, short.facts) == (Differs.DURATION, {"has_s": 0.1, "asked_s": 60})


def test_bursts_come_at_the_medias_rate(nat64: TrafficPlan) -> None:
    """84 bytes at 1 Gb/s: 1,201,923 fps; nobody has to say so."""
    engine = longer_than(50)
    engine.link_mbps = 1000
    result = back_to_back(plan(burst_rate_fps=None), engine.session(nat64))
    assert result.conditions.rate_fps == 1_201_923
    assert result.figure(IMPLIED).values == pytest.approx((50 / 1_201_923,) * 2)


def test_without_a_rate_it_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="burst_rate_fps: is missing"):
        back_to_back(plan(burst_rate_fps=None), FakeEngine().session(nat64))


@pytest.mark.parametrize(
    ("step", "throughput_fps", "most_ns"),
    [(1, 50_000, 20_000), (10, 50_000, 200_000), (None, 50_000, 20_000), (None, 80_000, 12_500)],
)
def test_what_a_burst_takes_in_excess_is_bounded_in_frames(
    step: int | None, throughput_fps: int, most_ns: float, nat64: TrafficPlan
) -> None:
    """Excess x throughput is at most the step: a time of 100 us was five frames here, and 1,488 at
    10 Gbit/s. Every longer trial is invalid, and nothing is reported."""
    asked = plan(step_frames=step, throughput_fps=throughput_fps)
    engine = longer_than(500)
    engine.excess_ns = most_ns + 1
    with pytest.raises(TesterLimit, match=r"the burst took .* a larger step allows more"):
        back_to_back(asked, engine.session(nat64))
    engine.excess_ns = most_ns - 1
    result = back_to_back(asked, engine.session(nat64))
    assert all(500 - (step or 1) < frames <= 500 for frames in result.figure(BURST).values)


def test_at_a_high_rate_the_step_is_what_passes_in_20_us(nat64: TrafficPlan) -> None:
    asked = plan(throughput_fps=10**6, burst_rate_fps=2 * 10**6)
    result = back_to_back(asked, longer_than(5000).session(nat64))
    assert about(Topic.BURSTS_SENT, result.remarks).facts["step"] == 20
    assert all(4980 < frames <= 5000 for frames in result.figure(BURST).values)


def test_each_repetition_begins_anew(nat64: TrafficPlan) -> None:
    """With the same bursts: what the one before has found is no part of it."""
    engine = longer_than(777)
    back_to_back(plan(repetitions=3), engine.session(nat64))
    lengths = [frames_in(spec.phases[0].streams[0]) for spec in engine.specs]
    one = lengths[: len(lengths) // 3]
    assert lengths == one * 3
    assert one[0] == FIRST_BURST


def test_the_testers_ceiling_is_a_lower_bound(nat64: TrafficPlan) -> None:
    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if frames_in(spec.phases[0].streams[0]) > 300 else None

    engine = FakeEngine(invalid=invalid)
    result = back_to_back(plan(invalid_repeats=1), engine.session(nat64))
    assert result.figure(BURST).values == (300, 300)
    assert all(result.figure(BURST).lower_bound)
    assert result.counts.invalid_trials > 0


def test_bursts_that_are_spoilt_now_and_then_are_repeated(nat64: TrafficPlan) -> None:
    """Nine of ten, for a reason that has nothing to do with their length."""
    engine = longer_than(500)
    dut = Disturbed(engine=engine)
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
    result = back_to_back(plan(invalid_repeats=1, timing=timing), engine.session(nat64, dut))
    assert result.figure(BURST).values == (500, 500)
    assert not any(result.figure(BURST).lower_bound)


def test_bursts_that_a_slow_tester_spoils_are_not_repeated_for_long(nat64: TrafficPlan) -> None:
    engine = longer_than(500)
    engine.excess_ns = 1_000_000
    with pytest.raises(TesterLimit, match="the burst took"):
        back_to_back(plan(invalid_repeats=1), engine.session(nat64))
    lengths = [frames_in(spec.phases[0].streams[0]) for spec in engine.specs]
    assert all(lengths.count(length) == 2 for length in lengths)


def test_the_step_ends_the_search_and_is_reported(nat64: TrafficPlan) -> None:
    result = back_to_back(plan(step_frames=100), longer_than(777).session(nat64))
    assert all(677 < frames <= 777 for frames in result.figure(BURST).values)
    assert about(Topic.BURSTS_SENT, result.remarks).facts["step"] == 100


@pytest.mark.parametrize(
    ("option", "changes"),
    [
        ("step_frames", {"step_frames": 0}),
        ("step_frames", {"step_frames": 10**6 + 1}),
        ("burst_rate_fps", {"burst_rate_fps": 0}),
        ("throughput_fps", {"throughput_fps": 0}),
    ],
)
def test_steps_and_rates_that_cannot_be_are_refused(option: str, changes: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match=f"^{option}: .* is out of range"):
        plan(**changes)


def test_what_rfc_9004_asks_for_conforms(nat64: TrafficPlan) -> None:
    asked = plan(repetitions=RFC_REPETITIONS)
    session = in_full_series(longer_than(9).session(nat64))
    said = codes(back_to_back(asked, session).deviations)
    assert said == [Differs.GIVEN_RATE, Differs.BURST_RATE]
    short = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1))
    said = codes(back_to_back(plan(timing=short), session).deviations)
    assert said[2:] == [Differs.WAIT, Differs.REPETITIONS]


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
