"""The verdict of a trial whose losses in phase 1 and validation are made good slowly."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Phase, Stream
from natxy.model.verdict import Verdict
from natxy.trial.establishing import Establishing, connections_held
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.unit.connections import plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway

COUNT = 1000
LOAD = Establishing(rate_cps=20_000, alpha=Fraction(1, 2), repairs=True)
WITHOUT = replace(LOAD, repairs=False)
# Seconds in which 64 frames come, and a few more.
AWAY_S = {"establish": 0.004, "make again": 0.04, "validate": 0.008, "ask again": 0.08}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Frames that are lost in each phase, and the phases in which the gateway is away."""

    lost: dict[str, int] = field(default_factory=dict)
    away: tuple[str, ...] = ("establish", "validate")
    gateway: StatefulGateway = field(default_factory=StatefulGateway)

    def trial(self, load: Establishing = LOAD, paused_in: str = "") -> TrialRecord:
        def lost(phase: Phase) -> int:
            return self.lost.get(phase.name, 0) if engine.trials > 1 else 0  # 1: the warm-up

        def paused_ns(stream: Stream) -> float:
            phases = engine.specs[-1].phases
            name = next(phase.name for phase in phases if stream in phase.streams)
            return 0.9 * stream.duration_ns if name == paused_in else 0.0

        engine = FakeEngine(
            gateway=self.gateway,
            lost_while_away=lost,
            away_ns=lambda phase: AWAY_S[phase.name] * 1e9 if phase.name in self.away else 0.0,
            paused_ns=paused_ns,
        )
        trials = Trials(
            session=engine.session(plan({})),
            timing=Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20)),
            campaign_seed=1,
        )
        return trials.run(load=load, repetition=1, seed=1)


@pytest.mark.parametrize(
    "lost", [{"establish": 60}, {"validate": 60}, {"establish": 60, "validate": 60}]
)
def test_a_loss_that_absence_explains_passes_where_all_are_there_in_the_end(
    lost: dict[str, int],
) -> None:
    trial = Case(lost=lost).trial()
    assert trial.verdict is Verdict.PASS
    assert connections_held(trial.result) == COUNT
    assert Case(lost=lost).trial(WITHOUT).verdict is Verdict.INVALID


def test_it_passes_without_validation_as_well() -> None:
    plain = replace(LOAD, alpha=None)
    assert Case(lost={"establish": 60}).trial(plain).verdict is Verdict.PASS
    assert Case(lost={"establish": 60}, away=()).trial(plain).verdict is Verdict.FAIL


@pytest.mark.parametrize("phase", ["establish", "validate"])
def test_a_loss_that_nothing_explains_is_the_gateways_whatever_is_there_in_the_end(
    phase: str,
) -> None:
    for load in (LOAD, WITHOUT):
        assert Case(lost={phase: 1}, away=()).trial(load).verdict is Verdict.FAIL
    # 160 frames came while the gateway was away and in as long again, and 8 within 0.4 ms.
    assert Case(lost={phase: 95}).trial().verdict is Verdict.PASS
    assert Case(lost={phase: 170}).trial(WITHOUT).verdict is Verdict.FAIL


def test_a_table_that_is_full_by_one_fails_though_the_gateway_was_away() -> None:
    """The one that does not fit is missing again, in a phase in which nothing was away."""
    full = StatefulGateway(entries=COUNT - 1)
    trial = Case(lost={"establish": 60}, gateway=full).trial()
    assert trial.verdict is Verdict.FAIL
    assert trial.result.incomplete
    assert connections_held(trial.result) == COUNT - 1


def test_one_that_was_thrown_out_for_another_fails_though_the_gateway_was_away() -> None:
    trial = Case(lost={"establish": 60, "validate": 40}, gateway=StatefulGateway(absent=1)).trial()
    assert trial.verdict is Verdict.FAIL
    assert connections_held(trial.result) == COUNT - 1


def test_what_is_lost_again_while_the_gateway_is_away_again_is_not_known() -> None:
    lost = {"establish": 60, "make again": 5}
    assert Case(lost=lost, away=("establish", "make again")).trial().verdict is Verdict.INVALID
    assert Case(lost=lost, away=("establish",)).trial().verdict is Verdict.FAIL


def test_more_than_a_tenth_cannot_be_made_again() -> None:
    """Phase 1 alone says all there is to say then."""
    away = replace(LOAD, rate_cps=40_000)  # 160 frames come meanwhile
    trial = Case(lost={"establish": 101}).trial(away)
    assert trial.verdict is Verdict.INVALID
    assert [stream.phase for stream in trial.result.streams] == ["establish"]
    assert Case(lost={"establish": 100}).trial(away).verdict is Verdict.PASS


def test_a_reply_to_the_wrong_connection_is_no_loss_that_can_be_repaired() -> None:
    case = Case(lost={"establish": 60}, gateway=StatefulGateway(collided=1))
    assert case.trial().verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("phase", "verdict"),
    [("establish", Verdict.INVALID), ("validate", Verdict.INVALID), ("make again", Verdict.PASS)],
)
def test_pauses_matter_where_connections_come_at_their_rate(phase: str, verdict: Verdict) -> None:
    trial = Case(lost={"establish": 60}).trial(paused_in=phase)
    assert trial.verdict is verdict
