"""The trials of one repetition of a search, in which a load is repeated until a trial is valid."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import AnyLoad
from natxy.trial.repeats import BUDGET_S
from natxy.trial.seeds import repetition_seed
from natxy.trial.trials import Trials


@dataclass(kw_only=True)
class ValidTrials:
    """Runs the trials of one repetition; `done` has all of them, including the invalid ones."""

    trials: Trials
    repetition: int
    least: int  # repeats of an INVALID trial; see Repeats
    budget_s: Fraction = BUDGET_S
    slow_repeats: int | None = None  # repeats if the tester was too slow; None: `least`
    is_too_slow: Callable[[TrialRecord], bool] = lambda trial: trial.too_slow
    done: list[TrialRecord] = field(default_factory=list)
    # Whether the tester was too slow in the last trial of the last load that stayed INVALID.
    gave_up_too_slow: bool = True

    def run(self, load: AnyLoad, bracket: tuple[int, int]) -> TrialRecord:
        """Runs trials of the load until one is valid or the repeats are over; returns the last.

        An INVALID trial means that all repeats were invalid, so that the load says nothing about
        the device. `bracket` is only for the observer.
        """
        repeats = replace(
            self.trials.repeats(load, self.least),
            budget_s=self.budget_s,
            slow_repeats=self.slow_repeats,
        )
        seed = repetition_seed(self.trials.campaign_seed, self.repetition)
        while True:
            self.trials.observer.trial_started(load.rate_fps, bracket, load.count)
            trial = self.trials.run(load=load, repetition=self.repetition, seed=seed)
            self.done.append(trial)
            if trial.verdict is not Verdict.INVALID:
                return trial
            too_slow = self.is_too_slow(trial)
            if repeats.are_over(trial, too_slow=too_slow):
                self.gave_up_too_slow = too_slow
                return trial
