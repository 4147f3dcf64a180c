"""The gateway rests after each trial (RFC 2544 section 23 e), also where another part begins."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.model.traffic import TrafficPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, first_above

SETTLE_S = 5.0
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0), settle_s=Fraction(SETTLE_S))
SEARCH = ThroughputPlan(
    timing=TIMING,
    seed=1,
    repetitions=2,
    error=SearchError(fraction=Fraction(1, 4)),
    max_rate_fps=10_000,
)
LOSS = FrameLossPlan(timing=TIMING, seed=1, rates_fps=(1000, 2000))

LOSS_AT_ONCE = replace(LOSS, timing=replace(TIMING, settle_s=Fraction(0)))


def frame_sizes(session: Session) -> None:
    for size_bytes in (84, 512):
        frame_loss(LOSS, session.with_traffic(frame_size_bytes=size_bytes))


def numbers_of_flows(session: Session) -> None:
    overload(OverloadPlan(test=SEARCH, flows=(10, 100)), session)


def a_search_before(session: Session) -> None:
    asked: Any = {"timing": TIMING, "seed": 1, "repetitions": 2, "search": SEARCH}
    recovery(RecoveryPlan(**asked), session)


@pytest.mark.parametrize("measure", [frame_sizes, numbers_of_flows, a_search_before])
def test_there_is_a_rest_between_any_two_trials(
    measure: Callable[[Session], None], nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(FakeEngine, "settle", lambda _, s: seen.append(f"rest {s}"))
    engine = FakeEngine(
        lose=first_above(6_000),
        during=lambda: seen.append("trial"),
    )
    measure(engine.session(nat64))
    count = seen.count("trial")
    assert count > 3
    assert seen == ["trial", *(f"rest {SETTLE_S}", "trial") * (count - 1)]


@pytest.mark.parametrize("measure", [frame_sizes, numbers_of_flows, a_search_before])
def test_no_two_trials_have_the_same_nonce(
    measure: Callable[[Session], None], nat64: TrafficPlan
) -> None:
    """A frame that comes late is then never taken for one of another part's trial."""
    engine = FakeEngine(lose=first_above(6_000))
    measure(engine.session(nat64))
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces) > 3


def test_an_engine_counts_its_trials(nat64: TrafficPlan, engine: list[str]) -> None:
    with set_up(nat64.testbed, nat64.source, NoDut()) as session:
        assert session.trials == 0
        frame_loss(LOSS_AT_ONCE, session)
        assert session.with_traffic(frame_size_bytes=512).trials == 2
