"""Loss verification: a rate fails only after repetitions confirm a failed trial (ETSI GS NFV-TST
009 section 12.3.3)."""

from collections import Counter
from dataclasses import dataclass, field

from natxy.model.verdict import Verdict
from natxy.search.bisection import Bisection

MOST_REPEATS = 100
MOST_UNEXPLAINED = 9  # repeats of a failure that the rate does not explain
# Noise cannot cause a larger loss, even in a trial of 51 ms (docs/decisions/0016).
GROSS = 1 / 2


@dataclass(kw_only=True)
class LossVerification:
    """Passes the verdicts of trials to `search`, except a FAIL that may be chance.

    As long as the search is not told a verdict, it returns the same rate again. A rate fails when
    `repeats` repetitions have failed as well, or at once if a trial loses more than `GROSS`. A
    repetition that passes overturns the failures. The verdict INVALID means that trials at this
    rate stayed invalid; failed trials may precede it.
    """

    search: Bisection
    repeats: int
    overturned: int = field(default=0, init=False)  # failed trials at a rate that passed
    _failures: Counter[int] = field(default_factory=Counter, init=False)  # by rate

    def tell(
        self,
        rate_fps: int,
        verdict: Verdict,
        lost: float = 0.0,
        *,
        counted_fps: int | None = None,
        spread: bool | None = None,
    ) -> None:
        """Takes the verdict of a trial.

        `lost` is the share of lost frames. `counted_fps` is the counted rate if the trial passed;
        None means `rate_fps`. `spread` says whether the rate explains a loss (docs/decisions/0039);
        None: it is not known.
        """
        if verdict is Verdict.FAIL:
            self._failures[rate_fps] += 1
            repeats = MOST_UNEXPLAINED if spread is False and self.repeats else self.repeats
            if not spread and lost <= GROSS and self._failures[rate_fps] <= repeats:
                return
        elif verdict is Verdict.PASS:
            self.overturned += self._failures.pop(rate_fps, 0)
        self.search.tell(rate_fps, verdict, counted_fps)

    def keep_failures(self, kept: set[int]) -> None:
        """Forgets the failures at other rates than these, which tell nothing; the search goes on.

        A failure that was not confirmed still does not count.
        """
        self._failures.clear()
        self.search.keep_failures(kept)
