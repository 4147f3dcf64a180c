"""Decides how often an INVALID trial is repeated.

Noise is random: the next trial may be valid, so a budget of time is spent on repeats. A problem
that grows with the rate remains: a tester that is too slow will be too slow again.
"""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_record import TrialRecord

BUDGET_S = Fraction(10)  # for the trials at one rate, in one repetition
MOST = 200
# The same for trials with a bad placement of the CPUs: a host may leave them there for half a
# minute, and no trial says anything in the meantime.
BADLY_PLACED_FACTOR = 4  # times the budget and the number of the others
# For all INVALID trials of a measurement if no time was given, beside so many times the time of its
# valid ones. If each rate spent its whole budget in an hour in which a host takes the cores away, a
# person would wait long for a figure that is refused or a bound in the end.
MEASUREMENT_S = Fraction(40)
VALID_FACTOR = 4
# The share of what is left of a limit that a search spends on one rate before it tries another one.
# It comes back to the rates that stayed INVALID if time is left then. Without it, the first rate
# that noise makes INVALID uses up all, and the result is a chance rate far below.
SEARCH_SHARE = Fraction(1, 4)
# From a trial's end to the next one's first frame, without drain and settle time.
BETWEEN_S = Fraction(1, 10)


@dataclass(kw_only=True)
class RetryTime:
    """The time for all INVALID trials of a measurement, those of its searches included, by plan."""

    given_s: Fraction | None  # the user's limit; None: MEASUREMENT_S, and what valid trials earn
    used_s: Fraction = Fraction(0)  # by INVALID trials, less what valid ones earned

    @property
    def is_limit(self) -> bool:
        """True if no trial is repeated when the time is over, however few repeats there were."""
        return self.given_s is not None

    @property
    def left_s(self) -> Fraction:
        """The time that is left; it may be below 0."""
        return (MEASUREMENT_S if self.given_s is None else self.given_s) - self.used_s

    @property
    def is_over(self) -> bool:
        """True if INVALID trials have used up the limit; a limit of 0 s is used up by the first."""
        return self.is_limit and self.used_s > 0 and self.left_s <= 0

    def count(self, trial_s: Fraction, *, valid: bool) -> None:
        """Counts a trial with its planned time."""
        if not valid:
            self.used_s += trial_s
        elif not self.is_limit:
            self.used_s -= VALID_FACTOR * trial_s


@dataclass(kw_only=True)
class Repeats:
    """Counts the INVALID trials of one load.

    `least` repeats are run however long they take, except if the time left is a limit.
    """

    least: int
    trial_s: Fraction  # planned duration of one trial, with the phases before the measured one
    budget_s: Fraction = BUDGET_S  # for all trials of the load
    left_s: Fraction = MEASUREMENT_S  # of the measurement's budget, when the load begins
    is_limit: bool = False  # whether that bounds the `least` repeats, too; see RetryTime
    limit_share: Fraction = Fraction(1)  # of `left_s` that the trials of the load may take
    slow_repeats: int | None = None  # repeats if the tester was too slow; None: `least`
    invalid: int = 0
    too_slow: int = 0
    badly_placed: int = 0

    @property
    def each_s(self) -> Fraction:
        """The planned duration of a trial, with the time to the next one."""
        return self.trial_s + BETWEEN_S

    @property
    def most(self) -> int:
        """The highest number of repeats, as the budget allows."""
        return self._room(self.budget_s, MOST)

    def _room(self, budget_s: Fraction, most: int) -> int:
        room = int(budget_s / self.trial_s) if self.trial_s else most
        if self.is_limit:
            return max(self.least, min(most, room))
        left = int(self.left_s / self.each_s)
        return max(self.least, min(most, room, left))

    @property
    def _is_limit_reached(self) -> bool:
        """True if the trials, whatever the reason of each, have used up a time that is a limit."""
        return self.is_limit and self.invalid * self.each_s >= self.left_s * self.limit_share

    def are_over(self, trial: TrialRecord, *, too_slow: bool | None = None) -> bool:
        """Counts an INVALID trial, and returns whether it must not be repeated.

        `too_slow` overrides that of the trial.
        """
        self.invalid += 1
        self.badly_placed += trial.badly_placed
        self.too_slow += trial.too_slow if too_slow is None else too_slow
        slow_repeats = self.least if self.slow_repeats is None else self.slow_repeats
        return (
            self.invalid - self.badly_placed > self.most
            or self.badly_placed
            > self._room(BADLY_PLACED_FACTOR * self.budget_s, BADLY_PLACED_FACTOR * MOST)
            or self.too_slow > slow_repeats
            or self._is_limit_reached
        )
