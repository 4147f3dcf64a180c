"""Tests of the bounds of a search for a rate of churn, and of the latencies beside it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.base import TableParameters
from natxy.errors import ConfigurationError
from natxy.model.measurement import Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.trial_record import TrialRecord
from natxy.procedure.churn import ChurnPlan, churn
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from tests.remarks import topics
from tests.unit.churn import PLAN, RANGES, measure
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

NEW = replace(PLAN, load_fps=None, new_cps=2000)


def measured(
    plan: ChurnPlan,
    gateway: StatefulGateway,
    *,
    mbps: int = 0,
    entries: int | None = None,
    observer: Observer | None = None,
) -> Measurement:
    dut = StatefulDut(gateway=gateway, known=TableParameters(entries=entries))
    traffic = traffic_plan({"rate_fps": 10_000}, forward=RANGES)
    return churn(plan, FakeEngine(gateway=gateway, link_mbps=mbps).session(traffic, dut, observer))


class Tried(Observer):
    """The rates of the trials."""

    def __init__(self) -> None:
        self.rates_fps: list[int] = []

    def trial_ended(self, trial: TrialRecord) -> None:
        self.rates_fps.append(trial.rate_fps)


@pytest.mark.parametrize(
    ("most", "mbps", "first"), [(None, 0, 1000), (50_000, 0, 50_000), (None, 10, 12_880)]
)
def test_a_search_starts_low_where_neither_the_media_nor_the_user_gave_a_limit(
    most: int | None, mbps: int, first: int
) -> None:
    """From the limit, 131,068,000, it would take a dozen trials that all fail."""
    tried = Tried()
    plan = replace(NEW, max_rate_fps=most, repetitions=1)
    measured(plan, StatefulGateway(frames_fps=9000, new_cps=20_000), mbps=mbps, observer=tried)
    assert tried.rates_fps[0] == first


@pytest.mark.parametrize(
    ("changes", "least"),
    [
        ({"load_fps": 0}, 1),
        ({"load_fps": 65_535}, 1),
        ({"load_fps": 65_536}, 2),
        ({"load_fps": 131_071}, 3),
        ({"load_fps": None, "new_cps": 65_536}, 2),
        ({"load_fps": 65_536, "timing": Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))}, 5),
    ],
    ids=str,
)
def test_one_frame_of_a_mix_and_one_of_a_trial_are_of_the_kind_that_is_sought(
    changes: dict[str, Any], least: int
) -> None:
    assert replace(PLAN, **changes).least_fps == least


def test_what_the_media_carry_is_for_both_kinds() -> None:
    """10 Mbit/s carry 14,880 frames of 64 octets a second, 8,000 of which are the load."""
    result = measured(PLAN, StatefulGateway(), mbps=10)
    assert result.figures[0].values == (14_880 - 8000,)
    load = measured(NEW, StatefulGateway(), mbps=10)
    assert load.figures[0].values == (14_880 - 2000,)
    assert load.conditions.search
    assert (load.conditions.search.maximum_fps, load.conditions.search.error) == (12_880, "1 fps")


def test_a_load_may_be_higher_than_the_rate_of_connections_that_the_table_takes() -> None:
    """4,000 new ones in a trial of 1 s; all of them may be asked for."""
    all_of_them = replace(NEW, new_cps=4000)
    gateway = StatefulGateway(frames_fps=11_000, new_cps=20_000)
    result = measured(all_of_them, gateway, entries=5000)
    assert result.figures[0].values[0] == pytest.approx(7000, abs=3)
    with pytest.raises(
        ConfigurationError,
        match=r"a trial can create 4,000 connections besides the 1,000 of phase 1, which is 4,000",
    ):
        measured(replace(NEW, new_cps=4001), StatefulGateway(), entries=5000)


def test_longer_trials_create_fewer_connections_a_second() -> None:
    long = replace(PLAN, timing=Timing(duration_s=Fraction(4), drain_s=Fraction(1, 20)))
    result = measured(long, StatefulGateway(), entries=5000)
    assert (result.figures[0].values, result.figures[0].lower_bound) == ((1000,), (True,))


def test_latencies_of_first_frames_are_told_from_those_of_established_connections() -> None:
    _, *latencies = measured(PLAN, StatefulGateway(new_cps=12_345)).figures
    assert [(each.name, each.values, each.primary) for each in latencies] == [
        ("first-packet latency, median", (5.0,), False),
        ("first-packet latency, P99.9", (5.0,), False),
        ("latency of established connections, median", (1.0,), False),
        ("latency of established connections, P99.9", (1.0,), False),
    ]


def test_without_a_load_no_connection_of_phase_1_has_a_latency() -> None:
    result = measured(replace(PLAN, load_fps=0), StatefulGateway(new_cps=12_345))
    assert result.figures[0].name == "rate of new connections beside 0 fps"
    assert [each.name.split(",")[0] for each in result.figures[1:]] == ["first-packet latency"] * 2


def test_a_rate_of_0_has_no_latencies_and_is_explained() -> None:
    """Replies go to another connection at every rate."""
    result = measured(replace(PLAN, max_rate_fps=1000), StatefulGateway(collided=1))
    (rate,) = result.figures
    assert (rate.values, rate.lower_bound) == ((0,), (False,))
    assert result.remarks[-1] == Remark.of(Topic.LOST_AT_EVERY_RATE, what="frames")


def test_what_bounds_the_rate_is_said_if_it_is_a_bound() -> None:
    bound = measured(replace(PLAN, max_rate_fps=3000), StatefulGateway())
    assert bound.figures[0].lower_bound == (True,)
    assert Topic.BOUND_BY_MAXIMUM in topics(bound.remarks)
    exact = measured(PLAN, StatefulGateway(new_cps=12_345))
    assert len(exact.remarks) == 1
    assert exact.deviations == ()


def test_the_search_is_described_in_the_unit_of_what_is_sought() -> None:
    one_percent = SearchError(fraction=Fraction(1, 100))
    search = measure(
        replace(PLAN, error=one_percent, repetitions=2, loss_verifications=1),
        StatefulGateway(new_cps=12_345),
    ).conditions.search
    assert search
    assert (search.error, search.loss_verifications) == ("1 %", 1)
    assert search.error_fps in (122, 123)
    in_frames = measured(NEW, StatefulGateway(frames_fps=9000)).conditions.search
    assert in_frames
    assert in_frames.error == "1 fps"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"load_fps": 2**33},
            r"^load_fps: 8589934592 is out of range \(expected 0 to 8589934591\)",
        ),
        (
            {"load_fps": None, "new_cps": 2**33},
            r"^new_cps: 8589934592 .*\(expected 1 to 8589934591\)",
        ),
        ({"load_fps": None}, "^load_fps: is missing, as is new_cps"),
        ({"new_cps": 5}, "^load_fps: is given with new_cps"),
    ],
    ids=str,
)
def test_rates_that_leave_none_for_the_other_kind_are_refused(
    changes: dict[str, Any], said: str
) -> None:
    for highest in ({"load_fps": 2**33 - 1}, {"load_fps": None, "new_cps": 2**33 - 1}):
        assert replace(PLAN, **highest).given_fps == 2**33 - 1
    with pytest.raises(ConfigurationError, match=said):
        replace(PLAN, **changes)


def test_a_trial_of_a_fifth_of_a_second_creates_a_connection_at_5_a_second() -> None:
    timing = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
    assert replace(PLAN, timing=timing, load_fps=None, new_cps=5).given_fps == 5
