"""What happens before each trial."""

from fractions import Fraction

from natxy.dut.none import NoDut
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
