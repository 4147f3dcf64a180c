"""Tests of what an MLRsearch reports beside its rates, and of the rates that it may try."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.deviation import Differs
from natxy.model.measurement import Figure
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream
from natxy.procedure.mlr_throughput import mlr_throughput
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes, in_full_series, texts
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.mlr_throughput import LIMIT_FPS, NDR, PDR, limited, plan

CONDITIONAL = "PDR (1 % loss), conditional throughput"


def test_a_rate_with_a_loss_has_that_of_the_frames_that_came_beside_it(nat64: TrafficPlan) -> None:
    """RFC 9971: at 50,505 frames a second, the gateway forwards 50,000."""
    result = mlr_throughput(plan(), FakeEngine(lose=limited).session(nat64))
    assert [(figure.name, figure.primary) for figure in result.figures] == [
        ("NDR", True),
        ("NDR, upper bound", False),
        ("PDR (1 % loss)", True),
        ("PDR (1 % loss), upper bound", False),
        (CONDITIONAL, False),
    ]
    conditional = result.figure(CONDITIONAL)
    assert conditional.unit == "fps"
    assert conditional.values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)
    assert conditional.values[0] < result.figure("PDR (1 % loss)").values[0]


def test_a_rate_that_has_no_upper_bound_in_one_repetition_has_none_shown(
    nat64: TrafficPlan,
) -> None:
    asked = plan(goals=(NDR,), repetitions=2, max_rate_fps=60_000)
    engine = FakeEngine()

    def lose(stream: Stream) -> Sequence[int]:
        is_first = engine.specs[-1].seed == engine.specs[0].seed
        return limited(stream) if is_first else range(0)

    engine.lose = lose
    result = mlr_throughput(asked, engine.session(nat64))
    assert result.figure("NDR").lower_bound == (False, True)
    assert result.figure("NDR").values[1] == 60_000
    assert [figure.name for figure in result.figures] == ["NDR"]


def test_a_gateway_that_loses_at_every_rate_has_a_rate_of_0(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: range(1, frames_in(stream)))
    result = mlr_throughput(plan(min_rate_fps=2000), engine.session(nat64))
    for name in ("NDR", "PDR (1 % loss)", CONDITIONAL):
        assert result.figure(name).values == (0,)
        assert not any(result.figure(name).lower_bound)
    assert about(Topic.LOWEST_RATE, result.remarks).facts == {"least_fps": 2000}
    tried = {rate_of(spec.phases[0].streams[0]) for spec in engine.specs}
    assert min(tried) == 2000
    passing = mlr_throughput(plan(), FakeEngine(lose=limited).session(nat64))
    assert Topic.LOWEST_RATE not in topics(passing.remarks)


def test_the_media_bound_the_search(nat64: TrafficPlan) -> None:
    """10 Mbit/s carry 12,019 frames of 84 + 20 octets."""
    engine = FakeEngine(link_mbps=10)
    result = mlr_throughput(plan(goals=(NDR,), max_rate_fps=None), engine.session(nat64))
    assert result.figure("NDR").values == (12_019,)
    search = result.conditions.search
    assert search
    assert (search.maximum_fps, search.maximum_origin) == (12_019, "media")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_rate_fps": 100}, r"^max_rate_fps: 100 is out of range \(expected more than 100\)"),
        ({"goals": ()}, r"^duration_s: 0\.05 s is not the duration .* \(expected 0 s\)"),
        ({"max_rate_fps": 0}, "^max_rate_fps: 0 is out of range"),
        ({"max_rate_fps": 2**33 + 1}, "^max_rate_fps: 8589934593 is out of range"),
    ],
)
def test_a_maximum_that_leaves_no_rate_to_try_is_refused(
    changes: dict[str, Any], said: str, nat64: TrafficPlan
) -> None:
    just_enough = plan(goals=(NDR,), max_rate_fps=101)
    result = mlr_throughput(just_enough, FakeEngine().session(nat64))
    assert result.figure("NDR").values == (101,)
    with pytest.raises(ConfigurationError, match=said):
        mlr_throughput(plan(**changes), FakeEngine().session(nat64))


@pytest.mark.parametrize(("lasts_s", "short"), [(59, True), (60, False)])
def test_short_trials_are_said_to_count_what_the_gateway_holds(
    lasts_s: int, short: bool, nat64: TrafficPlan
) -> None:
    timing = Timing(duration_s=Fraction(lasts_s), drain_s=Fraction(2), settle_s=Fraction(5))
    goal = rfc2544_goal(final_duration_s=timing.duration_s)
    asked = plan(goals=(goal,), timing=timing, max_rate_fps=200)
    session = in_full_series(FakeEngine().session(nat64))
    result = mlr_throughput(asked, session)
    assert (Topic.BUFFERS_COUNT in topics(result.remarks)) is short
    said = [one for one in codes(result.deviations) if one is not Differs.REPETITIONS]
    assert len(said) == short


def test_what_all_goals_share_is_a_condition_and_what_differs_is_not(nat64: TrafficPlan) -> None:
    quicker = replace(PDR, initial_duration_s=Fraction(1, 100), exceed_ratio=Fraction(1, 4))
    asked = plan(goals=(NDR, quicker))
    result = mlr_throughput(asked, FakeEngine(lose=limited).session(nat64))
    search = result.conditions.search
    assert search
    assert (search.method, search.duration_sum_s) == ("mlr", 0.05)
    assert (search.exceed_ratio, search.initial_duration_s) == (None, None)
    assert [said for said in texts(result.deviations) if "exceed ratio" in said] == [
        "an exceed ratio of 0.25: that share of the time of a rate's trials may be in trials that "
        "lose more (RFC 2544 section 26.1)"
    ]


@pytest.mark.parametrize(("percent", "coarse"), [(50, True), (Fraction(1, 10), False)])
def test_a_wide_goal_is_a_coarse_search(
    percent: Fraction, coarse: bool, nat64: TrafficPlan
) -> None:
    asked = plan(goals=(replace(NDR, width=Fraction(percent) / 100),))
    result = mlr_throughput(asked, FakeEngine(lose=limited).session(nat64))
    said = "a goal width of 50 %, not the highest rate (RFC 2544 section 26.1)"
    assert (said in texts(result.deviations)) is coarse
    assert (Differs.GOAL_WIDTH in codes(result.deviations)) is coarse


def test_the_rates_of_each_repetition_are_shown_as_soon_as_they_are_found(
    nat64: TrafficPlan,
) -> None:
    class Shown(Observer):
        def __init__(self) -> None:
            self.figures: list[Figure] = []

        def repetition_ended(self, figures: Sequence[Figure]) -> None:
            self.figures += figures

    shown = Shown()
    asked = plan(goals=(NDR,), repetitions=2)
    mlr_throughput(asked, FakeEngine(lose=limited).session(nat64, observer=shown))
    assert [figure.name for figure in shown.figures] == ["NDR", "NDR, upper bound"] * 2
