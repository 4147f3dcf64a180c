"""Decides how often an INVALID trial is repeated (docs/reference/trials.md).

All INVALID trials of a measurement share a retry time, since noise is random: the next trial may be
valid. A reason that grows with the rate comes again: a tester that is too slow will be too slow.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from natxy.model.trial_record import TrialRecord

INVALID_REPEATS = 3  # of a trial at one rate, even if no time is left by default
# The retry time if none was given, beside so many times the time of the valid trials.
MEASUREMENT_S = Fraction(40)
VALID_FACTOR = 4
# The share of the time left that one rate may take if others follow. Without it, the first rate
# that noise makes INVALID takes all, and a search ends at a chance rate far below.
SHARE = Fraction(1, 4)
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
    """Counts the INVALID trials of one load, after `time` has counted them.

    A host may leave CPUs badly placed for half a minute, and no trial says anything meanwhile: such
    trials may take all the time that is left.
    """

    time: RetryTime
    each_s: Fraction  # planned duration of a trial, with what precedes the next one
    least: int  # repeats even if no time is left; none if the user gave the time
    share: Fraction = Fraction(1)  # of the time left that the load may take
    slow_repeats: int | None = None  # repeats if the tester was too slow; None: `least`
    invalid: int = 0
    too_slow: int = 0
    badly_placed: int = 0
    _own_s: Fraction = field(init=False)

    def __post_init__(self) -> None:
        self._own_s = self.time.left_s * self.share

    def are_over(self, trial: TrialRecord, *, too_slow: bool) -> bool:
        """Counts an INVALID trial, and returns whether it must not be repeated.

        `too_slow`: the reason grows with the rate.
        """
        self.invalid += 1
        self.badly_placed += trial.badly_placed
        self.too_slow += too_slow
        if self.too_slow > (self.least if self.slow_repeats is None else self.slow_repeats):
            return True
        own_s = (self.invalid - self.badly_placed) * self.each_s
        is_over = self.time.left_s <= 0 or (own_s > 0 and own_s >= self._own_s)
        return is_over and (self.time.is_limit or self.invalid > self.least)
