"""How often a trial is made again while it is INVALID.

Noise has no memory: a trial that it spoils today may be whole in a moment, so a budget of time is
spent on it. What grows with the rate comes again: a tester that is too slow is so the next time.
"""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_record import TrialRecord

BUDGET_S = Fraction(10)  # of trials at one rate, in one repetition
MOST = 200


@dataclass(kw_only=True)
class Repeats:
    """Of trials with one load. `least` repeats are made whatever they take."""

    least: int
    trial_s: Fraction  # one trial, as planned
    budget_s: Fraction = BUDGET_S  # for all trials of the rate
    slow_repeats: int | None = None  # of a trial that the tester was too slow for; None: `least`
    invalid: int = 0
    too_slow: int = 0

    @property
    def most(self) -> int:
        """Repeats that the budget has room for."""
        room = int(self.budget_s / self.trial_s) if self.trial_s else MOST
        return max(self.least, min(MOST, room))

    def are_over(self, trial: TrialRecord, *, too_slow: bool | None = None) -> bool:
        """Counts an INVALID trial; True: it is not to be made again. `too_slow` None: as the trial
        says."""
        self.invalid += 1
        self.too_slow += trial.too_slow if too_slow is None else too_slow
        slow_repeats = self.least if self.slow_repeats is None else self.slow_repeats
        return self.invalid > self.most or self.too_slow > slow_repeats
