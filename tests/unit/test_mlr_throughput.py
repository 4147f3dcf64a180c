"""MLRsearch as a procedure, against the fake engine."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from natxy.errors import ConfigurationError, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Code, Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_csv import rows
from natxy.report.results_json import result_entry
from natxy.search.mlr_goal import pdr_goal, rfc2544_goal
from natxy.search.settings import LossTolerance
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes, in_full_series, texts
from tests.unit.fake_engine import FakeEngine, beyond, due_ns, frames_in, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import Disturbed, a_reason

LASTS_S = Fraction(1, 20)
NDR = rfc2544_goal(final_duration_s=LASTS_S)
PDR = pdr_goal(LossTolerance(fraction=Fraction(1, 100)), final_duration_s=LASTS_S)


def plan(**changes: object) -> MlrThroughputPlan:
    timing = Timing(duration_s=LASTS_S, drain_s=Fraction(0))
    values: dict[str, object] = {
        "timing": timing,
        "goals": (NDR, PDR),
        "seed": 7,
        "max_rate_fps": 200_000,
    }
    return MlrThroughputPlan(**(values | changes))  # type: ignore[arg-type]


LIMIT_FPS = 50_000
limited = partial(beyond, LIMIT_FPS)


def measured(asked: MlrThroughputPlan, nat64: TrafficPlan, limit_fps: int = 10**9) -> Measurement:
    """Of a gateway that loses a frame above 50,000 a second, by a tester of this limit."""
    engine = FakeEngine(lose=limited, limit_fps=limit_fps, watches=False)
    return mlr_throughput(asked, engine.session(nat64))


def test_both_rates_are_found_in_one_search(nat64: TrafficPlan) -> None:
    result = measured(plan(repetitions=2), nat64)
    ndr = result.figure("NDR")
    assert ndr.values == pytest.approx([LIMIT_FPS, LIMIT_FPS], rel=0.0015)
    assert max(ndr.values) <= LIMIT_FPS
    assert ndr.lower_bound == (False, False)
    assert min(result.figure("NDR, upper bound").values) > LIMIT_FPS
    assert [each.facts.get("accepted_share") for each in result.remarks[:2]] == [0, 0.01]


def test_a_weak_testers_rate_is_a_lower_bound(nat64: TrafficPlan) -> None:
    result = measured(plan(goals=(NDR,)), nat64, limit_fps=20_000)
    ndr = result.figure("NDR")
    assert ndr.lower_bound == (True,)
    assert 0 < ndr.values[0] <= 20_000
    assert result.counts.invalid_trials >= 4
    assert Topic.BOUND_BY_TESTER in topics(result.remarks)


def test_noise_is_not_called_the_testers_limit(nat64: TrafficPlan) -> None:
    def away(spec: TrialSpec) -> Reason | None:
        rate_fps = rate_of(spec.phases[0].streams[0])
        return a_reason(Code.GATEWAY_AWAY) if rate_fps > 20_000 else None

    engine = FakeEngine(invalid=away, too_slow=False)
    result = mlr_throughput(plan(goals=(NDR,)), engine.session(nat64))
    assert result.figure("NDR").lower_bound == (True,)
    assert Topic.BOUND_BY_NOISE in topics(result.remarks)


def hole(stream: Stream) -> Sequence[int]:
    """A pause, which nobody has seen: it loses more frames the higher the rate is."""
    first, lost = frames_in(stream) // 2, rate_of(stream) // 1000 - 20
    return range(first, first + max(0, lost))


@pytest.mark.parametrize(
    ("lose", "exceed_ratio", "is_bound"),
    [
        (partial(beyond, 50_000), Fraction(0), False),
        (hole, Fraction(0), True),
        (hole, Fraction(1, 2), False),
    ],
    ids=["the rate", "a pause", "a goal that accepts failures"],
)
def test_an_exact_rate_has_a_failure_that_the_rate_explains(
    lose: Callable[[Stream], Sequence[int]],
    exceed_ratio: Fraction,
    is_bound: bool,
    nat64: TrafficPlan,
) -> None:
    goal = replace(NDR, width=Fraction(1, 100), exceed_ratio=exceed_ratio)
    session = FakeEngine(lose=lose).session(nat64)
    result = mlr_throughput(plan(goals=(goal,)), session)
    assert result.figure("NDR").lower_bound == (is_bound,)
    assert (Topic.BOUND_UNEXPLAINED in topics(result.remarks)) == is_bound
    assert any(each.name == "NDR, upper bound" for each in result.figures) != is_bound


def test_a_loss_that_a_goal_accepts_is_no_failure_of_it(nat64: TrafficPlan) -> None:
    """The NDR is bounded by pauses, whose losses the PDR accepts; overload bounds this one."""

    def lose(stream: Stream) -> Sequence[int]:
        return sorted({*hole(stream), *beyond(50_000, stream)})

    session = FakeEngine(lose=lose).session(nat64)
    pdr = pdr_goal(LossTolerance(fraction=Fraction(1, 10)), final_duration_s=LASTS_S)
    goals = tuple(replace(goal, width=Fraction(1, 100)) for goal in (NDR, pdr))
    result = mlr_throughput(plan(goals=goals), session)
    assert result.figure("NDR").lower_bound == (True,)
    assert result.figure("PDR (10 % loss)").lower_bound == (False,)


def test_a_tester_that_can_do_nothing_is_named(nat64: TrafficPlan) -> None:
    with pytest.raises(TesterLimit, match="no rate passed"):
        measured(plan(goals=(NDR,)), nat64, limit_fps=1)


def test_the_highest_rate_that_passes_is_a_lower_bound(nat64: TrafficPlan) -> None:
    result = measured(plan(goals=(NDR,), max_rate_fps=10_000), nat64)
    assert result.figure("NDR").values == (10_000.0,)
    assert result.figure("NDR").lower_bound == (True,)
    (said,) = (note for note in measurement_notes([result]) if note.startswith("≥"))
    assert "the highest rate that the search may try passed" in said
    entry = result_entry(result)
    assert (entry["maximum_fps"], entry["error"]) == (10_000, None)


def test_what_cannot_be_searched_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="max_rate_fps: is missing"):
        measured(plan(max_rate_fps=None), nat64)
    with pytest.raises(ConfigurationError, match="duration"):
        plan(goals=(rfc2544_goal(),))
    with pytest.raises(ConfigurationError, match="the same name"):
        plan(goals=(NDR, NDR))


def test_attributes_of_the_goals_stand_in_the_result(nat64: TrafficPlan) -> None:
    attributes: dict[str, Any] = {
        "exceed_ratio": Fraction(1, 2),
        "duration_sum_s": 2 * LASTS_S,
        "initial_duration_s": LASTS_S / 5,
    }
    goals = tuple(replace(goal, **attributes) for goal in (NDR, PDR))
    result = measured(plan(goals=goals), nat64)
    assert result.figure("NDR").values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)
    assert {"exceed_ratio": 0.5} in [each.facts for each in result.deviations]
    said = "exceed ratio 0.5, duration sum 0.1 s, initial duration 0.01 s"
    assert sum(said in str(remark) for remark in result.remarks) == 2
    (row, *_) = rows(result)
    numbers = {"exceed_ratio": 0.5, "duration_sum_s": 0.1, "initial_duration_s": 0.01}
    assert {name: row[name] for name in numbers} == numbers
    assert row["loss_verifications"] == ""
    named = {"method": "mlr", "loss_verifications": None}
    assert result_entry(result)["search"] == named | numbers
    of_differing = measured(plan(goals=(goals[0], PDR)), nat64)
    assert result_entry(of_differing)["search"]["exceed_ratio"] is None


def test_the_goals_and_the_frame_timeout_stand_under_the_result(nat64: TrafficPlan) -> None:
    timing = Timing(duration_s=LASTS_S, drain_s=Fraction(1, 20), frame_timeout_s=Fraction(1, 40))
    said = mlr_throughput(plan(timing=timing), FakeEngine().session(nat64)).remarks
    assert [str(remark).partition("; ")[0] for remark in said[:2]] == [
        "NDR: at most 0 % loss in trials of 0.05 s, bounds within 0.1 %",
        "PDR (1 % loss): at most 1 % loss in trials of 0.05 s, bounds within 0.1 %",
    ]
    assert str(said[-1]) == "A frame that took longer than 25 ms counts as lost."
    plain = mlr_throughput(plan(), FakeEngine().session(nat64)).remarks
    assert Topic.FRAME_TIMEOUT not in topics(plain)


def test_the_rfc_2544_goal_departs_in_nothing_but_its_times(nat64: TrafficPlan) -> None:
    result = measured(plan(), nat64)
    assert Differs.EXCEED_RATIO not in codes(result.deviations)
    assert result_entry(result)["search"]["exceed_ratio"] == 0


@pytest.mark.parametrize(("every", "least_fps"), [(60, 0), (120, 200_000)])
def test_each_direction_is_judged_for_itself(
    every: int, least_fps: int, nat64: TrafficPlan
) -> None:
    """1 in 60 of the forward direction is less than 1 % of both directions together."""

    def lose(stream: Stream) -> range:
        frames = frames_in(stream) if stream.direction == "forward" else 0
        return range(every - 1, frames, every)

    session = FakeEngine(lose=lose).session(nat64)
    pdr = mlr_throughput(plan(goals=(PDR,)), session).figure("PDR (1 % loss)")
    assert least_fps <= pdr.values[0] <= max(least_fps, every / float(LASTS_S))


def test_each_goal_has_a_rate_of_its_own(nat64: TrafficPlan) -> None:
    """1 % of what is sent may be lost: 50,000 of 50,505 a second are forwarded."""
    result = mlr_throughput(plan(), FakeEngine(lose=limited).session(nat64))
    for name, limit_fps in (("NDR", LIMIT_FPS), ("PDR (1 % loss)", LIMIT_FPS / 0.99)):
        figure = result.figure(name)
        assert figure.lower_bound == (False,)
        assert figure.values[0] == pytest.approx(limit_fps, rel=0.0015)
        assert figure.values[0] <= limit_fps * 1.0005  # a frame of a short trial


def pausing(share: float, above_fps: int = 0) -> FakeEngine:
    def paused_ns(stream: Stream) -> float:
        lasts_ns = due_ns(stream, frames_in(stream) - 1)
        return lasts_ns * share if rate_of(stream) > above_fps else 0.0

    return FakeEngine(lose=limited, paused_ns=paused_ns)


def test_a_rate_that_pauses_made_a_lower_one_does_not_pass(nat64: TrafficPlan) -> None:
    """Half of the width of 0.1 % may be paused."""
    found = mlr_throughput(plan(), pausing(0.0004).session(nat64))
    assert found.figure("NDR").values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)
    with pytest.raises(TesterLimit, match=r"the sender paused for .* \(expected at most 0\.05 %\)"):
        mlr_throughput(plan(), pausing(0.0006).session(nat64))


@pytest.mark.parametrize(("most_lost", "above_fps"), [(0, 50_000), (1, 50_506)])
def test_a_loss_beyond_every_goal_is_one_however_long_the_sender_paused(
    most_lost: int, above_fps: int, nat64: TrafficPlan
) -> None:
    """A pause makes a trial easier; within a goal it may be why it passed."""
    goals = (NDR, PDR)[: most_lost + 1]
    found = mlr_throughput(plan(goals=goals), pausing(0.5, above_fps).session(nat64))
    assert found.figure("NDR").lower_bound == (False,)
    assert found.figure("NDR").values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)
    assert found.counts.invalid_trials == 0


def test_trials_that_are_spoilt_now_and_then_are_repeated(nat64: TrafficPlan) -> None:
    """Nine of ten: three repeats would not be enough."""
    engine = FakeEngine(lose=limited)
    ndr = mlr_throughput(plan(goals=(NDR,)), engine.session(nat64, Disturbed(engine=engine)))
    assert ndr.figure("NDR").lower_bound == (False,)
    assert ndr.figure("NDR").values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)


def test_what_spoils_every_trial_is_named_with_its_own_advice(nat64: TrafficPlan) -> None:
    engine = FakeEngine(invalid=lambda _: a_reason(Code.LINK_DOWN, "right"))
    with pytest.raises(TesterLimit, match=r"its link was down at the end; check the cable"):
        mlr_throughput(plan(goals=(NDR,)), engine.session(nat64))


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
    tried = set(engine.rates_fps)
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
    kept = Kept()
    asked = plan(goals=(NDR,), repetitions=2)
    mlr_throughput(asked, FakeEngine(lose=limited).session(nat64, observer=kept))
    assert [figure.name for figure in kept.figures] == ["NDR", "NDR, upper bound"] * 2
