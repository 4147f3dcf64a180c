"""New connections beside a load: the streams, and what a search finds."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.base import TableParameters
from natxy.errors import ConfigurationError
from natxy.model.measurement import Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.trial_spec import Mix
from natxy.procedure.churn import ChurnPlan, churn
from natxy.search.bisection import SearchError
from natxy.search.settings import LossTolerance
from natxy.trial.bursts import Bursts
from natxy.trial.churn import Churn, churn_load
from natxy.trial.connection_table import needed_timeout_s
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from natxy.verdict.counted import Counting
from tests.remarks import topics
from tests.unit.churn import PLAN, RANGES, measure
from tests.unit.connections import plan as traffic_plan
from tests.unit.connections import spec_of
from tests.unit.fake_engine import FakeEngine
from tests.unit.kept import Kept
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway


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


@pytest.mark.parametrize(
    ("most", "mbps", "first"), [(None, 0, 1000), (50_000, 0, 50_000), (None, 10, 12_880)]
)
def test_a_search_starts_low_where_neither_the_media_nor_the_user_gave_a_limit(
    most: int | None, mbps: int, first: int
) -> None:
    """From the limit, 131,068,000, it would take a dozen trials that all fail."""
    kept = Kept()
    plan = replace(NEW, max_rate_fps=most, repetitions=1)
    measured(plan, StatefulGateway(frames_fps=9000, new_cps=20_000), mbps=mbps, observer=kept)
    assert kept.rates[0] == first


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
