"""Connection tracking table capacity (RFC 9693; draft-lencse-v6ops-transition-scalability section
2.6)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, DutError, TesterLimit, TrialRefused
from natxy.measure.memory import memory_per_connection
from natxy.measure.plan import Plan, check_members, repeat
from natxy.measure.search_remarks import cut_remarks, is_coarse
from natxy.measure.table_size import check_each_frame_makes_one
from natxy.measure.traffic_deviations import connection_deviations, tcp_deviations
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, Measurement, Unit
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import Collapse, TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.establishment_search import ALPHA, DEFAULT_ALPHA
from natxy.procedure.establishment_search import PROFILES as ESTABLISHMENT_PROFILES
from natxy.search.capacity import Capacity, CapacitySearch, TooManyInvalid, UnsafeStart
from natxy.search.capacity_goal import C0, COARSEST, Answer, Attempt, CapacityGoal, Outcome
from natxy.trial.connection_conditions import of_phase_1
from natxy.trial.connection_table import parameters_of
from natxy.trial.establishing import Establishing, connections_held
from natxy.trial.past import Collapsed
from natxy.trial.profile import OF_CONNECTIONS, deviations
from natxy.trial.session import Session
from natxy.trial.trials import Trials
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.advice import why_invalid

CLAUSE = "RFC 9693 section 4.9"
TITLE = "Connection tracking table capacity"
CAPACITY = "connection tracking table capacity C"
# Long pauses are allowed: the number of connections that a table holds does not depend on how
# evenly it was filled, and beta allows larger differences of the rate.
PAUSE_SHARE = Fraction(1, 4)
# One repetition is enough: a search confirms the trials that decide, and another search usually
# finds the same number.
PROFILES = ESTABLISHMENT_PROFILES | {
    "quick": replace(ESTABLISHMENT_PROFILES["quick"], repetitions=1, rate_error=COARSEST)
}


@dataclass(frozen=True, kw_only=True)
class CapacityPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    The gateway must be able to hold `goal.c0` connections. Each trial is validated at alpha times
    its rate.
    """

    goal: CapacityGoal
    alpha: Annotated[Fraction, replace(ALPHA, default=f"{float(DEFAULT_ALPHA):g}")] = DEFAULT_ALPHA

    def __post_init__(self) -> None:
        super().__post_init__()
        check_members(self, goal=CapacityGoal)


@dataclass(kw_only=True)
class Course:
    """Trials and events of the searches of a measurement."""

    trials: list[list[TrialRecord]] = field(default_factory=list)  # of each search
    collapses: list[str] = field(default_factory=list)
    # Why searches ended with a lower bound, by their repetition.
    cut_off: dict[int, Remark] = field(default_factory=dict)
    repaired: int = 0  # trials that passed although frames were lost in an absence of the gateway

    @property
    def last_collapse(self) -> str:
        return f" ({self.collapses[-1]})" if self.collapses else ""


def capacity(plan: CapacityPlan, session: Session) -> Measurement:
    """Measures C0, R0, CS, RS, CT, C and memory, with a value for each repetition."""
    _ = session.traffic.required_connections  # refused before C0
    check_each_frame_makes_one(session.traffic)
    _ = session.required_table
    goal = replace(_within(plan.goal, session.traffic), told=parameters_of(session.dut).entries)
    trials = plan.trials(session, after=lambda trial: _survived(trial, session.dut))
    course = Course()
    found = repeat(
        plan.repetitions,
        trials,
        lambda number: _search(plan, goal, trials, number, course),
        lambda one: _figures([one])[-1:],
        is_search=True,
    )
    is_tcp = session.traffic.is_tcp
    memory, about_memory = memory_per_connection(course.trials[: len(found)])
    return Measurement(
        procedure="capacity",
        title="Concurrent TCP connection capacity" if is_tcp else TITLE,
        reference="RFC 9693, RFC 8219 section 8" if is_tcp else "RFC 9693",
        conditions=of_phase_1(
            plan.conditions(session.with_connections(count=goal.c0)), session, validated=True
        ),
        deviations=(
            *deviations(plan.timing, OF_CONNECTIONS, repetitions=len(found)),
            *_found_deviations(goal, found),
            *connection_deviations(session),
            *(tcp_deviations("5.2") if is_tcp else ()),
        ),
        remarks=(
            *_remarks(plan, goal, session.dut_name, course, len(found)),
            *cut_remarks(plan.repetitions, len(found), trials),
            about_memory,
        ),
        figures=(*_figures(found), *memory),
        counts=trials.counts,
    )


def _found_deviations(goal: CapacityGoal, found: Sequence[Capacity]) -> Iterator[Deviation]:
    """Yields by what the numbers that were found are not the capacity."""
    if is_coarse(goal.error, min((each.c for each in found), default=0)):
        yield Deviation.of(Differs.CAPACITY_ERROR, CLAUSE, error=goal.error)
    if any(each.at_most_tested for each in found):
        yield Deviation.of(Differs.CAPACITY_BOUND, CLAUSE)


def _within(goal: CapacityGoal, traffic: TrafficPlan) -> CapacityGoal:
    """Returns the goal, limited to as many connections as the ranges have combinations."""
    combinations = traffic.ranges.combinations
    if goal.c0 > combinations:
        raise ConfigurationError(
            C0,
            f": {goal.c0} connections are more than the {combinations} combinations of the "
            "initiator's ports and addresses (expected a lower number, or wider ranges)",
        )
    return replace(goal, most=min(goal.most, combinations))


def _search(
    plan: CapacityPlan,
    goal: CapacityGoal,
    trials: Trials,
    number: int,
    course: Course,
) -> Capacity:
    """Runs one search and returns its result; adds its events to `course`."""
    search = CapacitySearch(goal)
    # If the tester is too slow for a rate, the search itself repeats the trial.
    valid_trials = ValidTrials(trials=trials, repetition=number, slow_repeats=0)
    course.trials.append(valid_trials.done)
    while (attempt := search.next()) is not None:
        outcome = _outcome(plan, attempt, valid_trials, course)
        try:
            search.tell(outcome)
        except UnsafeStart as unsafe:
            raise DutError(
                f"{trials.session.dut_name} does not hold C0 = {goal.c0:,} connections at any "
                "rate; use a smaller ",
                C0,
                course.last_collapse,
            ) from unsafe
        except TooManyInvalid as invalid:
            raise TesterLimit(
                f"trials of {attempt.connections:,} connections at {attempt.rate_cps:,} a second "
                f"stay invalid: {why_invalid(valid_trials.done[-1])}"
            ) from invalid
        tried = attempt
    assert search.result is not None, "the search has ended"
    if search.result.cut_off:
        course.cut_off[number] = Remark.of(
            Topic.BOUND_OF_CAPACITY,
            connections=tried.connections,
            rate_cps=tried.rate_cps,
            why=why_invalid(valid_trials.done[-1]),
        )
    return search.result


def _outcome(
    plan: CapacityPlan,
    attempt: Attempt,
    valid_trials: ValidTrials,
    course: Course,
) -> Outcome:
    load = Establishing(
        rate_cps=attempt.rate_cps,
        alpha=plan.alpha,
        count=attempt.connections,
        pause_share=PAUSE_SHARE,
        repairs=True,
    )
    trials = valid_trials.trials
    try:
        trial = valid_trials.run(load, (attempt.safe, attempt.tested))
        collapse = trial.collapse
    except Collapsed as error:
        collapse = error.in_options
    except (DutError, TrialRefused) as error:
        if not _is_collapse(error, trials):
            raise
        collapse = error.in_options
        trials.session.observer.collapsed(Collapse(spec=trials.asked, error=collapse))
    if collapse:
        course.collapses.append(collapse)
        if not trials.session.past:  # else it was brought back before the interruption
            trials.session.dut.recover()
        return Outcome(answer=Answer.COLLAPSE)
    if trial.verdict is Verdict.INVALID:
        return Outcome(
            answer=Answer.TOO_SLOW if trial.too_slow else Answer.INVALID,
            may_repeat=not trials.retry_time.is_over,
        )
    passed = trial.verdict is Verdict.PASS
    course.repaired += passed and trial.result.lost > 0
    return Outcome(
        answer=Answer.PASS if passed else Answer.FAIL, held=connections_held(trial.result)
    )


def _is_collapse(error: DutError | TrialRefused, trials: Trials) -> bool:
    """Returns whether an error shows that the gateway itself is gone, which is a failed step.

    Any other error, such as a command that failed, says nothing about the gateway's table and ends
    the measurement.
    """
    if isinstance(error, TrialRefused):
        # The gateway has forwarded before, but no longer answers for its own addresses.
        return error.kind == "neighbour" and trials.counts.trials > 0
    try:
        _check_alive(trials.session.dut)
    except DutError:
        return True
    return False


def _survived(trial: TrialRecord, dut: Dut) -> dict[str, Any]:
    """Says of a trial that did not pass whether the gateway is gone."""
    if trial.verdict is not Verdict.PASS:
        try:
            _check_alive(dut)
        except DutError as gone:
            return {"collapse": gone.in_options}
    return {}


def _check_alive(dut: Dut) -> None:
    """Raises DutError if the gateway did not survive the trial that has just ended."""
    dut.before_trial()
    dut.trial_fault()  # ends what before_trial began


def _figures(found: list[Capacity]) -> tuple[Figure, ...]:
    columns: tuple[tuple[str, Unit, list[tuple[float, bool]]], ...] = (
        ("C0", "connections", [(each.c0, False) for each in found]),
        ("R0", "cps", [(each.r0_cps, each.r0_at_least) for each in found]),
        ("CS", "connections", [(each.cs, False) for each in found]),
        ("RS", "cps", [(each.rs_cps, each.rs_at_least) for each in found]),
        ("CT", "connections", [(each.ct, each.ct_at_least) for each in found]),
        (CAPACITY, "connections", [(each.c, each.at_most_tested) for each in found]),
    )
    return tuple(
        Figure(
            name=name,
            unit=unit,
            values=tuple(float(value) for value, _ in values),
            lower_bound=tuple(bound for _, bound in values),
            primary=name == CAPACITY,
        )
        for name, unit, values in columns
    )


def _remarks(
    plan: CapacityPlan, goal: CapacityGoal, name: str, course: Course, repetitions: int
) -> Iterator[Remark]:
    yield Remark.of(
        Topic.CAPACITY,
        alpha_ratio=plan.alpha,
        beta_ratio=goal.beta,
        gamma_ratio=goal.gamma,
        error=goal.error,
        rate_error=str(goal.rate_error),
    )
    if said := course.collapses:
        yield Remark.of(Topic.COLLAPSED, dut=name, times=len(said), why=said[-1])
    yield from [remark for number, remark in course.cut_off.items() if number <= repetitions][-1:]
    if course.repaired:
        yield Remark.of(Topic.REPAIRED, trials=course.repaired)
