"""New connections beside a load: the streams, and what a search finds."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.remark import Topic
from natxy.model.trial_spec import Mix
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.bursts import Bursts
from natxy.trial.churn import Churn, churn_load
from natxy.trial.connection_table import needed_timeout_s
from natxy.trial.load import steady
from natxy.trial.timing import Timing
from natxy.verdict.counted import Counting
from tests.remarks import topics
from tests.unit.churn import PLAN, RANGES, measure
from tests.unit.connections import plan as traffic_plan
from tests.unit.connections import spec_of
from tests.unit.stateful_gateway import StatefulGateway


def churning(new_cps: int, load_fps: int, duration_s: Fraction = Fraction(1)) -> Churn:
    return churn_load(
        replace(steady(1, duration_s), counting=Counting(above_fps=0, short=True)),
        duration_s,
        new_cps=new_cps,
        load_fps=load_fps,
        sought="new",
        outward="forward",
    )


def load(new_cps: int, load_fps: int, **traffic: Any) -> tuple[Any, Churn]:
    planned = traffic_plan({}, **({"forward": RANGES} | traffic))
    asked = churning(new_cps, load_fps)
    return spec_of(planned, asked), asked


@pytest.mark.parametrize("m", [0, 1, 2, 7, 10])
def test_an_even_mix_has_its_share_after_each_frame(m: int) -> None:
    mix = Mix(n=10, m=m, even=True)
    for frames in range(100):
        foreground = mix.frames_of("foreground", frames)
        assert foreground == -(-frames * m // 10)
        assert foreground + mix.frames_of("background", frames) == frames


def test_new_connections_are_spread_among_the_frames_of_others() -> None:
    spec, _ = load(2000, 8000)
    made, test = spec.phases
    out, back = test.streams
    assert out.mix == Mix(n=5, m=4, even=True)
    assert (out.segments[0].rate_fps, out.frames_of("background")) == (10_000, 2000)
    assert (back.segments[0].rate_fps, back.frames) == (8000, 8000)
    assert back.background is None
    assert out.foreground.connections.role == "initiate"
    created = out.background.connections
    assert (created.role, created.first) == ("establish", made.streams[0].frames)
    assert out.background.departure == made.streams[0].foreground.departure


def test_without_a_load_each_frame_creates_a_connection() -> None:
    spec, _ = load(2000, 0)
    (out,) = spec.phases[-1].streams
    assert out.foreground is None
    assert out.frames_of("background") == out.frames == 2000


def test_a_small_share_is_the_nearest_fraction() -> None:
    spec, asked = load(3, 100_000)
    (out, _) = spec.phases[-1].streams
    assert abs(out.frames_of("background") - 3) <= 1
    assert asked.mix.n <= 2**16


@pytest.mark.parametrize(("new_cps", "load_fps"), [(999_000, 998_999), (500_001, 499_999)])
def test_no_more_connections_are_created_than_asked_for(new_cps: int, load_fps: int) -> None:
    """No fraction with a denominator of at most 65,536 is the load's share."""
    spec, _ = load(new_cps, load_fps)
    created = spec.phases[-1].streams[0].frames_of("background")
    assert new_cps - new_cps / 10_000 <= created <= new_cps


def test_no_rate_is_so_high_that_the_mix_has_no_frame_of_the_given_one() -> None:
    result = measure(replace(PLAN, load_fps=1), StatefulGateway())
    assert result.figures[0].values == (65_535,)
    assert result.figures[0].lower_bound == (True,)


def test_each_trial_creates_a_connection() -> None:
    plan = replace(PLAN, timing=Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20)))
    assert plan.least_fps == 5
    with pytest.raises(ConfigurationError, match="new_cps: 4 is out of range"):
        replace(plan, load_fps=None, new_cps=4)


def test_a_tolerance_is_not_ignored() -> None:
    plan = replace(PLAN, loss=LossTolerance(fraction=Fraction(1, 10)))
    result = measure(plan, StatefulGateway(new_cps=12_345))
    # Of 8,000 frames and at least 12,346 that create connections, more than 2,000 may be lost.
    assert result.figures[0].values[0] > 14_000


def test_connections_must_live_until_they_are_used_again() -> None:
    """1000 connections and 8000 frames a second: each is used every 125 ms, or after 250 ms in a
    pseudorandom order."""
    planned = traffic_plan({}, forward=RANGES)
    asked = churning(10, 8000, Fraction(100))
    assert needed_timeout_s(spec_of(planned, asked)) == 3
    seldom = churning(10, 5, Fraction(100))
    assert needed_timeout_s(spec_of(planned, seldom)) >= 100


def test_the_rate_of_new_connections_is_found() -> None:
    result = measure(PLAN, StatefulGateway(new_cps=12_345))
    rate, *latencies = result.figures
    assert rate.name == "rate of new connections beside 8,000 fps"
    assert rate.unit == "cps"
    assert rate.values[0] == pytest.approx(12_345, abs=3)
    assert not any(rate.lower_bound)
    assert [figure.name for figure in latencies] == [
        "first-packet latency, median",
        "first-packet latency, P99.9",
        "latency of established connections, median",
        "latency of established connections, P99.9",
    ]
    assert [set(figure.values) for figure in latencies] == [{5}, {5}, {1}, {1}]
    assert result.conditions.search
    assert result.conditions.search.error == "1 cps"


def test_the_load_is_found() -> None:
    plan = replace(PLAN, load_fps=None, new_cps=2000)
    result = measure(plan, StatefulGateway(frames_fps=9000, new_cps=20_000))
    rate, *_ = result.figures
    assert rate.name == "load beside new connections at 2,000 cps"
    # In the initiator's direction, the gateway's limit holds for all frames.
    assert rate.unit == "fps"
    assert rate.values[0] == pytest.approx(7000, abs=3)


@pytest.mark.parametrize("changes", [{}, {"load_fps": None, "new_cps": 2000}], ids=["new", "load"])
def test_connections_of_tcp_are_half_open(changes: dict[str, Any]) -> None:
    gateway = StatefulGateway(new_cps=12_345, frames_fps=20_000)
    result = measure(
        replace(PLAN, **changes), gateway, connections={"transport": "tcp"}, frame_size_bytes=98
    )
    assert "new half-open connections" in result.figures[0].name
    assert Topic.HALF_OPEN in topics(result.remarks)


@pytest.mark.parametrize(("entries", "most"), [(None, 999_000), (5000, 4000)])
def test_a_rate_that_uses_all_there_are_is_a_lower_bound(entries: int | None, most: int) -> None:
    result = measure(PLAN, StatefulGateway(), entries)
    rate, *_ = result.figures
    assert rate.values == (most,)
    assert rate.lower_bound == (True,)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"load_fps": None}, "load_fps: is missing, as is new_cps"),
        ({"new_cps": 1}, "load_fps: is given with new_cps"),
        ({"load_fps": -1}, "load_fps: -1 is out of range"),
        ({"load_fps": None, "new_cps": 0}, "new_cps: 0 is out of range"),
        ({"bursts": Bursts(frames=16)}, "bursts: are not possible with churn"),
    ],
)
def test_one_of_the_two_rates_is_given(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        replace(PLAN, **changes)


def test_what_is_not_possible_is_refused() -> None:
    gateway = StatefulGateway()
    with pytest.raises(ConfigurationError, match=r"\[traffic\]: a mix of foreground"):
        measure(PLAN, gateway, n=10, m=9)
    with pytest.raises(ConfigurationError, match=r'connections\.order: "repeating"'):
        measure(PLAN, gateway, connections={"order": "repeating"})
    with pytest.raises(ConfigurationError, match="direction: the initiator creates"):
        measure(PLAN, gateway, direction="reverse")
    with pytest.raises(ConfigurationError, match=r"connections\.count: a trial can create 0"):
        measure(PLAN, gateway, entries=1000)
