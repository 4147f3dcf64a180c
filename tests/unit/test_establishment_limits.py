"""Tests of the start and the ends of a search for an establishment rate."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.errors import ConfigurationError, TesterLimit
from natxy.model.remark import Topic
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.search.bisection import SearchError
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import text
from tests.unit.connections import plan as traffic_plan
from tests.unit.establishment import HALF, PLAN, measure
from tests.unit.fake_engine import FakeEngine
from tests.unit.kept import Kept
from tests.unit.stateful_gateway import StatefulGateway


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, [4000, 16_000]),
        ({"first_cps": 3000}, [3000, 12_000]),
        ({"max_rate_cps": 50_000}, [50_000, 25_000]),
        ({"first_cps": 3000, "max_rate_cps": 50_000}, [3000, 12_000]),
    ],
    ids=str,
)
def test_the_first_rate_is_given_or_the_maximum_or_a_guess(
    changes: dict[str, Any], first: list[int]
) -> None:
    kept = Kept()
    measure(StatefulGateway(new_cps=20_000), replace(PLAN, **changes), observer=kept)
    assert kept.rates[:2] == first


def test_a_given_maximum_that_passes_is_a_lower_bound() -> None:
    kept = Kept()
    result = measure(StatefulGateway(), replace(PLAN, max_rate_cps=5000), observer=kept)
    (figure,) = result.figures
    assert (figure.values, figure.lower_bound) == ((5000,), (True,))
    assert kept.rates == [5000]
    assert Topic.BOUND_BY_MAXIMUM in topics(result.remarks)
    assert [each.values for each in kept.figures] == [(5000,)]


def test_the_medias_rate_that_passes_is_no_lower_bound() -> None:
    """10 Mbit/s carry 14,880 frames of 64 octets a second."""
    gateway = StatefulGateway()
    session = FakeEngine(gateway=gateway, link_mbps=10).session(traffic_plan({}))
    result = establishment(PLAN, session)
    (figure,) = result.figures
    assert (figure.values, figure.lower_bound) == ((14_880,), (False,))
    assert result.conditions.search
    assert result.conditions.search.maximum_origin == "media"


def test_the_width_at_which_the_search_ended_is_that_of_the_highest_rate() -> None:
    """1 % of 5,000 is 50."""
    plan = replace(PLAN, error=SearchError(fraction=Fraction(1, 100)))
    result = measure(StatefulGateway(new_cps=5000), plan)
    assert result.conditions.search
    assert result.conditions.search.error == "1 %"
    assert result.conditions.search.error_fps == int(result.figures[0].values[0]) // 100
    assert str(result.remarks[0]) == "A trial creates 1,000 connections. Search error 1 %."


@pytest.mark.parametrize("above_fps", [500, 1000, 1001])
def test_a_tester_whose_trials_are_invalid_at_1000_a_second_has_another_problem(
    above_fps: int,
) -> None:
    """Only lower rates than that would tell more."""
    plan = replace(PLAN, max_rate_cps=4000, invalid_repeats=0)
    kept = Kept()
    if above_fps < 1000:
        with pytest.raises(TesterLimit, match=r"at 1000 connections a second trials are invalid"):
            measure(StatefulGateway(), plan, observer=kept, engine={"limit_fps": above_fps})
        assert min(kept.rates) == 1000
        return
    result = measure(StatefulGateway(), plan, engine={"limit_fps": above_fps})
    assert result.figures[0].values[0] == pytest.approx(above_fps, abs=1)


def test_a_tester_whose_trials_are_invalid_just_above_1000_a_second_may_have_a_lower_limit() -> (
    None
):
    """4004, 2002, 1001: what is invalid there may be so for its rate."""
    plan = replace(PLAN, max_rate_cps=4004, invalid_repeats=0)
    result = measure(StatefulGateway(), plan, engine={"limit_fps": 600})
    assert result.figures[0].values[0] == pytest.approx(600, abs=1)


def test_a_tester_that_spoils_trials_of_a_minute_has_no_rate() -> None:
    """240,000 connections at 4,000 a second; at lower rates it takes longer still."""
    wide = {
        "source_port": {"mode": "pseudorandom", "min": 1000, "max": 4999},
        "destination_port": {"mode": "pseudorandom", "min": 1, "max": 100},
    }
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway, limit_fps=3000)
    session = engine.session(traffic_plan({"count": 240_000}, forward=wide, reverse=wide))
    plan = replace(PLAN, max_rate_cps=16_000, invalid_repeats=0)
    with pytest.raises(TesterLimit, match=r"at 4000 connections a second trials are invalid"):
        establishment(plan, session)


def test_a_gateway_that_is_slower_than_a_minutes_phase_1_has_a_rate_of_0() -> None:
    """1,000 connections in more than a minute: fewer than 17 a second."""
    kept = Kept()
    engine = FakeEngine(gateway=StatefulGateway(new_cps=5))
    dut = CommandDut(CommandConfig(kind="command"))  # whose table nobody can look at
    result = establishment(PLAN, engine.session(traffic_plan({}), dut, kept))
    assert result.figures[0].values == (0,)
    assert 15 / 2 < min(kept.rates) <= 17
    assert Topic.LOST_AT_EVERY_RATE in topics(result.remarks)


def test_the_early_end_is_by_the_drain_and_departs() -> None:
    assert PLAN.load(1000, above_cps=0).early_end_s == 0
    early = replace(PLAN, early_end=True)
    assert early.load(1000, above_cps=0).early_end_s == Fraction(1, 20)
    said = "trials that end at their first certain loss"
    assert said in text(measure(StatefulGateway(new_cps=5000), early).deviations)
    assert said not in text(measure(StatefulGateway(new_cps=5000)).deviations)


def test_what_may_be_lost_is_told_to_the_trial() -> None:
    assert PLAN.load(1000, above_cps=7).loss == 0
    counting = PLAN.load(1000, above_cps=7).counting
    assert counting is not None
    assert counting.above_fps == 7
    half = replace(PLAN, loss=LossTolerance(fraction=HALF))
    assert half.load(1000, above_cps=0).loss == HALF


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"max_rate_cps": 2**33 + 1},
            r"^max_rate_cps: 8589934593 is out of range \(expected 1 to 8",
        ),
        ({"first_cps": 0}, r"^first_cps: 0 is out of range \(expected 1 to 8589934592\)"),
        ({"alpha": Fraction(1, 1001)}, r"^alpha: 0\.000999001 .* \(expected 0\.001 to 1000\)"),
        ({"alpha": Fraction(1001)}, r"^alpha: 1001 is out of range"),
        ({"loss_verifications": -1}, r"^loss_verifications: -1 is out of range"),
        (
            {"early_end": True, "timing": Timing(duration_s=Fraction(1), drain_s=Fraction(0))},
            r"^early_end: is not possible with loss or a drain_s of 0",
        ),
    ],
    ids=str,
)
def test_what_is_just_out_of_range_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        replace(PLAN, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_rate_cps": 2**33, "first_cps": 1},
        {"max_rate_cps": 1, "first_cps": 2**33},
        {"alpha": Fraction(1, 1000)},
        {"alpha": Fraction(1000)},
        {"timing": Timing(duration_s=Fraction(1), drain_s=Fraction(0))},
    ],
    ids=str,
)
def test_what_is_just_in_range_is_taken(changes: dict[str, Any]) -> None:
    assert isinstance(replace(PLAN, **changes), EstablishmentPlan)


def test_connections_asked_again_are_counted_by_what_became_of_them() -> None:
    """At 10,000 a second, half of the rate, 100 of 1,000 replies are lost for the rate alone; 3
    connections are absent, and 5 replies come to another one."""
    plan = replace(PLAN, alpha=HALF, max_rate_cps=20_000, error=SearchError(rate_fps=19_999))
    absent = StatefulGateway(frames_fps=9000, absent=3)
    kept = Kept()
    said = about(Topic.VALIDATION, measure(absent, plan, observer=kept).remarks)
    again = [trial.result.stream_of("ask again") for trial in kept.trials]
    asked = [(stream.sent, stream.lost) for stream in again if stream is not None]
    gone = sum(lost for _, lost in asked)
    fast = sum(sent for sent, _ in asked) - gone
    assert min(gone, fast) > 0
    assert said.facts == {"fast": fast, "wrong": 0, "absent": gone}
    wrong = StatefulGateway(frames_fps=9000, collided=5)
    facts = about(Topic.VALIDATION, measure(wrong, plan).remarks).facts
    assert facts["wrong"]
    assert not facts["absent"]
    good = measure(StatefulGateway(), plan)
    assert Topic.VALIDATION not in topics(good.remarks)
