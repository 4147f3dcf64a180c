"""MLRsearch as a procedure, against an engine that is a script."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from natxy.dut.none import NoDut
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
from natxy.search.loss_tolerance import LossTolerance
from natxy.search.mlr_goal import pdr_goal, rfc2544_goal
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from tests.remarks import topics
from tests.unit.clauses import codes
from tests.unit.mlr_throughput import LASTS_S, LIMIT_FPS, NDR, PDR, limited, plan
from tests.unit.reasons import a_reason
from tests.unit.scripted_engine import ScriptedEngine, beyond, due_ns, frames_in, rate_of


def measured(asked: MlrThroughputPlan, nat64: TrafficPlan) -> Measurement:
    with set_up(nat64.testbed, nat64.source, NoDut()) as session:
        return mlr_throughput(asked, session)


@pytest.fixture
def capacity(engine: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "50000")
    monkeypatch.setenv("FAKE_LINK_MBPS", "0")
    monkeypatch.setenv("FAKE_LIMIT_FPS", str(10**9))
    return 50_000


def test_both_rates_are_found_in_one_search(capacity: int, nat64: TrafficPlan) -> None:
    result = measured(plan(repetitions=2), nat64)
    ndr = result.figure("NDR")
    assert ndr.values == pytest.approx([capacity, capacity], rel=0.0015)
    assert max(ndr.values) <= capacity
    assert ndr.lower_bound == (False, False)
    assert min(result.figure("NDR, upper bound").values) > capacity
    assert [each.facts.get("accepted_share") for each in result.remarks[:2]] == [0, 0.01]


def test_a_weak_testers_rate_is_a_lower_bound(
    capacity: int, nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_LIMIT_FPS", "20000")
    result = measured(plan(goals=(NDR,)), nat64)
    ndr = result.figure("NDR")
    assert ndr.lower_bound == (True,)
    assert 0 < ndr.values[0] <= 20_000
    assert result.counts.invalid_trials >= 4
    assert Topic.BOUND_BY_TESTER in topics(result.remarks)


def test_noise_is_not_called_the_testers_limit(nat64: TrafficPlan) -> None:
    def away(spec: TrialSpec) -> Reason | None:
        rate_fps = rate_of(spec.phases[0].streams[0])
        return a_reason(Code.GATEWAY_AWAY) if rate_fps > 20_000 else None

    engine = ScriptedEngine(invalid=away, too_slow=False)
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
    session = ScriptedEngine(lose=lose).session(nat64)
    result = mlr_throughput(plan(goals=(goal,)), session)
    assert result.figure("NDR").lower_bound == (is_bound,)
    assert (Topic.BOUND_UNEXPLAINED in topics(result.remarks)) == is_bound
    assert any(each.name == "NDR, upper bound" for each in result.figures) != is_bound


def test_a_loss_that_a_goal_accepts_is_no_failure_of_it(nat64: TrafficPlan) -> None:
    """The NDR is bounded by pauses, whose losses the PDR accepts; overload bounds this one."""

    def lose(stream: Stream) -> Sequence[int]:
        return sorted({*hole(stream), *beyond(50_000, stream)})

    session = ScriptedEngine(lose=lose).session(nat64)
    pdr = pdr_goal(LossTolerance(fraction=Fraction(1, 10)), final_duration_s=LASTS_S)
    goals = tuple(replace(goal, width=Fraction(1, 100)) for goal in (NDR, pdr))
    result = mlr_throughput(plan(goals=goals), session)
    assert result.figure("NDR").lower_bound == (True,)
    assert result.figure("PDR (10 % loss)").lower_bound == (False,)


def test_a_tester_that_can_do_nothing_is_named(
    capacity: int, nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_LIMIT_FPS", "1")
    with pytest.raises(TesterLimit, match="no rate passed"):
        measured(plan(goals=(NDR,)), nat64)


def test_the_highest_rate_that_passes_is_a_lower_bound(capacity: int, nat64: TrafficPlan) -> None:
    result = measured(plan(goals=(NDR,), max_rate_fps=10_000), nat64)
    assert result.figure("NDR").values == (10_000.0,)
    assert result.figure("NDR").lower_bound == (True,)
    (said,) = (note for note in measurement_notes([result]) if note.startswith("≥"))
    assert "the highest rate that the search may try passed" in said
    entry = result_entry(result)
    assert (entry["maximum_fps"], entry["error"]) == (10_000, None)


def test_what_cannot_be_searched_is_refused(capacity: int, nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="max_rate_fps: is missing"):
        measured(plan(max_rate_fps=None), nat64)
    with pytest.raises(ConfigurationError, match="duration"):
        plan(goals=(rfc2544_goal(),))
    with pytest.raises(ConfigurationError, match="the same name"):
        plan(goals=(NDR, NDR))


def test_attributes_of_the_goals_stand_in_the_result(capacity: int, nat64: TrafficPlan) -> None:
    attributes: dict[str, Any] = {
        "exceed_ratio": Fraction(1, 2),
        "duration_sum_s": 2 * LASTS_S,
        "initial_duration_s": LASTS_S / 5,
    }
    goals = tuple(replace(goal, **attributes) for goal in (NDR, PDR))
    result = measured(plan(goals=goals), nat64)
    assert result.figure("NDR").values[0] == pytest.approx(capacity, rel=0.0015)
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
    said = mlr_throughput(plan(timing=timing), ScriptedEngine().session(nat64)).remarks
    assert [str(remark).partition("; ")[0] for remark in said[:2]] == [
        "NDR: at most 0 % loss in trials of 0.05 s, bounds within 0.1 %",
        "PDR (1 % loss): at most 1 % loss in trials of 0.05 s, bounds within 0.1 %",
    ]
    assert str(said[-1]) == "A frame that took longer than 25 ms counts as lost."
    plain = mlr_throughput(plan(), ScriptedEngine().session(nat64)).remarks
    assert Topic.FRAME_TIMEOUT not in topics(plain)


def test_the_rfc_2544_goal_departs_in_nothing_but_its_times(
    capacity: int, nat64: TrafficPlan
) -> None:
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

    session = ScriptedEngine(lose=lose).session(nat64)
    pdr = mlr_throughput(plan(goals=(PDR,)), session).figure("PDR (1 % loss)")
    assert least_fps <= pdr.values[0] <= max(least_fps, every / float(LASTS_S))


def test_each_goal_has_a_rate_of_its_own(nat64: TrafficPlan) -> None:
    """1 % of what is sent may be lost: 50,000 of 50,505 a second are forwarded."""
    result = mlr_throughput(plan(), ScriptedEngine(lose=limited).session(nat64))
    for name, limit_fps in (("NDR", LIMIT_FPS), ("PDR (1 % loss)", LIMIT_FPS / 0.99)):
        figure = result.figure(name)
        assert figure.lower_bound == (False,)
        assert figure.values[0] == pytest.approx(limit_fps, rel=0.0015)
        assert figure.values[0] <= limit_fps * 1.0005  # a frame of a short trial


def pausing(share: float, above_fps: int = 0) -> ScriptedEngine:
    def paused_ns(stream: Stream) -> float:
        lasts_ns = due_ns(stream, frames_in(stream) - 1)
        return lasts_ns * share if rate_of(stream) > above_fps else 0.0

    return ScriptedEngine(lose=limited, paused_ns=paused_ns)


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


@dataclass(kw_only=True)
class Disturbed(NoDut):
    """Is not in order in nine trials of ten."""

    engine: ScriptedEngine

    def trial_fault(self) -> Reason | None:
        return a_reason(Code.GATEWAY_POLLED_LATE) if len(self.engine.specs) % 10 else None


def test_trials_that_are_spoilt_now_and_then_are_repeated(nat64: TrafficPlan) -> None:
    """Nine of ten: three repeats would not be enough."""
    engine = ScriptedEngine(lose=limited)
    ndr = mlr_throughput(plan(goals=(NDR,)), engine.session(nat64, Disturbed(engine=engine)))
    assert ndr.figure("NDR").lower_bound == (False,)
    assert ndr.figure("NDR").values[0] == pytest.approx(LIMIT_FPS, rel=0.0015)


def test_what_spoils_every_trial_is_named_with_its_own_advice(nat64: TrafficPlan) -> None:
    engine = ScriptedEngine(invalid=lambda _: a_reason(Code.LINK_DOWN, "right"))
    with pytest.raises(TesterLimit, match=r"its link was down at the end; check the cable"):
        mlr_throughput(plan(goals=(NDR,)), engine.session(nat64))
