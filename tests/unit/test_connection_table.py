"""A gateway's table around a trial: how long connections must live, what is said of lost ones."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.base import Dut, TableParameters
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, MeasurementError
from natxy.model.measurement import Measurement
from natxy.model.reason import HowLost, WhyLost
from natxy.model.remark import Remark, Topic
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan, searches, throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import pdr_goal
from natxy.search.settings import LossTolerance
from natxy.trial.connection_table import needed_timeout_s
from natxy.trial.establishing import Establishing
from natxy.trial.load import steady
from natxy.trial.repeats import BETWEEN_S
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.trial.warm_up import RESETS_AGAIN, check_emptied
from tests.unit.connections import plan, spec_of
from tests.unit.fake_engine import FakeEngine
from tests.unit.kept import Kept
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
RATE_FPS = 20_000


def trials_of(gateway: StatefulGateway, dut: Dut | None = None, **connections: Any) -> Trials:
    return Trials(
        session=FakeEngine(gateway=gateway).session(plan(connections), dut),
        timing=TIMING,
        campaign_seed=1,
    )


def trial_of(gateway: StatefulGateway, dut: Dut | None = None, **connections: Any) -> TrialRecord:
    trials = trials_of(gateway, dut, **connections)
    return trials.run(load=RATE_FPS, repetition=1, seed=1)


def how_lost(trial: TrialRecord) -> tuple[HowLost, WhyLost | None, Any] | None:
    """Returns how the gateway lost the connections of a failed trial, and why."""
    assert trial.verdict is Verdict.FAIL
    lost = trial.lost_connections
    return (lost.code, lost.because, lost.facts) if lost else None


def test_what_is_measured_is_phase_2() -> None:
    trial = trial_of(StatefulGateway())
    assert trial.verdict is Verdict.PASS
    assert [(s.phase, s.direction) for s in trial.result.streams] == [
        ("test", "forward"),
        ("test", "reverse"),
    ]
    assert trial.phase_1
    assert (trial.phase_1.phase, trial.phase_1.sent) == ("establish", 1000)
    assert trial.rate_fps == RATE_FPS


def test_phase_1_counts_in_the_budget_of_invalid_trials() -> None:
    """0.1 s of phase 2, 0.1 s of phase 1, 0.01 s of the sample, a drain after each, and 0.1 s."""
    trials = trials_of(StatefulGateway(), sample=100)
    each_s = trials.each_s(steady(RATE_FPS, TIMING.duration_s))
    sending_s = Fraction(1, 10) + Fraction(1, 10) + Fraction(1, 100)
    assert each_s == sending_s + 3 * TIMING.drain_s + BETWEEN_S


def test_connections_outlive_phase_1_the_gap_and_phase_2() -> None:
    """0.1 s of phase 1, 0.1 s of phase 2, two drains of 0.05 s: with 2 s of margin."""
    dut = StatefulDut(gateway=StatefulGateway())
    trial_of(dut.gateway, dut)
    assert dut.told_s[-1] == 3.0
    assert needed_timeout_s(spec_of(plan({"delay_s": 60}))) == 63.0
    trial_of(dut.gateway, dut)
    assert dut.told_s[-1] == 3.0
    longer = StatefulDut(gateway=StatefulGateway(), known=TableParameters(timeout_s=300))
    trial_of(longer.gateway, longer)
    assert longer.told_s == []


def test_a_timeout_that_is_too_short_is_refused_before_anything_is_sent() -> None:
    gateway = StatefulGateway()
    dut = StatefulDut(gateway=gateway, known=TableParameters(timeout_s=2), settable=False)
    engine = FakeEngine(gateway=gateway)
    trials = trials_of(gateway, dut)
    trials.session = engine.session(plan({}), dut)
    with pytest.raises(
        ConfigurationError, match=r"expire after 2 s, but the trial may last 3 s.*cannot be set"
    ):
        trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert all(spec.phases[-1].name == "establish" for spec in engine.specs)  # the warm-up alone


def test_a_table_known_to_be_too_small_is_refused() -> None:
    gateway = StatefulGateway(entries=500)
    dut = StatefulDut(gateway=gateway, known=TableParameters(entries=500))
    with pytest.raises(ConfigurationError, match=r"takes 500 entries.* 1,000 connections"):
        trial_of(gateway, dut)
    accepted = trial_of(gateway, dut, incomplete="accept", minimum=500)
    assert accepted.verdict is Verdict.PASS


def test_a_full_table_of_unknown_size_is_told_by_its_count() -> None:
    with pytest.raises(
        MeasurementError, match=r"created 500 of 1,000 connections.*only 500 in its table"
    ):
        trial_of(StatefulGateway(entries=500))


def test_of_a_device_that_tells_nothing_frames_were_lost() -> None:
    with pytest.raises(MeasurementError, match=r"created 500 of 1,000.*500 frames were lost"):
        trial_of(StatefulGateway(new_cps=5000), NoDut())


def test_an_incomplete_phase_1_is_repeated_as_often_as_asked() -> None:
    gateway = StatefulGateway(new_cps=5000)
    trials = trials_of(gateway, incomplete="repeat", repeats=2)
    with pytest.raises(MeasurementError, match="created 500 of 1,000"):
        trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert trials.counts.trials == 3


def test_a_table_that_was_dropped_between_the_phases_fails_the_trial() -> None:
    lost = trial_of(StatefulGateway(flushes=True))
    gone = {"created": 1000, "left": 0}
    assert how_lost(lost) == (HowLost.CONNECTIONS_GONE, WhyLost.DROPPED, gone)
    assert str(lost.lost_connections) == (
        "of 1,000 connections that phase 1 created, the gateway has 0 left: the gateway dropped "
        "connections"
    )
    unknown = StatefulDut(gateway=StatefulGateway(flushes=True), countable=False)
    silent = trial_of(unknown.gateway, unknown)
    assert silent.lost_connections
    assert silent.lost_connections.code is HowLost.NO_REPLY
    assert silent.lost_connections.facts["sent"] == 2000


@pytest.mark.parametrize(
    "gateway",
    [
        pytest.param(StatefulGateway(flushes=True, counts_replies=True), id="all"),
        pytest.param(StatefulGateway(absent=1500, entries=10_000), id="most"),
    ],
)
def test_replies_alone_tell_that_connections_were_lost(gateway: StatefulGateway) -> None:
    """Nobody makes the connections again, and the gateway counts what the replies made, or does
    not count."""
    dut = StatefulDut(gateway=gateway, countable=gateway.counts_replies)
    trials = trials_of(gateway, dut)
    trials.session = trials.session.with_traffic(direction="reverse")
    lost = trials.run(load=RATE_FPS, repetition=1, seed=1).lost_connections
    assert lost
    assert lost.code is HowLost.REPLIES_LOST
    assert lost.because in (WhyLost.DROPPED, WhyLost.DROPPED_OR_EXPIRED)


def test_replies_alone_that_are_too_many_are_a_fail() -> None:
    """The first ones come through, as many as a slow gateway has room for."""
    trials = trials_of(StatefulGateway(frames_fps=2000))
    trials.session = trials.session.with_traffic(direction="reverse")
    trial = trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert trial.verdict is Verdict.FAIL
    assert not trial.lost_connections
    assert 2 * trial.result.lost > trial.result.sent


def test_a_sample_is_asked_between_the_phases_whatever_phase_2_is() -> None:
    """Frames of an initiator that sends alone would make all connections again."""
    for direction in ("both", "forward", "reverse"):
        gateway = StatefulGateway(flushes=True)
        trials = trials_of(gateway, sample=100)
        trials.session = trials.session.with_traffic(direction=direction)
        lost = how_lost(trials.run(load=RATE_FPS, repetition=1, seed=1))
        facts = {"tested": 100, "silent": 100}
        assert lost == (HowLost.SAMPLE_SILENT, WhyLost.DROPPED, facts)
    assert trial_of(StatefulGateway(), sample=100).verdict is Verdict.PASS


def test_a_device_whose_table_nobody_empties_has_no_second_trial() -> None:
    gateway = StatefulGateway()
    trials = trials_of(gateway, dut=NoDut())
    trials.run(load=RATE_FPS, repetition=1, seed=1)
    with pytest.raises(MeasurementError, match="Nothing empties the gateway's connection table"):
        trials.run(load=RATE_FPS, repetition=1, seed=1)


def test_in_repeating_order_no_frame_of_phase_1_may_be_lost() -> None:
    with pytest.raises(MeasurementError, match=r"Phase 1 lost 500 of 1,000 frames"):
        trial_of(StatefulGateway(new_cps=5000), order="repeating")


def test_connections_that_went_in_the_trial_are_no_loss_of_frames() -> None:
    gone = {"created": 1000, "left": 993}
    lost = how_lost(trial_of(StatefulGateway(absent=7)))
    assert lost == (HowLost.CONNECTIONS_GONE, WhyLost.DROPPED, gone)


def test_too_high_a_rate_is_a_fail_and_nothing_else() -> None:
    assert not how_lost(trial_of(StatefulGateway(frames_fps=10_000)))


@pytest.mark.parametrize(("collided", "changed"), [(4, 0), (0, 2)])
def test_wrong_replies_and_changed_mappings_are_no_pass(collided: int, changed: int) -> None:
    trials = trials_of(StatefulGateway(collided=collided, changed=changed))
    trial = trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert trial.verdict is Verdict.FAIL
    counts = trials.counts
    assert (counts.collided, counts.changed) == (collided, changed)


def test_establishing_alone_judges_a_small_table_by_what_comes() -> None:
    """A capacity is searched for with trials that a table does not take."""
    gateway = StatefulGateway(entries=500)
    dut = StatefulDut(gateway=gateway, known=TableParameters(entries=500))
    trial = trials_of(gateway, dut).run(load=Establishing(rate_cps=1000), repetition=1, seed=1)
    assert trial.verdict is Verdict.FAIL
    assert trial.result.incomplete


@pytest.mark.parametrize(("wrong", "verdict"), [(0, Verdict.PASS), (1, Verdict.FAIL)])
def test_a_handshake_that_was_delivered_wrongly_fails_the_trial(
    wrong: int, verdict: Verdict
) -> None:
    gateway = StatefulGateway(handshake_wrong=wrong)
    trials = Trials(
        session=FakeEngine(gateway=gateway).session(
            plan({"transport": "tcp"}, frame_size_bytes=98)
        ),
        timing=TIMING,
        campaign_seed=1,
    )
    trial = trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert trial.result.passed
    assert trial.verdict is verdict
    assert trial.phases == ("establish", "validate", "acknowledge", "test")
    assert trial.misdelivered == wrong


def test_a_sample_that_was_delivered_wrongly_is_counted_and_fails_the_trial() -> None:
    trials = trials_of(StatefulGateway(sample_wrong=3), sample=100)
    trial = trials.run(load=RATE_FPS, repetition=1, seed=1)
    assert trial.result.passed
    assert trial.verdict is Verdict.FAIL
    assert (trial.misdelivered, trial.wrong) == (3, 3)
    assert (trials.counts.misdelivered, trials.counts.wrong) == (3, 3)
    tolerant = replace(
        steady(RATE_FPS, TIMING.duration_s), accepted=LossTolerance(fraction=Fraction(1, 10))
    )
    assert trials.run(load=tolerant, repetition=1, seed=1).verdict is Verdict.FAIL


@dataclass(kw_only=True)
class Forgetful(StatefulGateway):
    """Loses its table in some of its trials, by number from 1."""

    forgets_in: Collection[int]
    made: int = 0

    def makes(self, asked: int, rate_cps: int) -> int:
        self.made += asked == 1000  # not in a warm-up
        self.flushes = self.made in self.forgets_in
        return super().makes(asked, rate_cps)


def search_of(gateway: StatefulGateway, **changes: Any) -> tuple[Measurement, list[Remark]]:
    asked = ThroughputPlan(timing=TIMING, seed=1, repetitions=2, max_rate_fps=RATE_FPS)
    kept = Kept()
    session = FakeEngine(gateway=gateway).session(plan({"sample": 100}), observer=kept)
    return throughput(replace(asked, **changes), session), kept.remarks


def test_one_trial_that_lost_its_connections_ends_no_measurement() -> None:
    """The rate has failed, the search goes on below it, and what happened stands beneath."""
    result, heard = search_of(Forgetful(forgets_in={1}), error=SearchError(rate_fps=1))
    assert result.figures[0].values == (RATE_FPS - 1, RATE_FPS)
    assert result.counts.lost_connections == 1  # in the first repetition
    (note,) = (note for note in measurement_notes([result]) if "lost conn" in note)
    assert re.match(
        r"1 of \d+ trials failed because the gateway lost connections\. In the first", note
    )
    assert result.counts.how_lost
    assert result.counts.how_lost.code is HowLost.SAMPLE_SILENT
    (said,) = heard
    assert str(result.counts.how_lost) in note
    assert said == Remark.of(Topic.CONNECTIONS_LOST, how=result.counts.how_lost)
    assert str(result.counts.how_lost) in str(said)
    verified, _ = search_of(Forgetful(forgets_in={1}), loss_verifications=1)
    assert verified.figures[0].values[0] < RATE_FPS  # a table that is gone is no chance


def test_connections_that_were_lost_are_beyond_every_tolerance() -> None:
    accepted = LossTolerance(fraction=Fraction(1, 2))
    result, _ = search_of(Forgetful(forgets_in={1}), loss=accepted)
    first, second = result.figures[0].values
    assert first < RATE_FPS == second


def test_a_table_that_is_lost_in_each_trial_has_no_figure() -> None:
    """One search is enough to see that."""
    gateway = Forgetful(forgets_in=range(10**6))
    with pytest.raises(MeasurementError, match="100 did not answer"):
        search_of(gateway, repetitions=10)
    assert gateway.made < 30
    recoveries = RecoveryPlan(timing=TIMING, seed=1, repetitions=2, rate_fps=1000)
    for forgets_in, lost in (({2}, 1), ({1, 2}, 2)):
        gateway = Forgetful(forgets_in=forgets_in)
        session = FakeEngine(gateway=gateway).session(plan({"sample": 100}))
        if lost == recoveries.repetitions:
            with pytest.raises(MeasurementError, match="100 did not answer"):
                recovery(recoveries, session)
        else:
            found = recovery(recoveries, session)
            assert found.counts.lost_connections == lost


def test_a_sample_that_was_delivered_wrongly_is_beyond_a_partial_drop_rate() -> None:
    trials = trials_of(StatefulGateway(sample_wrong=3), sample=100)
    pdr = pdr_goal(LossTolerance(fraction=Fraction(1, 100)), final_duration_s=TIMING.duration_s)
    search = MlrThroughputPlan(timing=TIMING, goals=(pdr,), seed=1, max_rate_fps=RATE_FPS)
    found = mlr_throughput(search, trials.session).figure("PDR (1 % loss)")
    assert found.values == (0.0,)


def test_a_search_for_throughput_counts_what_the_sample_says() -> None:
    trials = trials_of(StatefulGateway(sample_wrong=3), sample=100)
    search = ThroughputPlan(timing=TIMING, seed=1, repetitions=1, max_rate_fps=RATE_FPS)
    (found,) = searches(search, trials)
    assert found.rate_fps == 0
    assert trials.counts.wrong == 3 * trials.counts.trials == trials.counts.misdelivered


def test_a_sample_that_came_back_wrong_all_of_it_is_no_table_that_was_dropped() -> None:
    assert not how_lost(trial_of(StatefulGateway(sample_wrong=100), sample=100))


def test_a_spec_that_somebody_wrote_is_judged_as_one_of_ours() -> None:
    spec = spec_of(plan({"sample": 100}))
    trials = trials_of(StatefulGateway())
    record = trials.run_spec(spec)
    assert record.verdict is Verdict.PASS
    assert trials.last
    assert [stream.phase for stream in trials.last.result.streams] == [
        "establish", "sample", "test", "test"
    ]  # fmt: skip
    assert {stream.phase for stream in record.result.streams} == {"test"}
    dropped = trials_of(StatefulGateway(flushes=True)).run_spec(spec)
    assert dropped.lost_connections
    assert dropped.lost_connections.code is HowLost.SAMPLE_SILENT
    phase_1 = spec.model_copy(update={"phases": spec.phases[:1]})
    assert trials_of(StatefulGateway(entries=999)).run_spec(phase_1).verdict is Verdict.FAIL


@dataclass(kw_only=True)
class Straggling(StatefulDut):
    """A gateway that has frames in its queues: after each of some resets, they make connections."""

    fills: int
    resets: int = 0

    def reset(self) -> None:
        self.resets += 1
        self.gateway.stored = 5 if self.resets <= self.fills else 0


def test_a_table_that_late_frames_fill_is_emptied_again() -> None:
    waited_s: list[float] = []
    dut = Straggling(gateway=StatefulGateway(), fills=RESETS_AGAIN)
    dut.reset()
    check_emptied(dut, waited_s.append)
    assert len(waited_s) == RESETS_AGAIN
    dut = Straggling(gateway=StatefulGateway(), fills=RESETS_AGAIN + 1)
    dut.reset()
    with pytest.raises(MeasurementError, match="still has 5 connections after it was reset for"):
        check_emptied(dut, waited_s.append)
