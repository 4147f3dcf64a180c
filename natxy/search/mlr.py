"""MLRsearch, which finds the rates of several goals in one search (RFC 9971).

It uses the package of the RFC's authors. The package is imported where it is used, because that
takes half a second (it reads its own source), and most commands do without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


class _BeyondTester(Exception):
    """Trials at this rate stayed INVALID."""


def mlr_search(
    measure: Measure, goals: Sequence[MlrGoal], *, minimum_fps: int, maximum_fps: int
) -> tuple[GoalOutcome, ...]:
    """Returns what was found for each goal; if a load stays INVALID, it is a ceiling.

    The search then starts again, halfway between valid rates and the ceiling: the first trial of a
    search is at its maximum, which would usually be INVALID again just below the ceiling.
    """
    import MLRsearch

    if not 0 < minimum_fps < maximum_fps:
        raise ValueError(f"the range {minimum_fps} to {maximum_fps} fps is empty")
    if not goals or len(set(goals)) < len(goals):
        raise ValueError("MLRsearch needs goals, each different from the others")
    measurer = _Measurer(measure)
    top_fps, ceiling_fps, found = maximum_fps, None, None
    while found is None and top_fps > minimum_fps:
        config = MLRsearch.Config()
        config.min_load = float(minimum_fps)  # set first, since each checks the other
        config.max_load = float(top_fps)
        config.goals = list(map(_package_goal, goals))
        config.search_duration_max = UNLIMITED_S
        config.warmup_duration = 0.0
        search = MLRsearch.MultipleLossRatioSearch(config)
        try:
            found = search.search(measurer, debug=lambda _: None)
        except _BeyondTester as beyond:
            (ceiling_fps,) = beyond.args
            below = (rate_fps for rate_fps in measurer.valid_fps if rate_fps < ceiling_fps)
            top_fps = (max(below, default=minimum_fps) + ceiling_fps) // 2
    return tuple(_goal_outcome(goal, found, ceiling_fps) for goal in goals)


class _Measurer:
    """Adapts `measure` to the package, which passes floats and has no verdict INVALID."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self.valid_fps: set[int] = set()  # rates at which a trial was valid

    def measure(self, intended_duration: float, intended_load: float) -> Any:
        import MLRsearch

        duration_s = Fraction(intended_duration).limit_denominator(FINEST_DURATION)
        rate_fps = round(intended_load)
        trial = self._measure(duration_s, rate_fps)
        if trial.verdict is Verdict.INVALID:
            raise _BeyondTester(rate_fps)
        self.valid_fps.add(rate_fps)
        # A trial may FAIL without loss, but the package counts only loss as a failure.
        lost = max(trial.lost, 1) if trial.verdict is Verdict.FAIL else trial.lost
        return MLRsearch.MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=trial.sent,
            loss_count=min(lost, trial.sent),
        )


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


def _goal_outcome(goal: MlrGoal, found: Any, ceiling_fps: int | None) -> GoalOutcome:
    """Returns what the package found for a goal; `found` is None if no rate was valid."""
    result: Any = None if found is None else found[_package_goal(goal)]
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
