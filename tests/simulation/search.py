"""Searches with simulated trials."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from natxy.model.verdict import Verdict
from natxy.search.bisection import GROWTH, Bisection, SearchError
from natxy.trial.repeats import BETWEEN_S, INVALID_REPEATS, SHARE, Repeats, RetryTime
from tests.simulation import rule
from tests.simulation.rule import Judged
from tests.simulation.trial import Bench, run

FIRST_FPS, HIGHEST_FPS = 1000, 10_000_000
SHORTEST_S, LONGEST_S, DRAIN_S = 0.05, 0.2, 0.05
FILLS_FRAMES = 128


@dataclass(kw_only=True)
class Result:
    fps: int = 0
    exact: bool = False
    error: float = 0.0  # as a share
    why: str = ""
    trials: int = 0
    invalid: int = 0
    seconds: float = 0.0


@dataclass(kw_only=True)
class Trials:
    """Runs trials, and counts them and their planned time."""

    bench: Bench
    chance: np.random.Generator
    error: SearchError
    frames: int | None = None  # of each trial, where their number is given
    stretch: float = 1.0
    result: Result = field(default_factory=Result)
    retry: RetryTime = field(default_factory=lambda: RetryTime(given_s=None))

    def seconds(self, rate_fps: int) -> float:
        if self.frames:
            return self.frames / rate_fps
        fills = FILLS_FRAMES / self.error.at(rate_fps)
        return self.stretch * min(LONGEST_S, max(SHORTEST_S, fills))

    def once(self, rate_fps: int, judge: Callable[[Any], Any], longer: float = 1.0) -> Any:
        seconds = self.seconds(rate_fps) * (1.0 if self.frames else longer)
        found = judge(run(self.bench, rate_fps, seconds, self.chance))
        verdict = found[0] if isinstance(found, tuple) else found.verdict
        self.result.trials += 1
        self.result.invalid += verdict is Verdict.INVALID
        planned_s = Fraction(seconds + DRAIN_S) + BETWEEN_S
        self.result.seconds += float(planned_s)
        self.retry.count(planned_s, valid=verdict is not Verdict.INVALID)
        return found

    def repeats(self, rate_fps: int) -> Repeats:
        each_s = Fraction(self.seconds(rate_fps) + DRAIN_S) + BETWEEN_S
        return Repeats(least=INVALID_REPEATS, each_s=each_s, time=self.retry, share=SHARE)


def _bisection(
    error: SearchError, first_fps: int = FIRST_FPS, upper_fps: int = HIGHEST_FPS
) -> Bisection:
    return Bisection(upper_fps=upper_fps, first_fps=first_fps, growth=GROWTH, error=error)


MOST_UNEXPLAINED = 10  # failures at a rate that its losses do not explain
MOST_CONFIRMING = 5  # failed trials at a rate above the result
MOST_STRETCH = 16
MOST_S = 90.0  # of a search
SURELY = 7.0  # frames that chance would have lost in the trial that passed: e^-7 is 0.1 %


@dataclass(kw_only=True)
class Proposed:
    """The search as proposed: an exact figure needs a failure that the rate explains."""

    trials: Trials
    search: Bisection = field(init=False)
    explained: list[tuple[int, Judged]] = field(default_factory=list)
    passed: Judged | None = None
    bound_fps: int = 0  # what an earlier search has shown
    most_full_fps: float = 0.0  # that any failed trial forwarded while the gateway was full

    def __post_init__(self) -> None:
        self.search = _bisection(self.trials.error, 20_000 if self.trials.frames else FIRST_FPS)

    def run(self) -> Result:
        found = self.trials.result
        for _ in range(12):
            if found.seconds > MOST_S:
                break
            self._bisect()
            why = self._confirm()
            if why == "again":
                continue
            found.fps = self.search.result_fps or self.bound_fps
            found.why = why
            found.exact = not why
            return found
        found.fps, found.why = self.search.result_fps or self.bound_fps, "no time left"
        return found

    def _valid(self, rate_fps: int, above: int, longer: float = 1.0) -> Judged:
        repeats = self.trials.repeats(rate_fps)
        while True:
            judged: Judged = self.trials.once(
                rate_fps, lambda seen: rule.judged(seen, above), longer
            )
            none = SimpleNamespace(badly_placed=False, too_slow=False)
            if judged.verdict is not Verdict.INVALID or repeats.are_over(none):  # type: ignore[arg-type]
                return judged

    def _bisect(self) -> None:
        while (rate_fps := self.search.next()) is not None:
            judged = self._explained(rate_fps, self.search.bracket[0], MOST_UNEXPLAINED)
            self._tell(rate_fps, judged)
            if (
                self.search.result_fps is None
                and judged.verdict is Verdict.INVALID
                and rate_fps <= 1000
            ):
                return

    def _explained(self, rate_fps: int, above: int, most: int, longer: float = 1.0) -> Judged:
        """Returns a pass, or the failures at a rate together, once its losses explain them."""
        failures: list[Judged] = []
        for _ in range(most):
            judged = self._valid(rate_fps, above, longer)
            if judged.verdict is not Verdict.FAIL:
                return judged
            failures.append(judged)
            judged = rule.pooled(failures)
            if judged.spread:
                self.most_full_fps = max(self.most_full_fps, judged.full_fps)
                return judged
            if self.trials.result.seconds > MOST_S:
                break
        return judged

    def _tell(self, rate_fps: int, judged: Judged) -> None:
        if judged.verdict is Verdict.PASS:
            self.explained = [each for each in self.explained if each[0] > rate_fps]
            self.passed = judged
            self.search.tell(judged.counted_fps, Verdict.PASS)
            return
        if judged.verdict is Verdict.FAIL and judged.spread:
            self.explained.append((rate_fps, judged))
        self.search.tell(rate_fps, judged.verdict)

    def _confirm(self) -> str:
        """Returns why the result is not exact; empty if it is, "again" if the search goes on."""
        result, error = self.search.result_fps, float(self.trials.error.fraction)
        if not result or self.passed is None:
            return "nothing passed"
        if self.passed.by_port:
            self.trials.result.error = error
            return ""
        if self.most_full_fps > result * (1 + 3 * error):
            return "forwards more at a higher rate: pauses or chance"
        near = [each for each in self.explained if each[0] <= result * (1 + 2.5 * error)]
        for factor in (2, 4):
            if near:
                break
            above = int(result * (1 + factor * error)) + 1
            judged = self._explained(above, result, MOST_CONFIRMING, 2.0)
            if judged.verdict is Verdict.PASS:
                self._passes_above(above, judged)
                return "again"
            if judged.spread:
                near = [(above, judged)]
                self.explained.append(near[0])
        if not near:
            return "no failure that the rate explains"
        above, failure = min(near, key=lambda each: each[0])
        return self._compare(result, above, failure)

    def _compare(self, result: int, above: int, failure: Judged) -> str:
        """Compares the pass with what the gateway forwarded when it was full, a little above.

        If that is less, a bucket or a queue helped the pass, or an overload slows the gateway down.
        A longer trial tells: of a bucket it contains less.
        """
        error, full, passed = float(self.trials.error.fraction), failure.full_fps, self.passed
        assert passed is not None
        low = full < result * (1 - 1.5 * error)
        clean = passed.clean
        while low or failure.lost_share * clean < SURELY:
            if self.trials.frames or self.trials.stretch >= MOST_STRETCH:
                break
            if self.trials.result.seconds > MOST_S:
                break
            self.trials.stretch *= 4
            judged = self._explained(result, 0, MOST_UNEXPLAINED)
            clean += judged.clean
            enough = judged.counted_fps if not low else judged.surely_fps
            if judged.verdict is Verdict.PASS and enough >= result * (1 - error):
                continue
            self.bound_fps = int(min(full, result)) if judged.clean else 0
            self.explained, self.passed = [], None
            first = max(1, int(min(full, result * (1 - error))))
            self.search = _bisection(self.trials.error, first, result)
            return "again"
        if failure.lost_share * clean < SURELY:
            return f"chance: {failure.lost_share:.4f} lost"
        self.trials.result.error = max(error, above / result - 1, (result - full) / result)
        return ""

    def _passes_above(self, rate_fps: int, judged: Judged) -> None:
        self.search.forget_failures(
            min((each[0] for each in self.explained if each[0] > rate_fps), default=None)
        )
        self._tell(rate_fps, judged)
