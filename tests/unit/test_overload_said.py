"""Tests of the remarks and the conditions of a measurement of overload."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.back_to_back import BackToBackPlan
from natxy.procedure.benchmarks import BENCHMARKS
from natxy.procedure.delay_variation import PdvPlan
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.procedure.overload import DEGRADATION, OverloadPlan, overload
from natxy.procedure.recovery import RecoveryPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.report.cell_figures import planned
from natxy.report.results_csv import rows
from natxy.search.bisection import SearchError
from natxy.trial.seeds import MAX_SEED
from tests.remarks import about, topics
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.overload import FAST, THROUGHPUT, TIMES, lasting, plan, slower_with
from tests.unit.stateful_gateway import StatefulGateway

SEARCH = ThroughputPlan(error=SearchError(rate_fps=1), max_rate_fps=20_000, **TIMES)


def unused(remarks: tuple[Remark, ...]) -> list[Any]:
    return [each.facts["number"] for each in remarks if each.code is Topic.FEW_IN_TRIAL]


def test_as_many_frames_as_flows_use_all_of_them(nat64: TrafficPlan) -> None:
    """0.1 s at 10,000 frames a second."""
    enough = overload(plan((1000,)), slower_with({1: 10_000, 1000: 10_000}).session(nat64))
    assert unused(enough.remarks) == []
    lacking = overload(plan((1001,)), slower_with({1: 10_000, 1001: 10_000}).session(nat64))
    assert unused(lacking.remarks) == [1001]


@pytest.mark.parametrize(
    ("test", "too_few"),
    [
        (FrameLossPlan(rates_fps=(1000, 2000), **TIMES), [1000]),
        (RecoveryPlan(rate_fps=1000, **TIMES), [1000]),
        (RecoveryPlan(rate_fps=2000, **TIMES), []),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_rates_at_which_a_trial_has_fewer_frames_than_flows_are_named(
    test: Any, too_few: list[int], nat64: TrafficPlan
) -> None:
    """102 flows; 0.1 s at 1,000 frames a second are 100 frames."""
    remarks = overload(plan((102,), test=test), FakeEngine().session(nat64)).remarks
    told = [each.facts["rate_fps"] for each in remarks if each.code is Topic.FEW_IN_TRIAL]
    assert told == too_few


def test_only_what_all_numbers_of_flows_share_is_a_condition(nat64: TrafficPlan) -> None:
    result = overload(plan((10,)), slower_with({1: 10_000, 10: 9000}).session(nat64))
    conditions = result.conditions
    assert (conditions.seed, conditions.rate_fps, conditions.connections) == (7, None, None)
    assert conditions.search
    assert (conditions.search.error, conditions.search.error_fps) == ("1 fps", None)
    assert (conditions.search.maximum_fps, conditions.search.maximum_origin) == (20_000, "given")
    traffic = traffic_plan({"rate_fps": 10_000})
    gateway = StatefulGateway(frames_fps=9000)
    session = FakeEngine(gateway=gateway).session(traffic)
    of_table = overload(plan((10,)), session).conditions.connections
    assert of_table
    assert (of_table.count, of_table.ranges, of_table.rate_fps) == (None, "all flows'", 10_000)


def test_numbers_of_flows_have_nonces_of_their_own_up_to_the_highest_seed(
    nat64: TrafficPlan,
) -> None:
    engine = slower_with({1: 10_000, 10: 9000, 20: 8000})
    overload(plan((10, 20), test=replace(SEARCH, seed=MAX_SEED)), engine.session(nat64))
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces)


def test_what_all_tests_say_is_said_once_and_what_one_says_with_its_flows(
    nat64: TrafficPlan,
) -> None:
    engine = lasting({1: 1.0, 10: 1.0}, lost={10: 25})
    test = RecoveryPlan(rate_fps=1000, **TIMES)
    remarks = overload(plan((10,), test=test), engine.session(nat64)).remarks
    assert topics(remarks).count(Topic.RATE_GIVEN) == 1
    assert about(Topic.NO_OVERLOAD, remarks).where == "1 flow"
    searches = overload(plan((10,)), FakeEngine().session(nat64)).remarks
    assert Topic.SEARCH not in topics(searches)


def test_repetitions_of_a_search_that_are_lacking_are_told(nat64: TrafficPlan) -> None:
    test = replace(SEARCH, repetitions=3, patience_s=Fraction(0))
    result = overload(plan((10,), test=test), slower_with({1: 9000, 10: 8000}).session(nat64))
    lacking = [each for each in result.remarks if each.code is Topic.LACKING_BY_PATIENCE]
    assert [each.facts["asked"] for each in lacking] == [3]
    assert {planned(result, figure) for figure in result.figures if figure.unit == "fps"} == {3}


def test_what_a_degradation_is_is_said_where_there_is_one(nat64: TrafficPlan) -> None:
    none = overload(plan((10,)), FakeEngine().session(nat64))
    assert Topic.DEGRADATION not in topics(none.remarks)


def test_the_ports_of_flows_are_stated(nat64: TrafficPlan) -> None:
    result = overload(plan((10, 100_000)), FakeEngine().session(nat64))
    assert about(Topic.FLOWS, result.remarks).facts == {"ports": ("10 x 1", "3,125 x 32")}
    degraded = overload(plan((10,)), slower_with({1: 9000, 10: 8000}).session(nat64))
    assert about(Topic.DEGRADATION, degraded.remarks).facts["test"] == "throughput"
    assert result.reference == "RFC 8219 section 10.2.1"


def test_a_figure_that_is_exact_with_one_flow_only_has_no_degradation(nat64: TrafficPlan) -> None:
    """Ten flows pass the highest rate that may be tried; a hundred do not."""
    engine = slower_with({1: 10_000, 10: 10**6, 100: 5000})
    result = overload(plan((10, 100)), engine.session(nat64))
    degraded = [figure.at for figure in result.figures if figure.name.startswith(DEGRADATION)]
    assert degraded == ["100 flows"]
    assert result.figure(f"{DEGRADATION} of {THROUGHPUT}", at="100 flows").values == (50,)
    assert Topic.BOUND_DOES_NOT_DEGRADE in topics(result.remarks)
    exact = overload(plan((10,)), slower_with({1: 10_000, 10: 9000}).session(nat64))
    none = {Topic.BOUND_DOES_NOT_DEGRADE, Topic.ZERO_DOES_NOT_DEGRADE}
    assert not none & set(topics(exact.remarks))


def test_a_rate_that_was_given_does_not_stand_beside_each_figure(nat64: TrafficPlan) -> None:
    test = RecoveryPlan(rate_fps=1000, **TIMES)
    result = overload(plan((10,), test=test), FakeEngine().session(nat64))
    assert {figure.found for figure in result.figures} == {""}
    assert result.conditions.rate_fps == 1000
    assert isinstance(test, RatePlan)


def test_a_mean_is_a_bound_if_any_value_is_one_and_a_median_if_one_up_to_it_is() -> None:
    """RFC 2544 section 26.4 asks for the mean of bursts."""
    figure = Figure(name="x", unit="frames", values=(1, 2, 3), lower_bound=(False, False, True))
    mean = figure.model_copy(update={"statistic": "mean"})
    assert BENCHMARKS[BackToBackPlan].is_bound(mean)
    assert not BENCHMARKS[PdvPlan].is_bound(figure)
    low = figure.model_copy(update={"lower_bound": (True, False, False)})
    assert BENCHMARKS[PdvPlan].is_bound(low)
    exact = figure.model_copy(update={"lower_bound": ()})
    assert not any(each.is_bound(exact) for each in BENCHMARKS.values())


def test_steps_between_flows_are_at_most_a_day_and_at_least_a_microsecond() -> None:
    test = FrameLossPlan(rates_fps=(1000,), timing=FAST, seed=1)
    for step_s in (Fraction(1, 10**6), Fraction(86_400)):
        asked = OverloadPlan(test=test, flows=(4,), incremental=True, step_s=step_s)
        assert asked.step_s == step_s


def test_the_rates_of_a_series_within_a_series_are_a_column(nat64: TrafficPlan) -> None:
    """`at_value` has the flows, `rate_fps` the rate, which the conditions do not have."""
    test = FrameLossPlan(rates_fps=(1000, 2000), timing=FAST, seed=1)
    result = overload(OverloadPlan(test=test, flows=(10,)), FakeEngine().session(nat64))
    points = {(row["at_value"], row["at_unit"], row["rate_fps"]) for row in rows(result)}
    assert points == {(flows, "flows", rate) for flows in (1, 10) for rate in (1000, 2000)}
