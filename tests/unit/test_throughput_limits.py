"""Tests of the bounds of a search for the throughput, and of the remarks on its trials."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, TesterLimit
from natxy.measure.search_remarks import no_burst_passed
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Reason
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.throughput import ThroughputPlan, searches, throughput
from natxy.search.bisection import SearchError
from natxy.search.settings import LossTolerance
from natxy.trial.bound import Bounded
from natxy.trial.bursts import Bursts
from natxy.trial.profile import QUICK, RFC
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import LATE

FAST = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))
PLAN = ThroughputPlan(timing=FAST, seed=1, repetitions=1, error=SearchError(rate_fps=1))


def losing_above(limit_fps: int) -> FakeEngine:
    def lose(stream: Stream) -> range:
        rate_fps = rate_of(stream)
        return range(-(-frames_in(stream) * max(0, rate_fps - limit_fps) // rate_fps))

    return FakeEngine(lose=lose)


def test_the_medias_rate_is_said_to_limit_the_result(nat64: TrafficPlan) -> None:
    at_media = throughput(PLAN, FakeEngine(link_mbps=10).session(nat64))
    assert at_media.figures[0].bound(12_019) == "exact"
    assert Topic.MEDIA in topics(at_media.remarks)
    given = throughput(replace(PLAN, max_rate_fps=5000), FakeEngine(link_mbps=10).session(nat64))
    assert given.figures[0].bound(5000) == "lower"
    assert Topic.MEDIA not in topics(given.remarks)
    below = losing_above(3000)
    below.link_mbps = 10
    assert Topic.MEDIA not in topics(throughput(PLAN, below.session(nat64)).remarks)


def test_a_search_without_a_maximum_starts_at_1000_and_grows_by_4(nat64: TrafficPlan) -> None:
    engine = losing_above(50_000)
    throughput(PLAN, engine.session(nat64))
    assert engine.rates_fps[:4] == [1000, 4000, 16_000, 64_000]
    limited = losing_above(50_000)
    throughput(replace(PLAN, max_rate_fps=60_000), limited.session(nat64))
    assert limited.rates_fps[:2] == [60_000, 30_000]


@pytest.mark.parametrize("valid_fps", [999, 1000])
def test_a_tester_whose_trials_are_invalid_at_1000_a_second_has_another_problem(
    valid_fps: int, nat64: TrafficPlan
) -> None:
    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if rate_of(spec.phases[0].streams[0]) > valid_fps else None

    engine = FakeEngine(invalid=invalid)
    plan = replace(PLAN, max_rate_fps=4000, invalid_repeats=0)
    if valid_fps < 1000:
        with pytest.raises(TesterLimit, match=r"no rate passed, and at 1000 frames a second"):
            throughput(plan, engine.session(nat64))
        assert engine.rates_fps == [4000, 2000, 1000]
        return
    assert throughput(plan, engine.session(nat64)).figures[0].values == (1000,)


def test_a_tester_whose_trials_are_invalid_just_above_1000_a_second_may_have_a_lower_limit(
    nat64: TrafficPlan,
) -> None:
    """4004, 2002, 1001: what is invalid there may be so for its rate."""
    engine = FakeEngine(
        invalid=lambda spec: LATE if rate_of(spec.phases[0].streams[0]) > 600 else None
    )
    plan = replace(PLAN, max_rate_fps=4004, invalid_repeats=0)
    assert throughput(plan, engine.session(nat64)).figures[0].values == (600,)


def test_a_trial_lasts_until_an_overload_by_the_error_has_filled_the_queue() -> None:
    """1 % of 100,000 frames a second fill 128 places in 0.128 s."""
    plan = ThroughputPlan(
        timing=QUICK.timing,
        seed=1,
        repetitions=1,
        error=SearchError(fraction=Fraction(1, 100)),
        buffer_frames=128,
    )
    assert plan.duration_s(100_000) == Fraction(128, 1000)
    assert plan.duration_s(10_000_000) == Fraction(1, 20)
    assert plan.duration_s(1000) == Fraction(1, 5)
    assert str(plan.deviations[0]) == "trials of 0.05 s to 0.2 s, not 60 s (RFC 2544 section 24)"
    shorter = replace(plan, timing=replace(QUICK.timing, duration_s=Fraction(1, 25)))
    assert str(shorter.deviations[0]).startswith("trials of 0.04 s to 0.04 s, not 60 s")
    assert replace(plan, buffer_frames=None).duration_s(100_000) == Fraction(1, 5)


def test_short_trials_count_what_the_gateway_still_holds() -> None:
    for timing, short in ((QUICK.timing, True), (RFC.timing, False)):
        counting = replace(PLAN, timing=timing).load(1000, above_fps=7).counting
        assert counting
        assert (counting.short, counting.above_fps) == (short, 7)


@pytest.mark.parametrize(
    ("patience_s", "made"), [("0.25", 2), ("0.22", 1), ("0.15", 1), ("1000", 5)]
)
def test_a_repetition_begins_if_the_planned_time_of_those_before_is_shorter(
    patience_s: str, made: int, nat64: TrafficPlan
) -> None:
    """Each takes two trials, of 0.01 s and 0.1 s to the next: 0.22 s."""
    plan = replace(
        PLAN,
        repetitions=5,
        max_rate_fps=1000,
        error=SearchError(rate_fps=500),
        patience_s=Fraction(patience_s),
    )
    engine = losing_above(900)
    result = throughput(plan, engine.session(nat64))
    assert len(result.figures[0].values) == made
    assert topics(result.remarks).count(Topic.LACKING_BY_PATIENCE) == (made < 5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"patience_s": Fraction(-1)}, r"^patience_s: -1 .* \(expected 0 to 86400\)"),
        ({"patience_s": Fraction(86_401)}, r"^patience_s: 86401 is out of range"),
        ({"max_rate_fps": 0}, r"^max_rate_fps: 0 is out of range"),
        ({"max_rate_fps": 2**33 + 1}, r"^max_rate_fps: 8589934593 is out of range"),
        ({"early_end": True}, r"^early_end: needs a time after which a frame is lost"),
        (
            {
                "early_end": True,
                "timing": RFC.timing,
                "loss": LossTolerance(fraction=Fraction(1, 9)),
            },
            r"^early_end: is not possible with loss",
        ),
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        replace(PLAN, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"patience_s": Fraction(0)},
        {"patience_s": Fraction(86_400)},
        {"max_rate_fps": 2**33},
        {"early_end": True, "timing": replace(FAST, drain_s=Fraction(1))},
        {"early_end": True, "timing": replace(FAST, frame_timeout_s=Fraction(1, 1000))},
    ],
    ids=str,
)
def test_options_at_the_ends_of_their_ranges_are_taken(changes: dict[str, Any]) -> None:
    assert isinstance(replace(PLAN, **changes), ThroughputPlan)


def bursty(nat64: TrafficPlan, bursts: Bursts, link_mbps: int, **changes: Any) -> Measurement:
    plan = replace(PLAN, bursts=bursts, timing=Timing(duration_s=Fraction(1), drain_s=Fraction(0)))
    engine = losing_above(10_000)
    engine.link_mbps = link_mbps
    return throughput(replace(plan, **changes), engine.session(nat64))


def test_bursts_at_the_medias_smallest_gap_do_not_depart(nat64: TrafficPlan) -> None:
    given = bursty(nat64, Bursts(frames=16, rate_fps=100_000), 100)
    assert Differs.BURST_RATE in codes(given.deviations)
    at_media = bursty(nat64, Bursts(frames=16), 100)
    assert Differs.BURST_RATE not in codes(at_media.deviations)
    assert about(Topic.BURSTS, at_media.remarks).facts == {"frames": 16, "rate_fps": 120_192}


def test_an_interval_between_bursts_that_a_lower_bound_gives_is_an_upper_one(
    nat64: TrafficPlan,
) -> None:
    result = bursty(nat64, Bursts(frames=16, rate_fps=100_000), 0, max_rate_fps=8000)
    rate, interval = result.figures
    assert (rate.values, rate.lower_bound) == ((8000,), (True,))
    assert interval.values == pytest.approx((0.002,))
    assert (interval.upper_bound, interval.primary) == ((True,), False)


def test_bursts_are_never_tried_at_less_than_ten_in_a_minute(nat64: TrafficPlan) -> None:
    """Of 960 frames each: at less than 160 frames a second, ten take more than a minute."""
    plan = replace(PLAN, bursts=Bursts(frames=960, rate_fps=10**6), max_rate_fps=160)
    engine = FakeEngine()
    assert throughput(plan, engine.session(nat64)).figures[0].values == (160,)
    too_low = replace(plan, max_rate_fps=159)
    with pytest.raises(ConfigurationError, match=r"10 bursts of 960 frames at 159 .* 160 or more"):
        throughput(too_low, engine.session(nat64))


def test_why_nothing_passed_names_the_longest_interval_between_bursts() -> None:
    assert str(no_burst_passed(Bursts(frames=1024), 1710)) == (
        "0 means that no rate passed: the lowest rate tried is 1,710 fps, one burst every 599 ms."
    )


def test_a_search_keeps_the_trial_whose_rate_is_its_result(nat64: TrafficPlan) -> None:
    def found(engine: FakeEngine) -> Bounded:
        plan = replace(PLAN, max_rate_fps=50_000)
        (one,) = searches(plan, plan.trials(engine.session(nat64)))
        return one

    (passed,) = found(losing_above(5000)).trials
    assert (passed.rate_fps, passed.verdict) == (5000, Verdict.PASS)
    nothing = found(FakeEngine(lose=lambda _: (0,)))
    assert (nothing.rate_fps, nothing.trials) == (0, ())


def test_bursts_longer_than_the_testers_ring_are_named(nat64: TrafficPlan) -> None:
    class Ringed(FakeEngine):
        def port_at(self, side: str) -> dict[str, Any]:
            return super().port_at(side) | {"rx_ring_frames": 2048 if side == "left" else 512}

    def said(frames: int) -> list[Remark]:
        plan = replace(PLAN, bursts=Bursts(frames=frames, rate_fps=10**6), max_rate_fps=1000)
        remarks = throughput(plan, Ringed().session(nat64)).remarks
        return [remark for remark in remarks if remark.code is Topic.BURST_FILLS_RING]

    assert said(512) == []
    (remark,) = said(513)
    assert remark.facts == {"frames": 513, "ring": 512}


def test_the_rate_of_each_repetition_is_shown_as_soon_as_it_is_found(nat64: TrafficPlan) -> None:
    shown = Kept()
    throughput(replace(PLAN, repetitions=2), losing_above(5000).session(nat64, observer=shown))
    assert [each.values for each in shown.figures] == [(5000,)] * 2
    assert shown.started == [(1, 2), (2, 2)]
