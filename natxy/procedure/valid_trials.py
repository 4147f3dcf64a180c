"""The trials of one repetition of a search: a load is run until a trial of it is valid."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.repeats import BUDGET_S
from natxy.procedure.seeds import repetition_seed
from natxy.procedure.trial import AnyLoad, Trials


@dataclass(kw_only=True)
class ValidTrials:
    """`done` has all trials, the invalid ones too."""

    trials: Trials
    repetition: int
    least: int  # repeats of an INVALID trial; see Repeats
    budget_s: Fraction = BUDGET_S
    slow_repeats: int | None = None  # of a trial that the tester was too slow for; None: `least`
    is_too_slow: Callable[[TrialRecord], bool] = lambda trial: trial.too_slow
    done: list[TrialRecord] = field(default_factory=list)
    # Of the last load whose trials stayed INVALID, by the last of them; no matter where none has.
    gave_up_too_slow: bool = True

    def run(self, load: AnyLoad, bracket: tuple[int, int]) -> TrialRecord:
        """Returns the last trial of the load. It is INVALID where the repeats are over: then the
        load says nothing of the device, however often it is tried. `bracket` is for who watches."""
        repeats = replace(
            self.trials.repeats(load, self.least),
            budget_s=self.budget_s,
            slow_repeats=self.slow_repeats,
        )
        seed = repetition_seed(self.trials.campaign_seed, self.repetition)
        while True:
            self.trials.observer.trial_started(load.rate_fps, bracket)
            trial = self.trials.run(load=load, repetition=self.repetition, seed=seed)
            self.done.append(trial)
            if trial.verdict is not Verdict.INVALID:
                return trial
            too_slow = self.is_too_slow(trial)
            if repeats.are_over(trial, too_slow=too_slow):
                self.gave_up_too_slow = too_slow
                return trial
