"""Tests of a self-test: its counts, how its ports find each other, bounds of its ceiling."""

from fractions import Fraction
from typing import Any

from natxy.dut.none import Cable
from natxy.model.distribution import NOTHING
from natxy.model.reason import Reason
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TrafficSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Limit
from natxy.procedure.self_test import SelfTestPlan, looped, own_delay_errors, self_test
from natxy.search.bisection import SearchError
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, first_above
from tests.unit.reasons import LATE
from tests.unit.results import result_of, stream_of

TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))
PLAN = SelfTestPlan(seed=1, sizes_bytes=(84,), timing=TIMING, error=SearchError(rate_fps=1))


def looped_session(engine: FakeEngine) -> Session:
    loop = looped(Testbed(traffic=TrafficSection(left_ip_version=6, right_ip_version=6)))
    return engine.session(TrafficPlan(testbed=loop, source=Source(name="test")), Cable())


def of_search(spec: TrialSpec) -> bool:
    return spec.seed != repetition_seed(1, 2)


def test_the_trials_of_the_search_are_counted_without_those_of_the_delay() -> None:
    engine = FakeEngine(lose=first_above(10_000))

    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if len(engine.specs) in (1, 3) and of_search(spec) else None

    engine.invalid = invalid
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert ceiling.rate_fps == 10_000
    assert ceiling.trials == sum(map(of_search, engine.specs)) == len(engine.specs) - 2
    assert (ceiling.invalid_trials, ceiling.misdelivered) == (2, 0)
    assert len({spec.nonce for spec in engine.specs}) == len(engine.specs)


def test_frames_that_came_wrong_are_counted_and_make_a_ceiling_of_0() -> None:
    engine = FakeEngine(misdelivers=1)
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert (ceiling.rate_fps, ceiling.limit) == (0, Limit.DUT)
    assert ceiling.misdelivered == 2 * ceiling.trials  # in each direction
    assert ceiling.delay is not None
    assert ceiling.delay.offset.rate_fps == ceiling.delay.loaded.rate_fps == 1


def test_a_ceiling_that_is_the_medias_rate_is_no_bound() -> None:
    engine = FakeEngine(link_mbps=10)
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert ceiling.limit is Limit.MAXIMUM
    assert (ceiling.rate_fps, ceiling.lower_bound, ceiling.noise) == (12_019, False, False)


def test_each_port_knows_the_others_address_so_that_nothing_is_resolved() -> None:
    class TwoPorts(FakeEngine):
        def port_at(self, side: str) -> dict[str, Any]:
            return super().port_at(side) | {"mac": f"02:00:00:00:00:0{'12'[side == 'right']}"}

    engine = TwoPorts(link_mbps=10)
    self_test(PLAN, looped_session(engine))
    for spec in engine.specs:
        assert spec.sides.left.next_hop.mac == "02:00:00:00:00:02"
        assert spec.sides.right.next_hop.mac == "02:00:00:00:00:01"


def test_a_direction_without_frames_has_no_error() -> None:
    arrived = stream_of(sent=10)
    (_, counters), *_ = arrived.counters()
    assert counters.delay == NOTHING
    assert own_delay_errors(result_of(arrived)) == []
