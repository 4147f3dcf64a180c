"""Loss verification in a measurement: what is repeated, what is counted and what is said."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.errors import ConfigurationError
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import CountedLoss, not_counted
from natxy.model.trial_spec import Stream
from natxy.model.verdict import Verdict
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_csv import rows
from natxy.report.results_json import result_entry
from natxy.search.bisection import SearchError
from natxy.search.loss_verification import MOST_UNEXPLAINED
from natxy.trial.timing import Timing
from natxy.trial.worst_loss import lost_share, worst_loss
from tests.remarks import topics
from tests.unit.campaign_notes import report_notes
from tests.unit.clauses import codes
from tests.unit.kept import Kept
from tests.unit.scripted_engine import ScriptedEngine, beyond, rate_of

CAPACITY_FPS = 50_000
TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))
PLAN = ThroughputPlan(
    timing=TIMING, seed=1, repetitions=1, error=SearchError(fraction=Fraction(1, 100))
)


class Straying:
    """Loses what is above the capacity, and a frame of the first trial at each of some rates."""

    def __init__(self, *strays_fps: int) -> None:
        self._strays = set(strays_fps)

    def __call__(self, stream: Stream) -> Sequence[int]:
        rate_fps = rate_of(stream)
        if rate_fps > CAPACITY_FPS:
            return beyond(CAPACITY_FPS, stream)
        stray = stream.direction == "forward" and rate_fps in self._strays
        self._strays -= {rate_fps} if stray else set()
        return (3,) if stray else ()


def measured(
    plan: ThroughputPlan, nat64: TrafficPlan, lose: Straying, kept: Kept | None = None
) -> Measurement:
    return throughput(plan, ScriptedEngine(lose=lose).session(nat64, observer=kept))


def test_a_stray_loss_at_a_low_rate_caps_only_a_search_without_verification(
    nat64: TrafficPlan,
) -> None:
    strays = (4000, 32_000)
    plain = measured(PLAN, nat64, Straying(*strays))
    assert plain.figures[0].values[0] < 4000
    result = measured(replace(PLAN, loss_verifications=1), nat64, Straying(*strays))
    assert CAPACITY_FPS * 0.98 < result.figures[0].values[0] <= CAPACITY_FPS
    assert result.counts.overturned == 2


class Pausing(Straying):
    """Loses what is above the capacity at once."""

    def __call__(self, stream: Stream) -> Sequence[int]:
        return range(len(super().__call__(stream)))


def test_a_failure_that_the_rate_explains_counts_at_once(nat64: TrafficPlan) -> None:
    kept = Kept()
    plan = replace(PLAN, loss_verifications=2, error=SearchError(rate_fps=20_000))
    result = measured(plan, nat64, Straying(), kept)
    ups = [(rate, Verdict.PASS) for rate in (1000, 4000, 16_000)]
    assert kept.told == [
        *ups, (64_000, Verdict.FAIL), (32_000, Verdict.PASS), (48_000, Verdict.PASS)
    ]  # fmt: skip
    assert result.figures[0].lower_bound == (False,)


def test_another_failure_is_repeated_unless_the_loss_is_gross(nat64: TrafficPlan) -> None:
    """Then the rate fails all the same, but what passed below it is only a bound."""
    kept = Kept()
    plan = replace(PLAN, loss_verifications=2, error=SearchError(rate_fps=20_000))
    result = measured(plan, nat64, Pausing(), kept)
    repeated = [(64_000, Verdict.FAIL)] * (1 + MOST_UNEXPLAINED)
    assert kept.told[3:14] == [*repeated, (32_000, Verdict.PASS)]
    assert result.figures[0].lower_bound == (True,)
    assert Topic.BOUND_UNEXPLAINED in topics(result.remarks)
    kept = Kept()
    measured(replace(plan, max_rate_fps=256_000), nat64, Pausing(), kept)
    assert kept.told[:2] == [(256_000, Verdict.FAIL), (128_000, Verdict.FAIL)]


def test_repetitions_do_not_know_of_each_other(nat64: TrafficPlan) -> None:
    kept = Kept()
    measured(replace(PLAN, repetitions=3), nat64, Straying(), kept)
    rates = [[t.rate_fps for t in kept.trials if t.repetition == n] for n in (1, 2, 3)]
    assert rates[0] == rates[1] == rates[2]
    assert rates[0][:4] == [1000, 4000, 16_000, 64_000]


def test_it_is_named_and_counted_beside_the_figure(nat64: TrafficPlan) -> None:
    result = measured(replace(PLAN, loss_verifications=1), nat64, Straying(4000))
    assert {"trials": 2} in [each.facts for each in result.deviations]
    entry = result_entry(result)
    assert (entry["overturned"], entry["search"]["loss_verifications"]) == (1, 1)
    assert [(row["overturned"], row["loss_verifications"]) for row in rows(result)] == [(1, 1)]
    sentence = "1 failed trial was overturned by loss verification"
    for lines in (report_notes(result), measurement_notes([result])):
        assert any(sentence in line for line in lines)
        assert any("a rate fails after 2 trials with a loss" in line for line in lines)
    read = Measurement.model_validate_json(result.model_dump_json())
    assert result_entry(read) == entry


def test_nothing_is_said_of_what_was_not_asked_for_or_changed_nothing(nat64: TrafficPlan) -> None:
    plain = measured(PLAN, nat64, Straying())
    verified = measured(replace(PLAN, loss_verifications=1), nat64, Straying())
    assert plain.figures == verified.figures
    assert Differs.LOSS_VERIFIED not in codes(plain.deviations)
    for result in (plain, verified):
        assert not any("overturned" in line for line in report_notes(result))
    assert result_entry(plain)["search"] == {
        "method": "bisection",
        "loss_verifications": 0,
        **dict.fromkeys(("exceed_ratio", "duration_sum_s", "initial_duration_s")),
    }


def test_overturned_failures_of_several_searches_are_added(nat64: TrafficPlan) -> None:
    plan = OverloadPlan(test=replace(PLAN, loss_verifications=1), flows=(10,), incremental=False)
    lose = Straying(1000, 4000)
    result = overload(plan, ScriptedEngine(lose=lose).session(nat64))
    assert result.counts.overturned == 2


def test_the_share_lost_is_that_of_the_worse_direction(nat64: TrafficPlan) -> None:
    kept = Kept()
    measured(PLAN, nat64, Straying(4000), kept)
    trial = next(trial for trial in kept.trials if trial.rate_fps == 4000)
    assert (worst_loss(trial).sent, worst_loss(trial).lost) == (800, 1)
    assert lost_share(trial) == Fraction(1, 800)
    early = trial.model_copy(
        update={"result": trial.result.model_copy(update={"ended_early": True})}
    )
    assert lost_share(early) is None


@pytest.mark.parametrize(
    ("excused", "lost", "off"),
    [(1, 0, 1), (21, 235, 0), (100, 235, 79)],
    ids=["nothing was lost in clean time", "the same share", "more"],
)
def test_excused_losses_leave_the_share_of_the_clean_frames(
    excused: int, lost: int, off: int
) -> None:
    """235 of 2,163 are 10.9 %: taking 21 of 256 off would make it 9.98 % of 2,354."""
    assert not_counted(excused=excused, lost=lost, frames=2354, clean=2163) == off


@pytest.mark.parametrize(("lost", "left"), [(0, 0), (1, 1)])
def test_the_share_lost_has_excused_losses_as_the_clean_frames_have(
    nat64: TrafficPlan, lost: int, left: int
) -> None:
    kept = Kept()
    measured(PLAN, nat64, Straying(4000), kept)
    trial = next(trial for trial in kept.trials if trial.rate_fps == 4000)
    excused = tuple(
        CountedLoss(
            phase=stream.phase,
            direction=stream.direction,
            frames=stream.sent,
            clean=stream.sent // 2,
            lost=lost,
            excused=stream.missing,
        )
        for stream in trial.result.streams
    )
    assert worst_loss(trial).lost == 1
    assert worst_loss(trial.model_copy(update={"counted": excused})).lost == left


def test_how_often_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="loss_verifications: -1 is out of range"):
        replace(PLAN, loss_verifications=-1)
    with pytest.raises(ConfigurationError, match="loss_verifications: 101 is out of range"):
        replace(PLAN, loss_verifications=101)


def test_a_loss_that_does_not_count_is_no_share(nat64: TrafficPlan) -> None:
    """For the first tenth of a trial, its gateway is away; the trial passes."""
    kept = Kept()
    engine = ScriptedEngine(lose=lambda _: range(20), away_ns=lambda _: 2e7)
    throughput(replace(PLAN, max_rate_fps=1000), engine.session(nat64, observer=kept))
    (trial,) = kept.trials
    assert (trial.verdict, trial.result.lost) == (Verdict.PASS, 40)
    assert lost_share(trial) == 0
