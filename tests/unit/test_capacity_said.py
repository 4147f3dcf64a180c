"""Tests of the remarks and the progress of a search for a capacity, and of its ranges."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, TesterLimit, TrialRefused
from natxy.model.remark import Remark, Topic
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.capacity import CAPACITY, capacity
from natxy.search.capacity_goal import CapacityGoal
from natxy.tester.tester import OnProgress, ignore_progress
from tests.remarks import about, topics
from tests.unit.capacity_procedure import (
    PLAN,
    WIDE,
    Bench,
    more_than_4000,
    often_away,
    values,
)
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import LATE
from tests.unit.stateful_gateway import StatefulGateway


def seen(bench: Bench, **changes: Any) -> tuple[Kept, tuple[Remark, ...]]:
    observer = Kept()
    session = bench.engine.session(
        traffic_plan({}, forward=WIDE, reverse=WIDE), bench.dut, observer
    )
    result = capacity(replace(PLAN, **changes), session)
    return observer, result.remarks


def test_the_parameters_of_the_search_are_stated() -> None:
    goal = CapacityGoal(c0=1000, error=1500, beta=Fraction(1, 4), gamma=Fraction(3, 8))
    asked = replace(PLAN, goal=goal, alpha=Fraction(3, 4))
    result = Bench(gateway=StatefulGateway(entries=9000)).measure(asked)
    said = "alpha 0.75, beta 0.25, gamma 0.375, E 1,500; error of the rates 5 %."
    assert str(about(Topic.CAPACITY, result.remarks)).startswith(said)
    connections = result.conditions.connections
    assert connections
    assert (connections.count, connections.validated) == (1000, True)
    assert [figure.name for figure in result.figures if figure.primary] == [CAPACITY]


def test_the_capacity_of_each_repetition_is_shown_as_soon_as_it_is_found() -> None:
    observer, _ = seen(Bench(gateway=StatefulGateway(entries=2500)), repetitions=2)
    assert [(each.name, each.values) for each in observer.figures] == [(CAPACITY, (2500,))] * 2


def test_the_trials_that_passed_in_spite_of_losses_are_counted() -> None:
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    often_away(bench)
    goal = CapacityGoal(c0=2000, first_cps=32_000)
    observer, remarks = seen(bench, goal=goal)
    passed = [t for t in observer.trials if t.verdict is Verdict.PASS and t.result.lost]
    assert about(Topic.REPAIRED, remarks).facts == {"trials": len(passed)}


def test_as_many_connections_as_the_ranges_have_can_be_safe() -> None:
    """1,000 x 100; the table may hold more."""
    every = replace(PLAN, goal=CapacityGoal(c0=100_000))
    result = Bench(gateway=StatefulGateway(new_cps=50_000)).measure(every)
    assert values(result)[CAPACITY] == 100_000
    assert result.figure(CAPACITY).lower_bound == (True,)


def test_a_lower_bound_names_the_trials_that_stayed_invalid() -> None:
    """Above 4,000 connections; that of the last repetition, of those that count."""
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    bench.engine.invalid = more_than_4000
    result = bench.measure(replace(PLAN, repetitions=2))
    said = str(about(Topic.BOUND_OF_CAPACITY, result.remarks))
    assert said.startswith("≥ marks a lower bound: trials of 8,000 connections at ")
    assert f"a second stay invalid: {LATE}; " in said
    exact = Bench(gateway=StatefulGateway(entries=3000)).measure()
    assert not {Topic.BOUND_OF_CAPACITY, Topic.COLLAPSED} & set(topics(exact.remarks))


@pytest.mark.parametrize("alpha", [Fraction(1, 1000), Fraction(1000)])
def test_validation_may_be_a_thousand_times_slower_or_faster(alpha: Fraction) -> None:
    assert replace(PLAN, alpha=alpha).alpha == alpha
    beyond = alpha * (Fraction(1000, 1001) if alpha < 1 else Fraction(1001, 1000))
    with pytest.raises(ConfigurationError, match=r"^alpha: .* \(expected 0\.001 to 1000\)"):
        replace(PLAN, alpha=beyond)


def pausing(share: Fraction) -> FakeEngine:
    def paused_ns(stream: Stream) -> float:
        return float(frames_in(stream) * share * 10**9 / rate_of(stream))

    return FakeEngine(gateway=StatefulGateway(entries=1500), paused_ns=paused_ns)


def test_a_table_may_be_filled_with_long_pauses() -> None:
    """Of at most a quarter: what it holds does not depend on how evenly it was filled."""
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    engine = pausing(Fraction(24, 100))
    result = capacity(PLAN, engine.session(traffic))
    assert values(result)[CAPACITY] == 1500
    assert result.counts.invalid_trials == 0
    engine = pausing(Fraction(27, 100))
    with pytest.raises(TesterLimit, match=r"1,000 connections at .* stay invalid: .* paused for"):
        capacity(PLAN, engine.session(traffic))


@dataclass(kw_only=True)
class Refusing(FakeEngine):
    """Refuses its fifth trial for another reason than that the gateway is gone."""

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        result = super().run(spec, on_progress)
        if len(self.specs) == 5:
            raise TrialRefused("memory", "The tester has no memory for so many connections.")
        return result


def test_a_tester_that_refuses_a_trial_is_no_collapse_of_the_gateway() -> None:
    engine = Refusing(gateway=StatefulGateway(entries=3000))
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    with pytest.raises(TrialRefused, match="no memory for so many"):
        capacity(PLAN, engine.session(traffic))
