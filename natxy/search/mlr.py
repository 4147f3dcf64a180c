"""MLRsearch, which finds the rates of several goals in one search (RFC 9971).

It uses the package of the RFC's authors. The package is imported where it is used, because that
takes half a second (it reads its own source), and most commands do without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from natxy.model.verdict import Limit, Verdict
from natxy.search.mlr_goal import MlrGoal

UNLIMITED_S = 1e9  # the package's default limit is 20 minutes
FINEST_DURATION = 1000  # trials' durations are whole milliseconds


@dataclass(frozen=True, kw_only=True)
class MeasuredTrial:
    """The outcome of a trial; INVALID means that trials at this load stayed invalid."""

    sent: int
    lost: int
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class SearchedTrial:
    duration_s: Fraction
    rate_fps: int
    trial: MeasuredTrial


Measure = Callable[[Fraction, int], MeasuredTrial]


@dataclass(frozen=True, kw_only=True)
class GoalOutcome:
    """The bounds that the search found for one goal; both were tested."""

    goal: MlrGoal
    rate_fps: int | None  # the relevant lower bound; None: there is none
    upper_fps: int | None  # the relevant upper bound; None: there is none
    # RFC 9971's Conditional Throughput: the forwarding rate at the relevant lower bound.
    conditional_fps: float | None
    limit: Limit


@dataclass(frozen=True, kw_only=True)
class MlrOutcome:
    goals: tuple[GoalOutcome, ...]
    trials: tuple[SearchedTrial, ...]  # in the order of measurement; includes abandoned searches
    ceiling_fps: int | None  # the lowest rate that stayed INVALID; None: no rate did


class _BeyondTester(Exception):
    def __init__(self, rate_fps: int) -> None:
        super().__init__(rate_fps)
        self.rate_fps = rate_fps


@dataclass(kw_only=True)
class MlrSearch:
    """The search; if a load stays INVALID, it is a ceiling.

    The search then starts again below this load.
    """

    goals: Sequence[MlrGoal]
    minimum_fps: int
    maximum_fps: int
    _trials: list[SearchedTrial] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if not 0 < self.minimum_fps < self.maximum_fps:
            raise ValueError(f"the range {self.minimum_fps} to {self.maximum_fps} fps is empty")
        if not self.goals or len(set(self.goals)) < len(self.goals):
            raise ValueError("MLRsearch needs goals, each different from the others")

    def run(self, measure: Measure) -> MlrOutcome:
        self._trials = []
        top_fps, ceiling_fps = self.maximum_fps, None
        while top_fps > self.minimum_fps:
            try:
                found = self._attempt(measure, top_fps)
            except _BeyondTester as beyond:
                ceiling_fps = beyond.rate_fps
                top_fps = self._below(ceiling_fps)
            else:
                return self._outcome(found, ceiling_fps)
        return self._outcome(None, ceiling_fps)

    def _attempt(self, measure: Measure, top_fps: int) -> Any:
        import MLRsearch

        config = MLRsearch.Config()
        config.min_load = float(self.minimum_fps)  # set first, since each checks the other
        config.max_load = float(top_fps)
        config.goals = [_package_goal(goal) for goal in self.goals]
        config.search_duration_max = UNLIMITED_S
        config.warmup_duration = 0.0
        measurer = _Measurer(self._trials, measure)
        return MLRsearch.MultipleLossRatioSearch(config).search(measurer, debug=lambda _: None)

    def _below(self, beyond_fps: int) -> int:
        """Returns the maximum of the next search: halfway between valid rates and the ceiling.

        The first trial of a search is at its maximum, which would usually be INVALID again if it
        were just below the ceiling.
        """
        valid = [
            tried.rate_fps
            for tried in self._trials
            if tried.trial.verdict is not Verdict.INVALID and tried.rate_fps < beyond_fps
        ]
        return (max(valid, default=self.minimum_fps) + beyond_fps) // 2

    def _outcome(self, found: Any, ceiling_fps: int | None) -> MlrOutcome:
        outcomes = []
        for goal in self.goals:
            result = found[_package_goal(goal)] if found is not None else None
            outcomes.append(_goal_outcome(goal, result, ceiling_fps))
        return MlrOutcome(
            goals=tuple(outcomes), trials=tuple(self._trials), ceiling_fps=ceiling_fps
        )


class _Measurer:
    """Adapts `measure` to the package, which passes floats and has no verdict INVALID."""

    def __init__(self, trials: list[SearchedTrial], measure: Measure) -> None:
        self._trials = trials
        self._measure = measure

    def measure(self, intended_duration: float, intended_load: float) -> Any:
        import MLRsearch

        duration_s = Fraction(intended_duration).limit_denominator(FINEST_DURATION)
        trial = self._valid(duration_s, round(intended_load))
        # A trial may FAIL without loss, but the package counts only loss as a failure.
        lost = max(trial.lost, 1) if trial.verdict is Verdict.FAIL else trial.lost
        return MLRsearch.MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=trial.sent,
            loss_count=min(lost, trial.sent),
        )

    def _valid(self, duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        trial = self._measure(duration_s, rate_fps)
        self._trials.append(SearchedTrial(duration_s=duration_s, rate_fps=rate_fps, trial=trial))
        if trial.verdict is Verdict.INVALID:
            raise _BeyondTester(rate_fps)
        return trial


def _package_goal(goal: MlrGoal) -> Any:
    import MLRsearch

    return MLRsearch.SearchGoal(
        loss_ratio=float(goal.tolerance.fraction),
        exceed_ratio=float(goal.exceed_ratio),
        relative_width=float(goal.width),
        initial_trial_duration=float(goal.initial_duration_s),
        final_trial_duration=float(goal.final_duration_s),
        duration_sum=float(goal.total_s),
        fail_fast=False,  # a failure at the minimum is a result; other goals still need theirs
    )


def _goal_outcome(goal: MlrGoal, result: Any, ceiling_fps: int | None) -> GoalOutcome:
    lower = result.relevant_lower_bound if result is not None else None
    upper = result.relevant_upper_bound if result is not None else None
    unlimited = Limit.MAXIMUM if ceiling_fps is None else Limit.TESTER
    return GoalOutcome(
        goal=goal,
        rate_fps=None if lower is None else round(float(lower)),
        upper_fps=None if upper is None else round(float(upper)),
        conditional_fps=None if lower is None else float(result.conditional_throughput),
        limit=unlimited if upper is None else Limit.DUT,
    )
