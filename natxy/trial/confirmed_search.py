"""A search whose result needs a failure that the rate explains (docs/decisions/0039)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection
from natxy.search.confirmation import Confirmation
from natxy.search.loss_verification import LossVerification
from natxy.trial.load import Load
from natxy.trial.valid_trials import ValidTrials
from natxy.trial.worst_loss import lost_share

MOST_ROUNDS = 6  # of a search that a pass above its result continues
MOST_CONFIRMING = 5  # failed trials at a rate above the result


@dataclass(kw_only=True)
class ConfirmedSearch:
    """Runs the trials of a bisection; `load` returns that of a rate.

    Before it ends, it tries rates above the result, if no failure bounds it that the rate explains.
    Who repeats no failure (`repeats` is 0) believes each of them.
    """

    search: Bisection
    valid_trials: ValidTrials
    repeats: int  # of a failure
    load: Callable[[int], Load]
    least_fps: int  # a lower rate fails without a trial
    verified: LossVerification = field(init=False)
    confirmation: Confirmation = field(init=False)

    def __post_init__(self) -> None:
        self.verified = LossVerification(search=self.search, repeats=self.repeats)
        self.confirmation = Confirmation(error=self.search.error)

    def run(self, after_each: Callable[[], None]) -> None:
        for _ in range(MOST_ROUNDS):
            for rate_fps in self.valid_trials.rates(self.verified):
                if rate_fps < self.least_fps:
                    self.search.tell(rate_fps, Verdict.FAIL)
                    continue
                self._attempt(rate_fps)
                after_each()
            if not self._passes_above():
                break

    @property
    def is_explained(self) -> bool:
        """False if failures bound the result, and none of them says that the rate is why."""
        return not self._asks_why or self.confirmation.explains(self.search.result_fps or 0)

    @property
    def _asks_why(self) -> bool:
        """True if failures bound the result, and the losses of each have a place in time."""
        bounded = self.search.limit is Limit.DUT and self.search.result_fps
        failed = [trial for trial in self.valid_trials.done if trial.verdict is Verdict.FAIL]
        return bool(self.repeats and bounded) and all(t.is_placed_in_time for t in failed)

    def _attempt(self, rate_fps: int) -> Verdict:
        trial = self.valid_trials.run(self.load(rate_fps), self.search.bracket)
        if trial.verdict is Verdict.FAIL and trial.spread:
            self.confirmation.failed(rate_fps, trial.full_fps)
        elif trial.verdict is Verdict.PASS:
            self.confirmation.passed(trial.verdict_fps)
        self.verified.tell(
            rate_fps,
            trial.verdict,
            lost_share(trial),
            counted_fps=trial.counted_fps,
            spread=trial.spread if trial.is_placed_in_time else None,
        )
        return trial.verdict

    def _passes_above(self) -> bool:
        """Tries rates above the result; returns whether one passed, so that the search goes on."""
        result_fps = self.search.result_fps
        if not result_fps or not self._asks_why:
            return False
        for rate_fps in self.confirmation.rates_above(result_fps):
            if self.confirmation.near(result_fps) or rate_fps > self.search.upper_fps:
                return False
            for _ in range(MOST_CONFIRMING):
                verdict = self._attempt(rate_fps)
                if verdict is Verdict.PASS:
                    return True
                if verdict is Verdict.INVALID or self.confirmation.near(result_fps):
                    break
        return False
