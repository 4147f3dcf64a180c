"""Loss verification: a FAIL is confirmed at its own rate before it ends anything
(ETSI GS NFV-TST 009 section 12.3.3); pure."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from natxy.model.verdict import Verdict
from natxy.search.bisection import Bisection

MOST_REPEATS = 100
# Noise takes less than that away even of a trial of 51 ms (docs/decisions/0016).
GROSS = Fraction(1, 2)


@dataclass(kw_only=True)
class LossVerification:
    """Stands between the trials and `search`, and keeps back a FAIL that may be chance.

    The search gives the same rate again while it has been told nothing. A rate fails when
    `repeats` repetitions have failed as well, or at once where a trial lost more than `GROSS`. One
    that passes overturns the failures. INVALID is told of a rate whose trials stay so, before or
    after one that failed.
    """

    search: Bisection
    repeats: int = 0
    overturned: int = field(default=0, init=False)  # trials that failed at a rate that passed
    _failures: Counter[int] = field(default_factory=Counter, init=False)  # by rate

    def tell(
        self,
        rate_fps: int,
        verdict: Verdict,
        lost: Fraction | None = None,
        *,
        counted_fps: int | None = None,
    ) -> None:
        """`lost`: the share of the frames; None: nobody knows it. `counted_fps`: what counts of a
        rate that passed; None: all of it."""
        if verdict is Verdict.FAIL:
            self._failures[rate_fps] += 1
            if self._is_doubtful(rate_fps, lost):
                return
        elif verdict is Verdict.PASS:
            self.overturned += self._failures[rate_fps]
            rate_fps = rate_fps if counted_fps is None else counted_fps
        self.search.tell(rate_fps, verdict)

    def _is_doubtful(self, rate_fps: int, lost: Fraction | None) -> bool:
        gross = lost is not None and lost > GROSS
        return self._failures[rate_fps] <= self.repeats and not gross
