"""System recovery: which rates are sent, and which frame's departure ends it."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any

import pytest

from natxy.errors import ConfigurationError, DutError, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.reason import Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Direction, Stream, TrialSpec
from natxy.procedure.recovery import (
    LOST,
    NOT_OVERLOADED,
    RECOVERY,
    RFC,
    RecoveryPlan,
    recovery,
)
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes, in_full_series, text, texts
from tests.unit.fake_engine import FakeEngine, beyond, due_ns, first_above, frames_in, rate_of
from tests.unit.reasons import LATE

FAST = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))
THROUGHPUT_FPS = 10_000
WAYS: tuple[Direction, ...] = ("forward", "reverse")


def plan(**changes: Any) -> RecoveryPlan:
    given: dict[str, Any] = {
        "timing": FAST,
        "seed": 7,
        "repetitions": 2,
        "rate_fps": THROUGHPUT_FPS,
    }
    return RecoveryPlan(**given | changes)


def sulking(until_s: float) -> FakeEngine:
    """Loses every second frame until so long after the fall of the rate."""

    def lose(stream: Stream) -> list[int]:
        end_ns = (0.2 + until_s) * 1e9 + 1
        return [n for n in range(0, frames_in(stream), 2) if due_ns(stream, n) <= end_ns]

    return FakeEngine(lose=lose)


def test_110_percent_then_half_of_that(nat64: TrafficPlan) -> None:
    engine = sulking(0.05)
    recovery(plan(after_s=Fraction(1, 2)), engine.session(nat64))
    for stream in engine.specs[0].phases[0].streams:
        sent = [(segment.rate_fps, segment.frames) for segment in stream.segments]
        assert sent == [(11_000, 2_200), (5_500, 2_750)]


def test_not_more_than_the_media_carries(nat64: TrafficPlan) -> None:
    """10 Mb/s carry 12,019 frames of 84 bytes, fewer than 110 % of 11,500."""
    engine = sulking(0.05)
    engine.link_mbps = 10
    recovery(plan(rate_fps=11_500), engine.session(nat64))
    stream = engine.specs[0].phases[0].streams[0]
    assert [segment.rate_fps for segment in stream.segments] == [12_019, 6_009]


@pytest.mark.parametrize("after_s", [None, Fraction(1, 2)])
def test_the_time_is_from_the_fall_to_the_last_lost_frame(
    after_s: Fraction | None, nat64: TrafficPlan
) -> None:
    result = recovery(plan(after_s=after_s), sulking(0.12).session(nat64))
    for direction in ("forward", "reverse"):
        figure = result.figure(RECOVERY, direction)
        assert figure.values == pytest.approx((0.12, 0.12), abs=2 / 5_500)
        assert not any(figure.lower_bound)


def test_no_loss_after_the_fall_is_a_time_of_0(nat64: TrafficPlan) -> None:
    result = recovery(plan(), sulking(-0.05).session(nat64))
    assert result.figure(RECOVERY, "forward").values == (0, 0)
    assert result.figure(LOST, "forward").values[0] > 0
    assert Topic.NO_OVERLOAD not in topics(result.remarks)


def test_without_an_overload_there_is_no_recovery(nat64: TrafficPlan) -> None:
    result = recovery(plan(), FakeEngine().session(nat64))
    figure = result.figure(RECOVERY, "forward")
    assert (figure.values, figure.missing) == ((), NOT_OVERLOADED)
    assert result.figure(LOST, "forward").values == (0, 0)
    assert Topic.NO_OVERLOAD in topics(result.remarks)


def test_a_trial_without_an_overload_makes_the_time_uncertain(nat64: TrafficPlan) -> None:
    """The first of two trials loses a frame during the overload, forward only."""
    trials = count()

    def lose(stream: Stream) -> list[int]:
        return [5] if stream.direction == "forward" and not next(trials) else []

    result = recovery(plan(), FakeEngine(lose=lose).session(nat64))
    known = {way: result.figure(RECOVERY, way) for way in WAYS}
    assert (known["forward"].values, known["forward"].uncertain) == ((0, 0), True)
    assert known["reverse"].values == ()
    assert Topic.NO_OVERLOAD in topics(result.remarks)
    certain = recovery(plan(), FakeEngine(lose=lambda _: [5]).session(nat64))
    assert not certain.figure(RECOVERY, "forward").uncertain


def test_loss_up_to_the_end_is_a_lower_bound(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: range(100, frames_in(stream)))
    figure = recovery(plan(), engine.session(nat64)).figure(RECOVERY, "reverse")
    assert all(figure.lower_bound)
    assert figure.values == pytest.approx((0.2, 0.2), abs=2 / 5_500)


# The rate falls at 0.2 s; 5,500 frames a second come then, of which the first has number 2,200.
NOISE = pytest.mark.parametrize(
    "noise",
    [
        {"away_from_ns": 260_000_000, "away_ns": lambda _: 40e6},
        {"members": lambda _: {"late_runs": [(2530, 2760)]}},
    ],
    ids=["an absence", "a late tester"],
)


@NOISE
def test_what_noise_may_have_lost_last_is_the_error(
    noise: dict[str, Any], nat64: TrafficPlan
) -> None:
    """The gateway loses frames for 0.1 s, and was away from 0.06 s to then."""
    result = recovery(plan(), replace(sulking(0.1), **noise).session(nat64))
    figure = result.figure(RECOVERY, "forward")
    assert figure.values == pytest.approx((0.1, 0.1), abs=2 / 5_500)
    assert figure.errors == pytest.approx((0.04, 0.04), abs=1e-3)
    assert not any(figure.upper_bound)
    assert not any(figure.lower_bound)


@NOISE
def test_what_is_lost_after_the_noise_has_no_error(
    noise: dict[str, Any], nat64: TrafficPlan
) -> None:
    engine = replace(sulking(0.15), **noise)
    assert recovery(plan(), engine.session(nat64)).figure(RECOVERY, "forward").errors == ()


def test_a_recovery_that_is_all_noise_is_an_upper_bound(nat64: TrafficPlan) -> None:
    away: dict[str, Any] = {"away_from_ns": 200_000_000, "away_ns": lambda _: 20e6}
    result = recovery(plan(), replace(sulking(0.01), **away).session(nat64))
    figure = result.figure(RECOVERY, "forward")
    assert figure.upper_bound == (True, True)
    assert Topic.UPPER_BOUND in topics(result.remarks)


@NOISE
def test_noise_does_not_shorten_a_recovery_to_0(noise: dict[str, Any], nat64: TrafficPlan) -> None:
    engine = replace(sulking(-0.05), **noise)
    figure = recovery(plan(), engine.session(nat64)).figure(RECOVERY, "forward")
    assert (figure.values, figure.errors) == ((0, 0), ())
    assert not any(figure.upper_bound)


def test_a_last_loss_that_noise_may_explain_is_no_lower_bound(nat64: TrafficPlan) -> None:
    early: dict[str, Any] = {"away_from_ns": 260_000_000, "away_ns": lambda _: 10e6}
    to_the_end = FakeEngine(lose=lambda stream: range(100, frames_in(stream)), **early)
    assert all(recovery(plan(), to_the_end.session(nat64)).figures[0].lower_bound)
    with pytest.raises(TesterLimit, match="the last frame was lost, and the gateway or the tester"):
        recovery(plan(), replace(to_the_end, away_ns=lambda _: 200e6).session(nat64))


def test_the_throughput_is_found_first(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=partial(beyond, THROUGHPUT_FPS))
    search = ThroughputPlan(
        timing=FAST, seed=0, repetitions=1, error=SearchError(rate_fps=1), max_rate_fps=50_000
    )
    result = recovery(plan(rate_fps=None, search=search), engine.session(nat64))
    assert result.conditions.rate_fps == THROUGHPUT_FPS
    assert about(Topic.RATE_FOUND, result.remarks).facts["searches"] == 1
    assert Topic.RATE_IS_BOUND not in topics(result.remarks)
    assert "a lower bound" not in text(result.deviations)
    last = engine.specs[-1].phases[0].streams[0]
    assert [segment.rate_fps for segment in last.segments] == [11_000, 5_500]
    limits = (engine.specs[0].burst_limit_frames, engine.specs[-1].burst_limit_frames)
    assert limits == (128, 0), "only a steady load may pause"


def test_the_rates_and_the_lost_frames_are_stated(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: range(3))
    result = recovery(plan(), engine.session(nat64))
    assert str(result.remarks[1]) == "Overload at 11,000 fps, then 5,500 fps, per direction."
    lost = result.figure(LOST, "reverse")
    assert (lost.values, lost.unit, lost.primary) == ((3, 3), "frames", False)
    slowest = recovery(plan(rate_fps=1), FakeEngine().session(nat64))
    assert str(slowest.remarks[1]) == "Overload at 1 fps, then 1 fps, per direction."


def test_several_searches_for_the_rate_are_counted(nat64: TrafficPlan) -> None:
    """The median of their results is the rate."""
    engine = FakeEngine(lose=first_above(THROUGHPUT_FPS))
    error = SearchError(rate_fps=1)
    search = ThroughputPlan(timing=FAST, seed=0, repetitions=2, error=error, max_rate_fps=50_000)
    result = recovery(plan(rate_fps=None, search=search), engine.session(nat64))
    assert str(result.remarks[0]) == (
        "The rate is the throughput, found first: 2 searches, trials of 0.2 s, error 1 fps."
    )


def test_the_invalid_trials_of_that_search_are_told(nat64: TrafficPlan) -> None:
    """An absence explains the loss of the first trial above the rate; it is repeated."""
    away = iter([2e8])
    engine = FakeEngine(
        lose=first_above(THROUGHPUT_FPS),
        away_ns=lambda phase: (
            next(away, 0.0) if rate_of(phase.streams[0]) > THROUGHPUT_FPS else 0.0
        ),
    )
    error = SearchError(rate_fps=100)
    search = ThroughputPlan(timing=FAST, seed=0, repetitions=1, error=error, max_rate_fps=50_000)
    result = recovery(plan(rate_fps=None, search=search), engine.session(nat64))
    assert about(Topic.INVALID_IN_SEARCH, result.remarks).facts["invalid"] == 1


def test_110_percent_of_the_testers_limit_is_no_overload(nat64: TrafficPlan) -> None:
    """RFC 2544 section 26.5: of the gateway's throughput."""

    def invalid(spec: TrialSpec) -> Reason | None:
        stream = spec.phases[0].streams[0]
        searching = len(stream.segments) == 1
        return LATE if searching and rate_of(stream) > THROUGHPUT_FPS else None

    engine = FakeEngine(invalid=invalid)
    result = recovery(plan(rate_fps=None), engine.session(nat64))
    assert Topic.RATE_IS_BOUND in topics(result.remarks)
    assert Differs.OVERLOAD_OF_A_BOUND in codes(result.deviations)


def test_a_throughput_that_was_given_is_said_to_be(nat64: TrafficPlan) -> None:
    result = recovery(plan(), sulking(0.05).session(nat64))
    assert result.remarks[0].code is Topic.RATE_GIVEN


def test_a_device_that_passes_nothing_has_no_throughput(nat64: TrafficPlan) -> None:
    with pytest.raises(DutError, match=r"loses frames at every rate.*set rate_fps"):
        recovery(plan(rate_fps=None), FakeEngine(lose=lambda _: [0]).session(nat64))


@pytest.mark.parametrize("after_s", [-5, 0, 100_000, 10**9])
def test_a_time_afterwards_that_cannot_be_is_refused(after_s: int) -> None:
    with pytest.raises(
        ConfigurationError, match=r"after_s: -?\d+ is out of range \(expected 1e-06 to 86399"
    ):
        plan(after_s=Fraction(after_s))


def test_a_trial_of_two_long_parts_is_refused() -> None:
    """60,000 s and as many again are more than the day that a trial may last."""
    long = Timing(duration_s=Fraction(60_000), drain_s=Fraction(0))
    with pytest.raises(ConfigurationError, match="after_s: 60000 is out of range"):
        plan(timing=long)


@pytest.mark.parametrize(
    ("given", "highest"),
    [
        ({"rate_fps": 2**33}, int(2**33 / 1.1)),
        # 2^40 - 1 frames in 1.1 x T x 50,000 s and half of that for 20,000 s.
        (
            {
                "rate_fps": 20_000_000,
                "timing": Timing(duration_s=Fraction(50_000), drain_s=Fraction(0)),
                "after_s": Fraction(20_000),
            },
            int((2**40 - 1) / 1.1 / 60_000),
        ),
    ],
)
def test_a_throughput_whose_overload_is_no_rate_is_refused(
    given: dict[str, Any], highest: int
) -> None:
    with pytest.raises(ConfigurationError, match=f"rate_fps: .* \\(expected 1 to {highest}\\)"):
        plan(**given)


def test_the_longest_and_the_fastest_are_sent(nat64: TrafficPlan) -> None:
    """What the plan takes, the trial takes as well: nothing is lost by rounding."""
    fastest = int(2**33 / 1.1)
    asked = plan(
        timing=Timing(duration_s=Fraction(1, 10**6), drain_s=Fraction(0)), rate_fps=fastest
    )
    engine = FakeEngine()
    recovery(asked, engine.session(nat64))
    assert len(engine.specs) == 2
    for spec in engine.specs:
        high, low = spec.phases[0].streams[0].segments
        assert (high.rate_fps, low.rate_fps) == (fastest * 11 // 10, fastest * 11 // 20)
        assert (high.frames, low.frames) == (8589, 4294)  # of a microsecond each


def test_an_overload_that_the_tester_cannot_send_is_an_error(nat64: TrafficPlan) -> None:
    engine = FakeEngine(invalid=lambda _: LATE)
    with pytest.raises(TesterLimit, match="11000 frames a second were invalid"):
        recovery(plan(invalid_repeats=1), engine.session(nat64))


def test_short_ones_do_not_conform(nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("natxy.tester.tester.time.sleep", lambda _: None)
    session = in_full_series(FakeEngine().session(nat64))
    assert texts(recovery(plan(), session).deviations) == [
        "trials of 0.2 s, not 60 s (RFC 2544 section 24)",
        "a drain of 0 s, not 2 s (RFC 2544 section 23 d)",
        "a settle time of 0 s, not 5 s (RFC 2544 section 23 e)",
        "110 % of a given rate, not of the measured throughput (RFC 2544 section 26.5)",
    ]
    slow = plan(timing=RFC.timing, rate_fps=10, repetitions=2)
    assert codes(recovery(slow, session).deviations) == [Differs.GIVEN_OVERLOAD]
    once = replace(slow, repetitions=1)
    said = texts(recovery(once, session).deviations)
    assert said[0] == "1 repetition, not several (RFC 2544 section 26.5)"
