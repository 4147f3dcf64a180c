"""What happens before each trial."""

from fractions import Fraction

import pytest

from natxy.dut.none import NoDut
from natxy.errors import DutError, MeasurementError, TesterDied, TrialCancelled
from natxy.model.reason import Reason
from natxy.model.traffic import TrafficPlan
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.unit.fake_engine import FakeEngine


class Resettable(NoDut):
    resets = 0

    def reset(self) -> None:
        self.resets += 1


def test_the_gateway_is_reset_before_each_trial(nat64: TrafficPlan) -> None:
    dut = Resettable()
    trials = Trials(
        session=FakeEngine().session(nat64, dut),
        timing=Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0)),
        campaign_seed=1,
    )
    for repetition in (1, 2, 3):
        trials.run(load=1000, repetition=repetition, seed=1)
        assert dut.resets == repetition


TIMING = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))


class Dead(NoDut):
    def trial_fault(self) -> Reason | None:
        raise DutError("the gateway has ended")


def one_trial(traffic: TrafficPlan, failure: BaseException | None = None) -> None:
    def fail() -> None:
        if failure is not None:
            raise failure

    trials = Trials(
        session=FakeEngine(during=fail).session(traffic, Dead()), timing=TIMING, campaign_seed=1
    )
    trials.run(load=1000, repetition=1, seed=1)


def test_a_trial_in_which_it_died_has_no_result(nat64: TrafficPlan) -> None:
    with pytest.raises(DutError, match="the gateway has ended"):
        one_trial(nat64)


def test_it_is_why_the_tester_failed(nat64: TrafficPlan) -> None:
    failure: MeasurementError = TesterDied("right: no answer")
    with pytest.raises(DutError, match="the gateway has ended") as told:
        one_trial(nat64, failure)
    assert told.value.__cause__ is failure


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), TrialCancelled("cancelled", "by reset")])
def test_what_ended_the_trial_on_purpose_is_told_before_it(
    nat64: TrafficPlan, failure: BaseException
) -> None:
    with pytest.raises(type(failure)):
        one_trial(nat64, failure)
