"""The trials of one repetition of a search, in which a load is repeated until a trial is valid."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from natxy.errors import TesterLimit
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import WatchResult
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection
from natxy.search.loss_verification import LossVerification
from natxy.trial.bound import Bound, was_badly_placed
from natxy.trial.load import Load
from natxy.trial.repeats import INVALID_REPEATS, SHARE, Repeats
from natxy.trial.seeds import repetition_seed
from natxy.trial.trials import Trials
from natxy.verdict.advice import why_invalid

MOST_REVOCATIONS = 3  # in one search


@dataclass(kw_only=True)
class ValidTrials:
    """Runs the trials of one repetition; `done` has all of them, including the invalid ones."""

    trials: Trials
    repetition: int
    least: int = INVALID_REPEATS  # repeats of an INVALID trial; see Repeats
    slow_repeats: int | None = None  # repeats if the tester was too slow; None: `least`
    is_too_slow: Callable[[TrialRecord], bool] = lambda trial: trial.too_slow
    done: list[TrialRecord] = field(default_factory=list)
    # Whether the tester was too slow in the last trial of the last load that stayed INVALID.
    gave_up_too_slow: bool = True
    # How long the trials took by plan: unlike a clock, the same where a campaign is resumed.
    planned_s: Fraction = Fraction(0)
    # Numbers of failed trials that tell nothing: their CPUs were placed badly.
    revoked: set[int] = field(default_factory=set)
    _revocations: int = field(default=0, init=False)
    _each_s: Fraction = field(default=Fraction(0), init=False)  # of a trial at the last rate
    _noisy_fps: set[int] = field(default_factory=set, init=False)  # rates that stayed INVALID

    def rates(self, verified: LossVerification) -> Iterator[int]:
        """Yields the rates that a search asks for.

        If the search ends at a failure that has to be revoked, or at a rate that noise made INVALID
        and for which time is left, it goes on: such a rate is tried again.
        """
        search = verified.search
        while True:
            if (rate_fps := search.next()) is not None:
                yield rate_fps
            elif self.revokes(search.result_fps or 0):
                verified.keep_failures(
                    {trial.rate_fps for trial in self._failed(search.result_fps or 0)}
                )
            elif self._may_go_back(search):
                search.retry_ceiling()
            else:
                return

    def _may_go_back(self, search: Bisection) -> bool:
        """Returns whether noise ended the search, and the time that was given has room for a trial.

        By default, the time may be many times that of the valid trials: a bound has to do.
        """
        time = self.trials.retry_time
        if search.limit is not Limit.TESTER or not time.is_limit:
            return False
        return search.bracket[1] in self._noisy_fps and time.left_s >= self._each_s

    def revokes(self, above_fps: int) -> bool:
        """Revokes failed trials, and returns whether one of them bounds the result `above_fps`.

        The result is a counted rate (docs/decisions/0017).

        The placement of a trial is judged by the best that is known (docs/decisions/0026). If a
        later trial shows a better one, a trial that failed may turn out to have been placed badly.
        A failure at the lowest rate that failed above the result bounds it.
        """
        failed = self._failed(above_fps)
        lowest_fps = min((trial.rate_fps for trial in failed), default=0)
        bad = {
            trial.rate_fps for trial in failed if was_badly_placed(trial, self._seen_after(trial))
        }
        if lowest_fps not in bad or self._revocations == MOST_REVOCATIONS:
            return False
        self._revocations += 1
        self.revoked |= {trial.number for trial in failed if trial.rate_fps in bad}
        return True

    def _seen_after(self, trial: TrialRecord) -> Iterator[WatchResult]:
        later = (each for each in self.done if each.number > trial.number)
        return (watch for each in later for watch in each.result.watched)

    def _failed(self, above_fps: int) -> list[TrialRecord]:
        """Returns the failed trials at rates above this result.

        The counted rate of a trial that passed with pauses is lower than the rate that was tried.
        So failures below the tried rate may bound the result, too. A failure before a trial that
        passed at the same rate is overturned, and bounds nothing.
        """
        passed = {t.rate_fps: t.number for t in self.done if t.verdict is Verdict.PASS}
        return [
            trial
            for trial in self.done
            if trial.verdict is Verdict.FAIL
            and trial.rate_fps > above_fps
            and trial.number > passed.get(trial.rate_fps, 0)
            and trial.number not in self.revoked
        ]

    def bound(self, result_fps: int) -> Bound:
        """Returns the failed trials that bound this result of the search."""
        failed = self._failed(result_fps)
        lowest_fps = min((trial.rate_fps for trial in failed), default=0)
        return Bound(
            failures=tuple(trial for trial in failed if trial.rate_fps == lowest_fps),
            seen=tuple(watch for trial in self.done for watch in trial.result.watched),
        )

    def nothing_passed(self, rate_fps: int, what: str = "frames") -> TesterLimit:
        """Returns the error of a search that has ended because trials at this rate are INVALID."""
        last = self.done[-1]
        return TesterLimit(
            f"no rate passed, and at {rate_fps} {what} a second trials are invalid: "
            f"{why_invalid(last)}"
        )

    def run(self, load: Load, bracket: tuple[int, int]) -> TrialRecord:
        """Runs trials of the load until one is valid or the repeats are over; returns the last.

        An INVALID trial means that all repeats were invalid, so that the load says nothing about
        the gateway. `bracket` is only for the observer.
        """
        self._each_s = self.trials.each_s(load)
        repeats = Repeats(
            time=self.trials.retry_time,
            each_s=self._each_s,
            least=self.least,
            share=SHARE,
            slow_repeats=self.slow_repeats,
        )
        seed = repetition_seed(self.trials.campaign_seed, self.repetition)
        while True:
            self.trials.session.observer.trial_started(load.rate_fps, bracket, load.count)
            trial = self.trials.run(load=load, repetition=self.repetition, seed=seed)
            self.done.append(trial)
            self.planned_s += self._each_s
            if trial.verdict is not Verdict.INVALID:
                if not load.makes_connections:  # searches for connections tell it themselves
                    self.trials.check_arrivals(after=trial)
                return trial
            too_slow = self.is_too_slow(trial)
            if repeats.are_over(trial, too_slow=too_slow):
                self.gave_up_too_slow = too_slow
                (self._noisy_fps.discard if too_slow else self._noisy_fps.add)(load.rate_fps)
                return trial
