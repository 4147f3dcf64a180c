"""Whether a tester was too slow, which a lower rate helps, or away, which nothing but time does."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.model.reason import Code
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult, WorkerResult
from natxy.model.trial_spec import Stream
from natxy.model.verdict import Verdict
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.load import Frames, steady
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.verdict.counted import Counting
from natxy.verdict.pacing import PAUSE_SHARE, is_too_slow, long_pauses
from tests.remarks import topics
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.reasons import a_reason
from tests.unit.results import result_of, stream_of

RATE_FPS = 100_000
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
LOAD = steady(RATE_FPS, TIMING.duration_s)
OF_SEARCH = replace(LOAD, counting=Counting(above_fps=99_500, short=True))


def off_core(result: TrialResult, seconds: float) -> TrialResult:
    """The same where the worker was kept from its core for so long."""
    worker = WorkerResult(
        cpu=0,
        tasks=(),
        voluntary_switches=0,
        involuntary_switches=1,
        worst_loop_gap_ns=seconds * 1e9,
        cpu_ns=0.0,
        off_core_ns=seconds * 1e9,
    )
    return result.model_copy(update={"workers": (worker,)})


def dropped(*, gap_s: float) -> TrialResult:
    result = result_of(stream_of(sent=1000), gap_s=gap_s)
    ports = tuple(port.model_copy(update={"rx_missed": 5}) for port in result.ports)
    return result.model_copy(update={"ports": ports})


def test_a_ring_that_was_polled_all_the_time_was_too_small_for_the_rate() -> None:
    assert is_too_slow(dropped(gap_s=0.0001))


def test_a_ring_that_nobody_polled_was_full_because_of_that() -> None:
    assert not is_too_slow(off_core(dropped(gap_s=0.01), 0.01))


def test_a_loop_that_took_long_on_its_core_was_too_slow() -> None:
    """In a send call that does the gateway's work."""
    assert is_too_slow(dropped(gap_s=0.01))


def test_pauses_are_of_a_sender_that_was_too_slow_or_away() -> None:
    paused = result_of(stream_of(sent=1000, paused_s=0.01))
    assert is_too_slow(paused)
    assert not is_too_slow(off_core(paused, 0.006))


def test_a_port_that_did_not_take_all_was_too_slow() -> None:
    short = stream_of(sent=999).model_copy(update={"due": 1000, "refused_by_port": 1})
    assert is_too_slow(result_of(short))


def test_a_sender_that_gave_up_because_its_core_was_away_was_not_too_slow() -> None:
    gave_up = stream_of(sent=999, paused_s=0.01).model_copy(update={"due": 1000})
    assert not is_too_slow(off_core(result_of(gave_up), 0.01))


def test_pauses_are_a_share_of_the_time_without_them() -> None:
    """2 % of 98 ms are 1.96 ms."""
    for paused_s, is_long in ((0.00195, False), (0.00198, True)):
        result = result_of(stream_of(sent=1000, paused_s=paused_s, sending_s=0.1))
        assert (long_pauses(result, PAUSE_SHARE) is not None) == is_long


def test_a_pause_that_makes_no_trial_invalid_is_of_no_slow_tester() -> None:
    """2 % of 98 ms are 1.96 ms."""
    for paused_s, too_slow in ((0.00195, False), (0.00198, True)):
        paused = result_of(stream_of(sent=1000, paused_s=paused_s, sending_s=0.1))
        assert is_too_slow(paused) == too_slow
        assert is_too_slow(paused, Fraction(0))


def trial_of(engine: FakeEngine, traffic: TrafficPlan, load: Frames) -> TrialRecord:
    trials = Trials(session=engine.session(traffic), timing=TIMING, campaign_seed=1)
    return trials.run(load=load, repetition=1, seed=1)


def pausing(share: float) -> Callable[[Stream], float]:
    """Pauses of a share of 100 ms, in which the workers' threads ran."""
    return lambda stream: share * stream.segments[0].duration_ns


@pytest.mark.parametrize("load", [LOAD, OF_SEARCH])
def test_a_trial_that_the_gateways_absence_excuses_is_of_no_slow_tester(
    load: Frames, nat64: TrafficPlan
) -> None:
    engine = FakeEngine(lose=lambda _: range(100), paused_ns=pausing(0.03), away_ns=lambda _: 3e7)
    trial = trial_of(engine, nat64, load)
    assert trial.verdict is Verdict.INVALID
    assert trial.excused
    assert not trial.too_slow


@pytest.mark.parametrize(("late", "slow"), [(0.7, False), (0.8, True)])
def test_no_absence_excuses_what_a_sender_lost_that_was_late_all_the_time(
    late: float, slow: bool, nat64: TrafficPlan
) -> None:
    engine = FakeEngine(
        lose=lambda _: range(100),
        paused_ns=pausing(0.03),
        away_ns=lambda _: 1e6,
        members=lambda stream: {"late_runs": [(0, round(late * frames_in(stream)))]},
    )
    trial = trial_of(engine, nat64, OF_SEARCH)
    assert trial.verdict is Verdict.INVALID
    assert trial.too_slow is slow
    assert trial.excused is not slow
    assert trial.invalid_reasons[0].code is (Code.PAUSED if slow else Code.GATEWAY_AWAY)


@pytest.mark.parametrize(
    ("load", "paused", "invalid"),
    [
        (LOAD, 0.019, False),
        (LOAD, 0.021, True),
        (OF_SEARCH, 0.004, False),
        (OF_SEARCH, 0.006, True),  # 99,500 fps have passed already
    ],
)
def test_pauses_are_why_a_trial_is_invalid_if_it_is_valid_without_them(
    load: Frames, paused: float, invalid: bool, nat64: TrafficPlan
) -> None:
    trial = trial_of(FakeEngine(paused_ns=pausing(paused)), nat64, load)
    assert (trial.verdict is Verdict.INVALID) == invalid
    assert trial.too_slow == invalid


@pytest.mark.parametrize(("paused", "too_slow"), [(0.006, False), (0.03, True)])
def test_pauses_are_no_reason_where_another_one_remains_without_them(
    paused: float, too_slow: bool, nat64: TrafficPlan
) -> None:
    """A link that went down; pauses that are long enough for any trial count all the same."""
    engine = FakeEngine(
        invalid=lambda _: a_reason(Code.LINK_FELL, "left"),
        too_slow=False,
        paused_ns=pausing(paused),
    )
    trial = trial_of(engine, nat64, OF_SEARCH)
    assert trial.verdict is Verdict.INVALID
    assert trial.too_slow == too_slow


def test_pauses_that_a_goal_of_mlrsearch_forbids_are_of_a_slow_tester(nat64: TrafficPlan) -> None:
    """Half of a width of 1 % are 0.5 %."""
    plan = MlrThroughputPlan(
        timing=TIMING,
        goals=(rfc2544_goal(final_duration_s=TIMING.duration_s, width=Fraction(1, 100)),),
        seed=1,
        max_rate_fps=100_000,
    )
    engine = FakeEngine(
        paused_ns=lambda stream: pausing(0.006)(stream) if rate_of(stream) > 50_000 else 0.0
    )
    found = mlr_throughput(plan, engine.session(nat64))
    assert found.figures[0].lower_bound == (True,)
    assert Topic.BOUND_BY_TESTER in topics(found.remarks)
