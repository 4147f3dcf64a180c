"""Throughput by MLRsearch: non-drop and partial drop rates in one search (RFC 9971)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.measure.plan import REPETITIONS, Plan, repeat
from natxy.measure.search_remarks import THROUGHPUT, bound_remarks, cut_remarks, zero_remarks
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.measurement import Conditions, Figure, Measurement, SearchConditions
from natxy.model.reason import Reason
from natxy.model.remark import Remark, Topic
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.confirmation import Confirmation, why_is_known
from natxy.search.mlr import GoalOutcome, MeasuredTrial, mlr_search
from natxy.search.mlr_goal import MlrGoal
from natxy.search.settings import MAX_RATE
from natxy.trial.bound import Bound, disproved, worst_loss
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Frames, steady
from natxy.trial.maximum import maximum_of
from natxy.trial.profile import RFC, deviations, few_repetitions
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.session import Session
from natxy.trial.timing import DURATION
from natxy.trial.trials import Trials
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.pacing import long_pauses

ANY_PAUSES = Fraction(10**9)  # the load allows all pauses, since the goals limit them


@dataclass(frozen=True, kw_only=True)
class MlrThroughputPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    The goals determine the durations of trials; drain, settle time and frame timeout are those of
    `timing`.
    """

    goals: tuple[MlrGoal, ...]
    repetitions: Annotated[int, REPETITIONS] = 1
    min_rate_fps: int = 100  # lower rates are not tried
    max_rate_fps: Annotated[int | None, MAX_RATE] = None
    invalid_repeats: int = INVALID_REPEATS

    def __post_init__(self) -> None:
        super().__post_init__()
        longest_s = max((goal.final_duration_s for goal in self.goals), default=Fraction(0))
        if longest_s != self.timing.duration_s:
            raise ConfigurationError(
                DURATION,
                f": {float(self.timing.duration_s):g} s is not the duration of the goals' longest "
                f"trials (expected {float(longest_s):g} s)",
            )
        if len({goal.name for goal in self.goals}) < len(self.goals):
            raise ConfigurationError("goals: two have the same name (expected different names)")


def mlr_throughput(plan: MlrThroughputPlan, session: Session) -> Measurement:
    """Measures a rate for each goal, in frames a second per direction; it was tested and passed."""
    trials = plan.trials(session, doubts=lambda result: _too_easy(plan, result))
    maximum_fps = _maximum(plan, session)
    searched = _without_disproved(
        repeat(
            plan.repetitions,
            trials,
            lambda number: _search(plan, trials, number, maximum_fps),
            lambda one: _figures(plan.goals, [one]),
            is_search=True,
        )
    )
    return Measurement(
        procedure="mlr-throughput",
        title="Throughput by MLRsearch",
        reference="RFC 9971",
        conditions=_conditions(plan, session),
        deviations=(
            *_deviations(plan),
            *few_repetitions(len(searched), RFC),
            *session_deviations(session),
        ),
        remarks=(
            *_remarks(plan, searched),
            *cut_remarks(plan.repetitions, len(searched), trials),
        ),
        figures=_figures(plan.goals, searched),
        counts=trials.counts.model_copy(update={"revoked": sum(each.revoked for each in searched)}),
    )


def _maximum(plan: MlrThroughputPlan, session: Session) -> int:
    known_fps = maximum_of(session.hello, session.traffic, plan.max_rate_fps).rate_fps
    if known_fps is None:
        raise ConfigurationError(
            MAX_RATE,
            ": is missing: the ports' media have no rate with which MLRsearch could start "
            "(expected frames a second)",
        )
    if known_fps <= plan.min_rate_fps:
        raise ConfigurationError(
            MAX_RATE, f": {known_fps} is out of range (expected more than {plan.min_rate_fps})"
        )
    return min(known_fps, plan.timing.highest_rate_fps)


@dataclass(frozen=True, kw_only=True)
class _Searched:
    """One repetition; `too_slow` has the same meaning as that of a search by bisection."""

    goals: tuple[GoalOutcome, ...]
    too_slow: bool
    revoked: int  # failed trials whose CPUs were placed badly
    bounds: tuple[Bound, ...]  # for each goal


def _search(plan: MlrThroughputPlan, trials: Trials, number: int, maximum_fps: int) -> _Searched:
    valid_trials = ValidTrials(trials=trials, repetition=number, least=plan.invalid_repeats)
    least = min((goal.tolerance for goal in plan.goals), key=lambda each: each.fraction)

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        load = replace(steady(rate_fps, duration_s), pause_share=ANY_PAUSES, accepted=least)
        return _measured(valid_trials.run(load, (plan.min_rate_fps, maximum_fps)))

    def goals_found() -> tuple[GoalOutcome, ...]:
        return mlr_search(
            measure, plan.goals, minimum_fps=plan.min_rate_fps, maximum_fps=maximum_fps
        )

    found = goals_found()
    while any(valid_trials.revokes(goal.rate_fps or 0) for goal in found):
        found = goals_found()
    _check_hope(found, valid_trials)
    refuse_without_connections(valid_trials.done)
    return _Searched(
        goals=tuple(_confirmed(goal, valid_trials) for goal in found),
        too_slow=valid_trials.gave_up_too_slow,
        revoked=len(valid_trials.revoked),
        bounds=tuple(valid_trials.bound(goal.rate_fps or 0) for goal in found),
    )


def _without_disproved(searched: Sequence[_Searched]) -> list[_Searched]:
    """Returns the repetitions; a goal whose upper bound tells nothing has a lower bound alone."""
    by_goal = zip(*(each.bounds for each in searched), strict=True)
    tell_nothing = zip(*map(disproved, by_goal), strict=True)
    found = []
    for each, nothing in zip(searched, tell_nothing, strict=True):
        limits = (Limit.TESTER if of_goal else None for of_goal in nothing)
        goals = tuple(map(_opened, each.goals, limits))
        found.append(replace(each, goals=goals))
    return found


def _opened(found: GoalOutcome, limit: Limit | None) -> GoalOutcome:
    """Returns a goal's rate as a lower bound with this limit; None: as it is."""
    return replace(found, limit=limit, upper_fps=None) if limit else found


def _confirmed(found: GoalOutcome, known: ValidTrials) -> GoalOutcome:
    """Returns what a goal found: a lower bound if something else than the rate may have bounded it,
    and an upper bound of which the rate is the reason (decision 0039).

    By its exceed ratio, a goal says itself how many failures it accepts.
    """
    rate_fps = found.rate_fps
    if found.limit is not Limit.DUT or not rate_fps or found.goal.exceed_ratio:
        return found
    goal = found.goal
    counting = [_judged(trial, goal) for trial in known.done if trial.number not in known.revoked]
    if not why_is_known(counting):
        return found
    confirmation = Confirmation.of(
        counting, SearchError(fraction=goal.width), float(goal.tolerance.fraction)
    )
    doubt = confirmation.doubt(rate_fps, repeated=False, shown_at=1)
    near = confirmation.near(rate_fps)
    if doubt or near is None or found.upper_fps is None:
        return _opened(found, doubt)
    return replace(found, upper_fps=max(found.upper_fps, near.rate_fps))


def _judged(trial: TrialRecord, goal: MlrGoal) -> TrialRecord:
    """Returns the trial with the verdict of a goal, which may accept a larger loss than others."""
    if trial.verdict is not Verdict.FAIL or trial.fail_reason:
        return trial
    sent, lost = worst_loss(trial)
    accepts = goal.tolerance.accepts(sent=sent, lost=lost)
    return trial.model_copy(update={"verdict": Verdict.PASS}) if accepts else trial


def _too_easy(plan: MlrThroughputPlan, result: TrialResult) -> tuple[Reason, ...]:
    """Returns a reason for INVALID if pauses made a trial too easy.

    Pauses may be half of the narrowest goal's width; longer ones make the rate a lower one. Since
    they only help the gateway, a trial that lost more than any goal accepts has failed anyway.
    """
    most = max((goal.tolerance for goal in plan.goals), key=lambda tolerance: tolerance.fraction)
    if not Frames(segments=(), accepted=most).passes(result):
        return ()
    paused = long_pauses(result, min(goal.width for goal in plan.goals) / 2)
    return (paused,) if paused else ()


def _measured(trial: TrialRecord) -> MeasuredTrial:
    sent, lost = worst_loss(trial)
    return MeasuredTrial(sent=sent, lost=lost, verdict=trial.verdict)


def _check_hope(goals: Sequence[GoalOutcome], valid_trials: ValidTrials) -> None:
    """Raises TesterLimit if no rate passed below the ceiling.

    The search has then ended with an INVALID trial.
    """
    if any(found.rate_fps is None and found.limit is Limit.TESTER for found in goals):
        raise valid_trials.nothing_passed(valid_trials.done[-1].rate_fps)


def _conditions(plan: MlrThroughputPlan, session: Session) -> Conditions:
    goals = plan.goals
    maximum = maximum_of(session.hello, session.traffic, plan.max_rate_fps)
    search = SearchConditions(
        method="mlr",
        maximum_fps=maximum.rate_fps,
        maximum_origin=maximum.origin,
        exceed_ratio=_common(goal.exceed_ratio for goal in goals),
        duration_sum_s=_common(goal.total_s for goal in goals),
        initial_duration_s=_common(goal.initial_duration_s for goal in goals),
    )
    return plan.conditions(session, search=search)


def _common(values: Iterable[Fraction]) -> float | None:
    """Returns the value that all goals share; None if they differ (the remarks list each)."""
    first, *others = set(values)
    return None if others else float(first)


def _deviations(plan: MlrThroughputPlan) -> Deviations:
    ratios = sorted({goal.exceed_ratio for goal in plan.goals if goal.exceed_ratio})
    exceeding = (
        Deviation.of(Differs.EXCEED_RATIO, THROUGHPUT, exceed_ratio=ratio) for ratio in ratios
    )
    widths = sorted({g.width for g in plan.goals if g.width > DEFAULT_ERROR.fraction})
    coarse = (Deviation.of(Differs.GOAL_WIDTH, THROUGHPUT, width_share=width) for width in widths)
    return (*deviations(plan.timing), *exceeding, *coarse)


def _figures(goals: tuple[MlrGoal, ...], searched: list[_Searched]) -> tuple[Figure, ...]:
    figures: list[Figure] = []
    for place, goal in enumerate(goals):
        found = [each.goals[place] for each in searched]
        figures.append(
            Figure(
                name=goal.name,
                unit="fps",
                values=tuple(float(one.rate_fps or 0) for one in found),
                # RFC 9971's irregular result: a rate without an upper bound.
                lower_bound=tuple(one.upper_fps is None for one in found),
            )
        )
        uppers = [one.upper_fps for one in found if one.upper_fps is not None]
        if len(uppers) == len(found):
            figures.append(_beside(f"{goal.name}, upper bound", [float(fps) for fps in uppers]))
        if goal.tolerance.fraction:
            forwarded = [one.conditional_fps or 0.0 for one in found]
            figures.append(_beside(f"{goal.name}, conditional throughput", forwarded))
    return tuple(figures)


def _beside(name: str, values: list[float]) -> Figure:
    return Figure(name=name, unit="fps", values=tuple(values), primary=False)


def _remarks(plan: MlrThroughputPlan, searched: list[_Searched]) -> Iterator[Remark]:
    for goal in plan.goals:
        yield Remark.of(
            Topic.GOAL,
            goal.name,
            accepted_share=goal.tolerance.fraction,
            duration_s=goal.final_duration_s,
            width_share=goal.width,
            exceed_ratio=goal.exceed_ratio,
            sum_s=goal.total_s,
            initial_s=goal.initial_duration_s,
        )
    found = [(one, each.too_slow) for each in searched for one in each.goals]
    yield from bound_remarks((one.limit, too_slow) for one, too_slow in found)
    if plan.timing.duration_s < RFC.timing.duration_s:
        yield Remark.of(Topic.BUFFERS_COUNT)
    rates = [one.rate_fps or 0 for one, _ in found]
    yield from zero_remarks(rates, Remark.of(Topic.LOWEST_RATE, least_fps=plan.min_rate_fps))
    if plan.timing.frame_timeout_s:
        timeout_ns = plan.timing.frame_timeout_s * 10**9
        yield Remark.of(Topic.FRAME_TIMEOUT, timeout_ns=timeout_ns)
