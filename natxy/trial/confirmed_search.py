"""A search whose result needs a failure that the rate explains (docs/decisions/0039)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection
from natxy.search.confirmation import FAR, Confirmation, half_way, lost_share, why_is_known
from natxy.search.loss_verification import LossVerification
from natxy.trial.bound import Bounded, pattern_of
from natxy.trial.load import Load
from natxy.trial.maximum import Maximum
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.losses import Losses, full_of
from natxy.verdict.silences import is_watched

MOST_TIMES = 8  # as long as the first round may take what confirms its result
MOST_CONFIRMING = 5  # trials at a rate above the result, or that repeat it for longer
TWICE = 2  # as long as other trials are those above the result
FEWEST_FAILURES = 3  # of which each shows that overload makes the gateway slower
UNEXPLAINED = (Limit.UNEXPLAINED, Limit.VARIES)
STEP, LONGEST = 4, 16  # times the trial that a bucket or a queue may have helped to pass


@dataclass(kw_only=True)
class ConfirmedSearch:
    """Runs the trials of a bisection.

    `load` returns that of a rate, whose counted rate must exceed another one, and which lasts so
    many times as long as usual. Before it ends, it tries rates above the result, if no failure
    bounds it that the rate explains, and repeats the result for longer, if a bucket or a queue may
    have helped the pass. Who repeats no failure (`repeats` is 0) adds no trials.
    """

    search: Bisection
    valid_trials: ValidTrials
    repeats: int  # of a failure
    load: Callable[[int, int, int], Load]
    least_fps: int = 1  # a lower rate fails without a trial
    can_last: bool = True  # False: the number of frames is given
    accepted: Fraction = Fraction(0)  # the share of frames that may be lost
    is_steady: bool = True  # False: what bursts lose comes in holes, whatever the reason
    verified: LossVerification = field(init=False)
    # By rate, the losses of failed trials whose own losses do not fill a time.
    _unexplained: dict[int, list[Losses]] = field(default_factory=dict, init=False)
    _longer: int = field(default=1, init=False)
    _searched: int = field(default=1, init=False)  # how much longer the trials of the search were
    # What kept trials from confirming the result: noise (TESTER), losses as by chance
    # (UNEXPLAINED), or they came to no end (VARIES).
    _unconfirmed: Limit | None = field(default=None, init=False)
    _first_s: Fraction = field(default=Fraction(0), init=False)  # planned, of the first round
    _refills: bool = field(default=False, init=False)  # it depends on the trial before

    def __post_init__(self) -> None:
        self.verified = LossVerification(search=self.search, repeats=self.repeats)

    def run(self, is_hopeless: Callable[[], bool]) -> None:
        """Ends at once where no rate will pass."""
        while True:
            self._unconfirmed = None
            for rate_fps in self.valid_trials.rates(self.verified):
                if self._is_late:
                    self._unconfirmed = Limit.VARIES
                    return
                if rate_fps < self.least_fps:
                    self.search.tell(rate_fps, Verdict.FAIL)
                    continue
                self._searched = self._longer
                self._attempt(rate_fps, self.search.bracket[0], self._longer)
                if is_hopeless():
                    return
            self._first_s = self._first_s or self.valid_trials.planned_s
            if not (self.repeats and (self._passes_above() or self._fails_longer())):
                return

    def result(self, maximum: Maximum, trials: Sequence[TrialRecord]) -> Bounded:
        """Returns the result of the search, which has ended; figures are made of `trials`."""
        result_fps, limit = self.search.result_fps or 0, self.limit
        passed_fps = result_fps
        known, searched_fps = self.confirmation, self.search.error.at(result_fps)
        near = known.near(result_fps) if self._asks_why else None
        error_fps = searched_fps if near is None else near.rate_fps - result_fps
        # A longer trial has confirmed what passed, unless the longest ones searched for it.
        may_be_helped = limit is not Limit.DUT or self._searched == LONGEST
        unsure = self._refills or self._unconfirmed is not None
        is_open = self.is_steady and limit is not Limit.MAXIMUM
        if is_open and (unsure or (may_be_helped and known.is_helped(result_fps))):
            # No trial told whether it can do more for long.
            sustained_fps = known.sustained_fps or result_fps
            error_fps += max(0, result_fps - sustained_fps)
            result_fps = min(result_fps or sustained_fps, sustained_fps)
        overloaded_fps = known.overloaded_fps(result_fps)  # of what is left of the result
        is_highest = limit is Limit.MAXIMUM and maximum.origin == "media"
        return Bounded(
            rate_fps=result_fps,
            limit=limit,
            lower_bound=limit is not Limit.DUT and not is_highest,
            too_slow=self.valid_trials.gave_up_too_slow and self._unconfirmed is not Limit.TESTER,
            bound=self.valid_trials.bound(result_fps),
            error_fps=error_fps,
            is_wide=error_fps > searched_fps,
            overloaded_fps=overloaded_fps if near else None,
            passed_fps=passed_fps if passed_fps > result_fps else 0,
            by_port=near is not None and near.is_refused_by_port,
            pattern=pattern_of(self._unexplained) if limit in UNEXPLAINED else None,
            overturned=self.verified.overturned,
            revoked=len(self.valid_trials.revoked),
            planned_s=self.valid_trials.planned_s,
            trials=tuple(trials),
        )

    @property
    def limit(self) -> Limit:
        """What limits the result."""
        if self._unconfirmed is not None:
            return self._unconfirmed
        result_fps = self.search.result_fps
        if not result_fps or not self._asks_why:
            return self.search.limit
        doubt = self.confirmation.doubt(result_fps, repeated=self.repeats > 0)
        return doubt or self.search.limit

    @property
    def confirmation(self) -> Confirmation:
        """What the failures so far say, except those that have been revoked."""
        known = self.valid_trials
        counting = (trial for trial in known.done if trial.number not in known.revoked)
        return Confirmation.of(
            counting, self.search.error, float(self.accepted), can_last=self.can_last
        )

    @property
    def _asks_why(self) -> bool:
        """True if failures bound the result, and it is known of each if the rate explains it."""
        if not self.is_steady or self.search.limit is not Limit.DUT or not self.search.result_fps:
            return False
        return why_is_known(self.valid_trials.done)

    @property
    def _is_late(self) -> bool:
        """Whether what confirms the result has taken too long."""
        return 0 < (1 + MOST_TIMES) * self._first_s < self.valid_trials.planned_s

    def _attempt(self, rate_fps: int, above_fps: int, longer: int) -> TrialRecord:
        load = self.load(rate_fps, above_fps, longer)
        trial = self._explained(self.valid_trials.run(load, self.search.bracket))
        self.verified.tell(
            rate_fps,
            trial.verdict,
            lost_share(trial),
            counted_fps=trial.counted_fps,
            spread=trial.spread if trial.is_placed_in_time and self.is_steady else None,
        )
        return trial

    def _explained(self, trial: TrialRecord) -> TrialRecord:
        """Returns the trial, which failures at the same rate may explain together."""
        if trial.verdict is Verdict.PASS:
            self._unexplained.clear()
        last = self.valid_trials.trials.last
        if trial.verdict is not Verdict.FAIL or trial.spread or not self.repeats or not last:
            return trial
        failures = self._unexplained.setdefault(trial.rate_fps, [])
        failures.append(last.losses)
        full = full_of(failures, {each.phase for each in trial.counted})
        if full is None:
            return trial
        explained = {"full_share": full.share, "full_error": full.error}
        self.valid_trials.done[-1] = trial.model_copy(update=explained)
        return self.valid_trials.done[-1]

    def _passes_above(self) -> bool:
        """Tries rates above the result; returns whether one passed, so that the search goes on."""
        result_fps = self.search.result_fps
        if not result_fps or not self._asks_why:
            return False
        tried: set[int] = set()
        for _ in range(MOST_CONFIRMING):
            if self._passes_near(result_fps):
                return True
            near = self.confirmation.near(result_fps)
            telling_fps = self._telling_fps(near, result_fps) if near else 0
            if not telling_fps or telling_fps in tried or self._is_late:
                break
            tried.add(telling_fps)
            trial = self._attempt(telling_fps, result_fps, TWICE * self._longer)
            if trial.verdict is Verdict.PASS:
                return True
            if trial.verdict is Verdict.INVALID:
                self._unconfirmed = Limit.TESTER
                return False
        near = self.confirmation.near(result_fps)
        if near is not None and not self._is_late and self.confirmation.is_alone(near):
            self._unconfirmed = Limit.UNEXPLAINED
        return False

    def _telling_fps(self, near: TrialRecord, result_fps: int) -> int:
        """Returns the rate at which another trial tells whether the rate explains the failure that
        bounds the result; 0: none has to."""
        known, highest_fps = self.confirmation, self.search.upper_fps
        if not is_watched(near.result, near.absence) and known.is_untried_above(near):
            far_fps = min(highest_fps, 2 * FAR * near.rate_fps)
            if far_fps >= FAR * near.rate_fps:
                return far_fps
        if known.is_alone(near):
            return known.telling_above(result_fps, near, highest_fps)
        return 0

    def _passes_near(self, result_fps: int) -> bool:
        """Tries the rates next to the result, until a failure there bounds it or one passed."""
        for rate_fps in self.confirmation.rates_above(result_fps, self.search.bracket[1]):
            for _ in range(MOST_CONFIRMING):
                near = self.confirmation.near(result_fps)
                is_known = near is not None and near.rate_fps <= rate_fps
                if is_known or rate_fps > self.search.upper_fps or self._is_late:
                    return False
                trial = self._attempt(rate_fps, result_fps, TWICE * self._longer)
                if trial.verdict is Verdict.PASS:
                    return True
                if trial.verdict is Verdict.INVALID or trial.is_explained:
                    break  # another one tells no more, even if a failure above forwarded more
        return False

    def _fails_longer(self) -> bool:
        """Repeats the result, for longer if a bucket or a queue may have helped the pass; returns
        whether it fails, so that the search goes on below it.

        A failure may lose more than a bucket explains, as the trial before has emptied it. So each
        time that overload seems to make the gateway slower, the result has to pass behind such a
        failure.
        """
        result_fps = self.search.result_fps or 0
        while self.can_last:
            known = self.confirmation
            full_fps = known.overloaded_fps(result_fps)
            near = known.near(result_fps) if self._asks_why else None
            if full_fps is None or near is None:
                return False
            is_helped = known.is_helped(result_fps)
            if self._is_late:
                if not is_helped:
                    self._unconfirmed = Limit.VARIES
                return False
            failures = known.lowest_failures
            if is_helped:
                if self._longer >= LONGEST:
                    return False
                self._longer *= STEP
            elif (
                len(failures) < FEWEST_FAILURES
                or self.valid_trials.done[-1].rate_fps != failures[0].rate_fps
            ):
                rate_fps = failures[0].rate_fps
                again = self._attempt(rate_fps, result_fps, self._longer).verdict
                self._refills |= again is Verdict.PASS
                if again is Verdict.FAIL:
                    continue
                if again is Verdict.INVALID:
                    self._unconfirmed = Limit.TESTER
                return again is Verdict.PASS
            if self._fails_at(result_fps, full_fps):
                self._refills |= not is_helped
                self.search.restart(max(1, full_fps - self.search.error.at(full_fps)))
                return True
            if not is_helped:
                return False
        return False

    def _fails_at(self, rate_fps: int, full_fps: int) -> bool:
        """Returns whether the rate explains the failure of a longer trial."""
        for _ in range(MOST_CONFIRMING):
            trial = self._attempt(rate_fps, 0, self._longer)
            if trial.verdict is Verdict.INVALID:
                break
            if trial.verdict is Verdict.FAIL and trial.spread:
                return True
            least_fps = half_way(rate_fps, full_fps)
            if trial.verdict is Verdict.PASS and trial.verdict_fps >= least_fps:
                return False
        self._unconfirmed = Limit.TESTER
        return False
