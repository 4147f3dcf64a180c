"""Frame loss of a mix: of all frames of a direction, and of each kind of traffic beside it."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.measurement import Measurement
from natxy.model.traffic import TrafficPlan
from natxy.procedure.frame_loss import LOSS, FrameLossPlan, frame_loss
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, rate_of

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))
FOREGROUND, BACKGROUND = f"{LOSS}, foreground", f"{LOSS}, background"


def plan(**changes: Any) -> FrameLossPlan:
    given: dict[str, Any] = {"timing": FAST, "seed": 7, "max_rate_fps": 10_000}
    return FrameLossPlan(**given | changes)


def mixed(engine: FakeEngine, nat64: TrafficPlan) -> Session:
    """Nine of ten frames are translated."""
    session = engine.session(nat64)
    section = session.testbed.tester
    native = {"ipv6_real": "2001:2:0:8000::2", "next_hop_ipv6": "2001:2:0:8000::1"}
    right = section.right.model_copy(update=native)
    both = section.model_copy(update={"right": right})
    changed = session.testbed.model_copy(update={"tester": both})
    return session.with_testbed(changed).with_traffic(n=10, m=9)


def forward(result: Measurement, name: str) -> dict[str, float]:
    return {
        f.at: f.values[0] for f in result.figures if f.direction == "forward" and f.name == name
    }


def test_each_kind_of_a_mix_has_its_own_loss_beside_that_of_all(nat64: TrafficPlan) -> None:
    """5 of 1,000 frames are lost, which are 5 of the background's 100; 9 of 900 came wrong."""
    engine = FakeEngine(lose=lambda _: range(9, 50, 10), misdelivers=9)
    asked = plan(rates_fps=(10_000,), max_rate_fps=None)
    result = frame_loss(asked, mixed(engine, nat64))
    at = "10,000 fps"
    assert forward(result, LOSS) == pytest.approx({at: 1.4})
    assert forward(result, FOREGROUND) == pytest.approx({at: 1.0})
    assert forward(result, BACKGROUND) == pytest.approx({at: 5.0})
    primary = {figure.name for figure in result.figures if figure.primary}
    assert primary == {LOSS}, "the kinds stand beside it"


def test_traffic_of_one_kind_has_no_figures_of_kinds(nat64: TrafficPlan) -> None:
    result = frame_loss(plan(), FakeEngine().session(nat64))
    assert {figure.name for figure in result.figures} == {LOSS}


def test_a_series_that_never_passes_ends_at_a_step_of_the_maximum(nat64: TrafficPlan) -> None:
    """A tenth of 10 frames a second is the lowest rate that there is: 1."""
    engine = FakeEngine(lose=lambda _: [0])
    timing = Timing(duration_s=Fraction(1), drain_s=Fraction(0))
    result = frame_loss(plan(max_rate_fps=10, timing=timing), engine.session(nat64))
    assert [at.split(" (")[0] for at in forward(result, LOSS)] == [
        f"{share} %" for share in range(100, 0, -10)
    ]
    assert [rate_of(spec.phases[0].streams[0]) for spec in engine.specs] == list(range(10, 0, -1))
    few = frame_loss(plan(max_rate_fps=5, timing=timing), engine.session(nat64))
    assert list(forward(few, LOSS))[-1] == "20 % (1 fps)", "no rate is 0"


def test_a_loss_that_is_accepted_ends_the_series(nat64: TrafficPlan) -> None:
    """1 of 1,000 and 1 of 900 frames are at most 0.12 %."""
    engine = FakeEngine(lose=lambda _: [0])
    accepts = plan(loss=LossTolerance(fraction=Fraction(12, 10_000)))
    result = frame_loss(accepts, engine.session(nat64))
    assert list(forward(result, LOSS)) == ["100 % (10,000 fps)", "90 % (9,000 fps)"]


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
    assert list(forward(result, BACKGROUND)) == ["1,000 fps"]
    assert list(forward(result, LOSS)) == ["10 fps", "1,000 fps"]
