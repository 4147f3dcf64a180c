"""Frame loss over the load: which rates are sent, where it ends, what is counted."""

import dataclasses
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from natxy.cli.measurements import rates_of
from natxy.errors import ConfigurationError, MeasurementError, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.reason import Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Direction, Phase, Stream, TrialSpec
from natxy.procedure.frame_loss import FORWARDING, LOSS, FrameLossPlan, frame_loss
from natxy.search.settings import LossTolerance
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.remarks import topics
from tests.unit.clauses import codes, in_full_series, texts
from tests.unit.fake_engine import FakeEngine, Json, frames_in, rate_of
from tests.unit.reasons import LATE

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))
DIRECTIONS: tuple[Direction, ...] = ("forward", "reverse")


def plan(**changes: Any) -> FrameLossPlan:
    given: dict[str, Any] = {"timing": FAST, "seed": 7, "max_rate_fps": 10_000}
    return FrameLossPlan(**given | changes)


def above(capacity_fps: int, stream: Stream) -> range:
    """Returns the frames that are more than the capacity."""
    rate_fps = rate_of(stream)
    return range(max(0, frames_in(stream) * (rate_fps - capacity_fps) // rate_fps))


def forward(result: Measurement) -> dict[str, tuple[float, ...]]:
    return {
        f.at: f.values
        for f in result.figures
        if f.values and f.direction == "forward" and f.name == LOSS
    }


def test_from_the_maximum_down_until_two_rates_lose_nothing(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: above(7_500, stream))
    found = forward(frame_loss(plan(), engine.session(nat64)))
    assert found == {
        "100 % (10,000 fps)": (25.0,),
        "90 % (9,000 fps)": (pytest.approx(100 / 6, abs=0.12),),
        "80 % (8,000 fps)": (6.25,),
        "70 % (7,000 fps)": (0.0,),
        "60 % (6,000 fps)": (0.0,),
    }


def forwarding(result: Measurement) -> Figure:
    (figure,) = (each for each in result.figures if each.name == FORWARDING)
    return figure


def test_the_forwarding_rate_is_what_came_in_a_second_per_direction(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: above(7_500, stream), misdelivers=10)
    figure = forwarding(measured_at(engine, nat64, rates_fps=(10_000,)))
    # Of the 1,000 frames of 0.1 s, 250 are lost and 10 come wrong.
    assert figure.values == pytest.approx((7_400,))
    assert (figure.unit, figure.direction, figure.primary) == ("fps", None, False)


def test_without_a_valid_trial_the_forwarding_rate_is_a_lower_bound(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: above(10_000, stream), round_trip_ns=lambda _: 300.0)
    figure = forwarding(measured_at(engine, nat64, rates_fps=(20_000,)))
    assert figure.benchmark == pytest.approx(10_000, rel=0.01)
    assert figure.benchmark_bound == "lower"


def test_the_rate_of_each_point_is_a_number_as_well(nat64: TrafficPlan) -> None:
    result = frame_loss(plan(), FakeEngine().session(nat64))
    points = {(figure.at, figure.at_value, figure.at_unit) for figure in result.figures}
    assert points == {("100 % (10,000 fps)", 10_000, "fps"), ("90 % (9,000 fps)", 9_000, "fps")}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ["from a given rate down, not from the media's rate"]),
        (
            {"rates_fps": (1000,)},
            ["given rates, not from 100 % of the media's rate down"],
        ),
        (
            {"loss": LossTolerance(fraction=Fraction(1, 100))},
            [
                "from a given rate down, not from the media's rate",
                "1 % loss accepted where the series ends",
            ],
        ),
    ],
)
def test_a_series_that_is_not_that_of_rfc_2544_says_so(
    changes: dict[str, Any], said: list[str], nat64: TrafficPlan
) -> None:
    timing = Timing(duration_s=Fraction(60), drain_s=Fraction(2), settle_s=Fraction(5))
    session = in_full_series(FakeEngine().session(nat64))
    once, *found = texts(frame_loss(plan(timing=timing, **changes), session).deviations)
    assert once == "1 repetition, not several (RFC 8219 section 12)"
    assert found == [f"{one} (RFC 2544 section 26.3)" for one in said]


def test_a_lossless_rate_above_a_lossy_one_ends_nothing(nat64: TrafficPlan) -> None:
    """Two *successive* rates, not any two."""
    engine = FakeEngine(lose=lambda stream: [3] if rate_of(stream) in (9_000, 7_000) else [])
    found = forward(frame_loss(plan(), engine.session(nat64)))
    assert [values[0] > 0 for values in found.values()] == [False, True, False, True, False, False]


def test_both_directions_must_lose_nothing(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: [0] if stream.direction == "reverse" else [])
    result = frame_loss(plan(), engine.session(nat64))
    assert len(forward(result)) == 10
    assert result.figure(LOSS, "reverse", "100 % (10,000 fps)").values == (0.1,)


def test_a_frame_that_came_wrong_is_lost(nat64: TrafficPlan) -> None:
    result = frame_loss(plan(), FakeEngine(misdelivers=1).session(nat64))
    assert len(forward(result)) == 10  # no rate is without loss
    assert forward(result)["100 % (10,000 fps)"] == pytest.approx((0.1,))


def test_the_step_and_the_medias_rate(nat64: TrafficPlan) -> None:
    """10 Mb/s carry 12,019 frames of 84 bytes; a twentieth less, and that is all."""
    engine = FakeEngine(link_mbps=10)
    found = forward(
        frame_loss(plan(max_rate_fps=None, step=Fraction(1, 20)), engine.session(nat64))
    )
    assert list(found) == ["100 % (12,019 fps)", "95 % (11,418 fps)"]


def test_given_rates_are_all_sent(nat64: TrafficPlan) -> None:
    engine = FakeEngine()
    asked = plan(rates_fps=(500, 1000, 1500), max_rate_fps=None, repetitions=2)
    found = forward(frame_loss(asked, engine.session(nat64)))
    assert found == {f"{rate} fps": (0.0, 0.0) for rate in ("500", "1,000", "1,500")}
    assert len({spec.nonce for spec in engine.specs}) == 6


def test_what_the_tester_cannot_send_is_left_out_and_told(nat64: TrafficPlan) -> None:
    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if rate_of(spec.phases[0].streams[0]) > 8_000 else None

    engine = FakeEngine(invalid=invalid)
    result = frame_loss(plan(), engine.session(nat64))
    assert list(forward(result)) == ["80 % (8,000 fps)", "70 % (7,000 fps)"]
    missing = [figure for figure in result.figures if figure.missing]
    assert [(each.at, each.direction, each.values) for each in missing] == [
        (at, direction, ())
        for at in ("100 % (10,000 fps)", "90 % (9,000 fps)")
        for direction in ("forward", "reverse")
    ], "their loss is not 0"
    assert [remark.where for remark in result.remarks] == [
        "100 % (10,000 fps)",
        "90 % (9,000 fps)",
    ]
    assert all(remark.code is Topic.FEW_VALID for remark in result.remarks)
    assert all(str(LATE) in str(remark) for remark in result.remarks)
    assert Differs.RATES_LEFT_OUT in codes(result.deviations)
    assert result.counts.invalid_trials == 2 * 4


def test_no_rate_that_can_be_sent_is_an_error(nat64: TrafficPlan) -> None:
    engine = FakeEngine(invalid=lambda _: LATE)
    with pytest.raises(TesterLimit, match="no rate of the series"):
        frame_loss(plan(), engine.session(nat64))


def test_without_a_maximum_it_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(ConfigurationError, match="max_rate_fps: is missing"):
        frame_loss(plan(max_rate_fps=None), FakeEngine().session(nat64))


@pytest.mark.parametrize("step", [Fraction(0), Fraction(11, 100)])
def test_a_step_above_a_tenth_is_not_rfc_2544(step: Fraction) -> None:
    with pytest.raises(ConfigurationError, match="step"):
        plan(step=step)


def test_rates_as_a_person_writes_them() -> None:
    assert rates_of(None) == ()
    assert rates_of("1000,500") == (1000, 500)
    assert rates_of("1000:3000:1000") == (1000, 2000, 3000)
    assert rates_of("1000:2999:1000") == (1000, 2000)


@pytest.mark.parametrize(
    "text",
    ["", "0", "1000,", "1:2", "2000:1000:500", "1:99999:1", "a", "1:10000000000G:1"],
)
def test_what_is_no_series_of_rates_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="rates"):
        rates_of(text)


def test_trials_that_are_left_out_are_in_the_error(nat64: TrafficPlan) -> None:
    """A gateway that loses a frame now and then: where its core was away for most of each trial,
    all trials that lost one are left out."""
    chance = random.Random(1)
    engine = FakeEngine(lose=lambda _: [7] if chance.random() < 0.6 else [], away_ns=lambda _: 3e7)
    asked = plan(rates_fps=(5000,), max_rate_fps=None, repetitions=20, invalid_repeats=50)
    figure = frame_loss(asked, engine.session(nat64)).figure(LOSS, "forward", "5,000 fps")
    assert set(figure.values) == {0.0}
    mean = sum(figure.errors) / len(figure.errors)
    assert 0.3 * 0.2 < mean < 0.2, "one frame of 500 are 0.2 %, in six trials of ten"


def measured_at(engine: FakeEngine, nat64: TrafficPlan, **changes: Any) -> Measurement:
    asked = plan(**{"rates_fps": (10_000,), "max_rate_fps": None} | changes)
    return frame_loss(asked, engine.session(nat64))


def of(result: Measurement, direction: Direction = "forward") -> tuple[float, float]:
    """The loss of a direction at the only rate, and its error."""
    (figure,) = (f for f in result.figures if f.direction == direction and f.name == LOSS)
    return figure.values[0], figure.errors[0]


def test_what_is_lost_while_the_gateway_is_away_does_not_count(nat64: TrafficPlan) -> None:
    """It is away for 10 of 100 ms; 20.2 ms are disturbed. Of the other 798 frames none was lost: a
    share of 7 in 798 would have been seen."""
    engine = FakeEngine(lose=lambda _: range(100), away_ns=lambda _: 1e7)
    found = of(measured_at(engine, nat64))
    assert found == pytest.approx((0.0, 700 / 798))


def test_of_losses_that_fill_no_time_the_share_of_clean_frames_counts(nat64: TrafficPlan) -> None:
    """798 of 1,000 frames are clean. 4 of these are lost, and 100 others."""
    engine = FakeEngine(lose=lambda _: [*range(100), 500, 600, 700, 800], away_ns=lambda _: 1e7)
    loss = 4 / 798 * 100
    assert of(measured_at(engine, nat64)) == pytest.approx((loss, 10.4 - loss))


def test_the_loss_rate_of_an_overload_is_that_of_the_time_in_which_the_gateway_was_full(
    nat64: TrafficPlan,
) -> None:
    """For 20 ms it is away; a queue takes in the first 10 ms. From then on it forwards half, and a
    frame waits for 20 ms. Without the absence, its queue would have been full after 200 frames."""
    lost = [*range(100, 200), *range(201, 1000, 2)]
    lows = {"low_delays": [(0, 10_000), (300, 20_010_000), (600, 20_010_000)]}
    engine = FakeEngine(lose=lambda _: lost, away_ns=lambda _: 2e7, members=lambda _: lows)
    loss, error = of(measured_at(engine, nat64))
    assert loss == pytest.approx(50.0 * 0.8, abs=0.1)
    assert error == pytest.approx(50.0 * 0.1, abs=0.5), "the first loss came 100 frames earlier"


@pytest.mark.parametrize("lost", [0, 500])
def test_pauses_make_a_loss_too_low(lost: int, nat64: TrafficPlan) -> None:
    """The gateway had more time, by the pauses of whichever sender. What it forwarded meanwhile it
    may not forward otherwise, and all of it may be missing in one direction."""
    paused_s = 0.0019
    engine = FakeEngine(
        lose=lambda _: range(lost),
        paused_ns=lambda stream: paused_s * 1e9 if stream.direction == "reverse" else 0.0,
    )
    result = measured_at(engine, nat64)
    last_due_s = 999 / 10_000
    share = paused_s / (last_due_s + paused_s)
    forwarded = 2 * (1000 - lost)
    assert of(result) == pytest.approx((lost / 10, forwarded * share / 1000 * 100))
    assert topics(result.remarks) == [Topic.LOSS_ERROR]


@pytest.mark.parametrize(("late_us", "counts"), [(9, False), (1_900, True)])
def test_a_sender_that_is_late_at_the_end_gives_the_gateway_time(
    late_us: int, counts: bool, nat64: TrafficPlan
) -> None:
    engine = FakeEngine(lose=lambda _: range(500), excess_ns=late_us * 1e3)
    result = measured_at(engine, nat64)
    share = late_us / (99_900 + late_us)
    assert of(result) == pytest.approx((50.0, 2 * 50 * share if counts else 0))


def test_what_a_gateway_forwards_in_pauses_is_no_more_than_came(nat64: TrafficPlan) -> None:
    """Forward, 10 of 1,000 frames came; and in the pauses 19 of all may have."""
    paused_s = 0.0019
    engine = FakeEngine(
        lose=lambda stream: range(990 if stream.direction == "forward" else 1),
        paused_ns=lambda _: paused_s * 1e9,
    )
    assert of(measured_at(engine, nat64)) == pytest.approx((99.0, 1.0))


def in_turn(*round_trips_ns: float) -> Callable[[TrialSpec], float]:
    trips = itertools.cycle(round_trips_ns)
    return lambda _: next(trips)


def test_a_badly_placed_trial_that_lost_frames_tells_no_loss_rate(nat64: TrafficPlan) -> None:
    """In two of three trials the cores are far apart, which explains a part of the loss. Nothing
    but the placement chose the third, so its loss is right."""
    far_ns, near_ns = 300.0, 50.0
    engine = FakeEngine(
        lose=lambda stream: above(10_000, stream), round_trip_ns=in_turn(far_ns, far_ns, near_ns)
    )
    result = measured_at(engine, nat64, rates_fps=(20_000,), repetitions=2)
    (figure,) = (f for f in result.figures if f.direction == "forward")
    assert figure.values == pytest.approx((50.0, 50.0))
    assert figure.errors == pytest.approx((0.0, 0.0))
    assert result.counts.invalid_trials == 4


def test_a_pass_of_a_badly_placed_gateway_counts_and_the_losses_of_others_are_in_the_error(
    nat64: TrafficPlan,
) -> None:
    """It may have lost its frames by chance: then the mean of all trials is right."""
    chance = itertools.chain([[0], [0]], itertools.repeat([]))
    engine = FakeEngine(lose=lambda _: next(chance), round_trip_ns=lambda _: 300.0)
    loss, error = of(measured_at(engine, nat64))
    assert (loss, error) == pytest.approx((0.0, 0.05), abs=1e-9)


def test_without_a_valid_trial_the_excused_ones_say_what_is_lost_at_most(
    nat64: TrafficPlan,
) -> None:
    engine = FakeEngine(lose=lambda stream: above(10_000, stream), round_trip_ns=lambda _: 300.0)
    result = measured_at(engine, nat64, rates_fps=(20_000,))
    (figure,) = (f for f in result.figures if f.direction == "forward")
    assert (figure.values, figure.benchmark_bound) == ((50.0,), "upper")
    assert {Topic.FEW_VALID, Topic.LOST_AT_MOST} <= {*topics(result.remarks)}


def test_without_retry_time_the_rest_of_the_plan_is_run(nat64: TrafficPlan) -> None:
    """Those that noise has left out are kept beside the figure."""
    engine = FakeEngine(
        lose=lambda stream: above(10_000, stream), round_trip_ns=in_turn(300.0, 300.0, 50.0)
    )
    timing = dataclasses.replace(FAST, retry_s=Fraction(0))
    result = measured_at(engine, nat64, rates_fps=(20_000,), repetitions=6, timing=timing)
    assert (result.counts.trials, result.counts.invalid_trials) == (6, 4)
    (figure,) = (f for f in result.figures if f.direction == "forward")
    assert figure.values == pytest.approx((50.0, 50.0))
    forwarded = forwarding(result)
    assert (len(forwarded.values), len(forwarded.excused)) == (2, 4)
    (left_out,) = (each for each in result.remarks if each.code is Topic.FEW_VALID_BY_RETRY_TIME)
    assert (left_out.facts["valid"], left_out.facts["invalid"]) == (2, 4)


LOOKS = 1000


@dataclass
class Busy(FakeEngine):
    """Its gateway works all the time."""

    busy_looks: int = LOOKS

    def watch(self, phase: Phase, spec: TrialSpec) -> Json:
        seen = {"samples": LOOKS, "busy_samples": self.busy_looks, "period_ns": 1e8 / LOOKS}
        return {**super().watch(phase, spec), **seen}


Idle = partial(Busy, busy_looks=LOOKS // 10)


@pytest.mark.parametrize("lost", [0.3, 0.5, 0.7])
def test_a_gateway_that_always_works_is_excused_whatever_it_loses(
    lost: float, nat64: TrafficPlan
) -> None:
    engine = Busy(
        lose=lambda stream: above(round(20_000 * (1 - lost)), stream),
        round_trip_ns=lambda _: 300.0,
    )
    (figure,) = (
        each
        for each in measured_at(engine, nat64, rates_fps=(20_000,)).figures
        if each.direction == "forward"
    )
    assert figure.benchmark_bound == "upper"
    assert figure.values == pytest.approx((100 * lost,))


def test_a_direction_in_which_nothing_came_has_no_excuse(nat64: TrafficPlan) -> None:
    engine = Busy(
        lose=lambda stream: range(frames_in(stream)) if stream.direction == "forward" else (),
        round_trip_ns=lambda _: 300.0,
    )
    with pytest.raises(MeasurementError, match=r"forward: none of .* frames came"):
        measured_at(engine, nat64)


@pytest.mark.parametrize(
    ("engine", "changes"),
    [
        (Idle, {}),
        (partial(FakeEngine, misdelivers=1), {}),
        (FakeEngine, {"loss": LossTolerance(fraction=Fraction(6, 10))}),
    ],
)
def test_where_a_badly_placed_loss_counts_its_error_contains_the_placement(
    engine: Callable[..., FakeEngine], changes: dict[str, Any], nat64: TrafficPlan
) -> None:
    """Half of 20,000 are lost, by a gateway that had a rest, or something else is wrong, or the
    loss is accepted. Cores that are far apart forward 2/3 of what they forward otherwise: if they
    were near, three quarters might have come."""
    far = engine(lose=lambda stream: above(10_000, stream), round_trip_ns=lambda _: 300.0)
    loss, error = of(measured_at(far, nat64, rates_fps=(20_000,), **changes))
    assert (loss, error) == pytest.approx((50.0, 25.0), abs=0.1)


def test_excused_trials_that_may_have_lost_everything_say_nothing(nat64: TrafficPlan) -> None:
    engine = FakeEngine(
        lose=lambda stream: above(10_000, stream),
        round_trip_ns=lambda _: 300.0,
        paused_ns=lambda _: 2e8,
    )
    with pytest.raises(TesterLimit, match="no rate of the series"):
        measured_at(engine, nat64, rates_fps=(20_000,))


FOREGROUND, BACKGROUND = f"{LOSS}, foreground", f"{LOSS}, background"


def mixed(engine: FakeEngine, nat64: TrafficPlan) -> Session:
    """Nine of ten frames are translated."""
    session = engine.session(nat64)
    section = session.testbed.tester
    native = {"ipv6_real": "2001:2:0:8000::2", "next_hop_ipv6": "2001:2:0:8000::1"}
    right = section.right.model_copy(update=native)
    both = section.model_copy(update={"right": right})
    changed = session.testbed.model_copy(update={"tester": both})
    return session.with_testbed(changed).with_traffic(n=10, m=9)


def forward_of(result: Measurement, name: str) -> dict[str, float]:
    return {
        f.at: f.values[0] for f in result.figures if f.direction == "forward" and f.name == name
    }


def test_each_kind_of_a_mix_has_its_own_loss_beside_that_of_all(nat64: TrafficPlan) -> None:
    """5 of 1,000 frames are lost, which are 5 of the background's 100; 9 of 900 came wrong."""
    engine = FakeEngine(lose=lambda _: range(9, 50, 10), misdelivers=9)
    asked = plan(rates_fps=(10_000,), max_rate_fps=None)
    result = frame_loss(asked, mixed(engine, nat64))
    at = "10,000 fps"
    assert forward_of(result, LOSS) == pytest.approx({at: 1.4})
    assert forward_of(result, FOREGROUND) == pytest.approx({at: 1.0})
    assert forward_of(result, BACKGROUND) == pytest.approx({at: 5.0})
    primary = {figure.name for figure in result.figures if figure.primary}
    assert primary == {LOSS}, "the kinds stand beside it"


def test_traffic_of_one_kind_has_no_figures_of_kinds(nat64: TrafficPlan) -> None:
    result = frame_loss(plan(), FakeEngine().session(nat64))
    assert {figure.name for figure in result.figures} == {LOSS, FORWARDING}


def test_a_series_that_never_passes_ends_at_a_step_of_the_maximum(nat64: TrafficPlan) -> None:
    """A tenth of 10 frames a second is the lowest rate that there is: 1."""
    engine = FakeEngine(lose=lambda _: [0])
    timing = Timing(duration_s=Fraction(1), drain_s=Fraction(0))
    result = frame_loss(plan(max_rate_fps=10, timing=timing), engine.session(nat64))
    assert [at.split(" (")[0] for at in forward_of(result, LOSS)] == [
        f"{share} %" for share in range(100, 0, -10)
    ]
    assert engine.rates_fps == list(range(10, 0, -1))
    few = frame_loss(plan(max_rate_fps=5, timing=timing), engine.session(nat64))
    assert list(forward_of(few, LOSS))[-1] == "20 % (1 fps)", "no rate is 0"


def test_a_loss_that_is_accepted_ends_the_series(nat64: TrafficPlan) -> None:
    """1 of 1,000 and 1 of 900 frames are at most 0.12 %."""
    engine = FakeEngine(lose=lambda _: [0])
    accepts = plan(loss=LossTolerance(fraction=Fraction(12, 10_000)))
    result = frame_loss(accepts, engine.session(nat64))
    assert list(forward_of(result, LOSS)) == ["100 % (10,000 fps)", "90 % (9,000 fps)"]


@pytest.mark.parametrize("step", [Fraction(1, 1000), Fraction(1, 10)])
def test_steps_of_a_thousandth_up_to_a_tenth_are_possible(step: Fraction) -> None:
    assert plan(step=step).step == step


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"step": Fraction(1, 1001)},
            r"step: 0\.0999001 is out of range \(expected 0\.1 to 10\)",
        ),
        ({"rates_fps": (1000, 0)}, "rates_fps: 0 is out of range"),
        ({"rates_fps": (1, 2**33 + 1)}, "rates_fps: 8589934593 is out of range"),
        ({"max_rate_fps": 0}, "max_rate_fps: 0 is out of range"),
        ({"loss": 0.01}, "loss"),
    ],
)
def test_a_series_that_cannot_be_sent_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        plan(**changes)


def test_each_rate_of_the_series_is_shown_as_soon_as_it_is_measured(nat64: TrafficPlan) -> None:
    class Shown(Observer):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def repetition_started(self, number: int, count: int) -> None:
            self.seen.append(f"{number} of {count}")

        def repetition_ended(self, figures: Any) -> None:
            self.seen += [f"{f.direction} {f.at}" for f in figures]

    shown = Shown()
    asked = plan(rates_fps=(1000, 2000), max_rate_fps=None, repetitions=2)
    frame_loss(asked, FakeEngine().session(nat64, observer=shown))
    assert shown.seen == [
        "1 of 2",
        "forward 1,000 fps",
        "reverse 1,000 fps",
        "2 of 2",
        "forward 2,000 fps",
        "reverse 2,000 fps",
    ]


def test_a_kind_that_was_not_sent_has_no_loss(nat64: TrafficPlan) -> None:
    """A trial of one frame has no background: a loss of 0 % would be of nothing."""
    result = frame_loss(plan(rates_fps=(10, 1000)), mixed(FakeEngine(), nat64))
    assert list(forward_of(result, BACKGROUND)) == ["1,000 fps"]
    assert list(forward_of(result, LOSS)) == ["10 fps", "1,000 fps"]
