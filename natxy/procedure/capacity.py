"""Connection tracking table capacity (RFC 9693; draft-lencse-v6ops-transition-scalability 2.6)."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, DutError, MeasurementError, TesterLimit, TrialRefused
from natxy.exact import make_exact
from natxy.model.measurement import Figure, Measurement
from natxy.model.verdict import Verdict
from natxy.procedure.advice import explained
from natxy.procedure.at_rate import conditions
from natxy.procedure.connection_conditions import of_phase_1
from natxy.procedure.connection_table import parameters_of
from natxy.procedure.establishment import DEFAULT_ALPHA
from natxy.procedure.establishment import PROFILES as ESTABLISHMENT_PROFILES
from natxy.procedure.observer import Observer
from natxy.procedure.phases import Establishing, connections_held
from natxy.procedure.profile import departures
from natxy.procedure.seeds import MAX_SEED
from natxy.procedure.series_of_tables import (
    check_each_frame_makes_one,
    connections_of,
    table_of,
)
from natxy.procedure.setup import ReadyTester, name_of
from natxy.procedure.timing import Timing, check
from natxy.procedure.trial import Trials
from natxy.procedure.valid_trials import ValidTrials
from natxy.search.capacity import (
    COARSEST,
    Answer,
    Attempt,
    Capacity,
    CapacityGoal,
    CapacitySearch,
    Outcome,
    TooManyInvalid,
    UnsafeStart,
)

CAPACITY = "connection tracking table capacity C"
# What a table holds does not depend on how evenly it was filled, and beta leaves a rate more room.
PAUSE_SHARE = Fraction(1, 4)
# Of a rate at which trials are disturbed: its search tries many rates, and a lower one is as good.
BUDGET_S = Fraction(1)
LEAST_REPEATS = 3
# A search confirms what decides it; a second one mostly shows the same number once more.
PROFILES = ESTABLISHMENT_PROFILES | {
    "quick": replace(ESTABLISHMENT_PROFILES["quick"], repetitions=1, rate_error=COARSEST)
}


@dataclass(frozen=True, kw_only=True)
class CapacityPlan:
    """`goal.c0` connections are surely taken. Each trial is validated at alpha times its rate."""

    timing: Timing
    seed: int
    repetitions: int
    goal: CapacityGoal
    alpha: Fraction = DEFAULT_ALPHA
    dut_name: str | None = None

    def __post_init__(self) -> None:
        make_exact(self, alpha="--alpha")
        check("--repetitions", self.repetitions, lowest=1, highest=10**6)
        check("--seed", self.seed, lowest=0, highest=MAX_SEED)
        check("--alpha", self.alpha, lowest=Fraction(1, 1000), highest=1000)


@dataclass(kw_only=True)
class Course:
    """What the searches of a measurement met on their way."""

    collapses: list[MeasurementError] = field(default_factory=list)
    repaired: int = 0  # trials that passed though the gateway's absence had lost frames of them

    @property
    def last_collapse(self) -> str:
        return f" ({self.collapses[-1]})" if self.collapses else ""


def capacity(
    plan: CapacityPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """The table C0 R0 CS RS CT C, a value each repetition."""
    observer = observer or Observer()
    connections_of(tester)
    check_each_frame_makes_one(tester)
    table_of(dut)
    goal = replace(_within(plan.goal, tester), told=parameters_of(dut).entries)
    trials = Trials(
        tester=tester, dut=dut, timing=plan.timing, campaign_seed=plan.seed, observer=observer
    )
    found: list[Capacity] = []
    course = Course()
    for number in range(1, plan.repetitions + 1):
        observer.repetition_started(number, plan.repetitions)
        found.append(_search(plan, goal, trials, number, course))
        observer.repetition_ended(_figures(found[-1:])[-1:])
    return Measurement(
        procedure="capacity",
        title="Connection tracking table capacity",
        reference="RFC 9693",
        conditions=of_phase_1(
            conditions(
                tester.with_connections(count=goal.c0),
                dut,
                plan.timing,
                seed=plan.seed,
                rate_fps=None,
                dut_name=plan.dut_name,
            ),
            validated=True,
        ),
        departures=tuple(d for d in departures(plan.timing) if not d.startswith("trials")),
        remarks=_remarks(plan, goal, name_of(dut), course),
        figures=_figures(found),
        counts=trials.counts,
    )


def _within(goal: CapacityGoal, tester: ReadyTester) -> CapacityGoal:
    """No more connections than the ranges have combinations."""
    combinations = tester.traffic.ranges.combinations
    if goal.c0 > combinations:
        raise ConfigurationError(
            f"--c0: {goal.c0} connections are more than the {combinations} combinations of the "
            "initiator's ports and addresses; wider ranges are right"
        )
    return replace(goal, most=min(goal.most, combinations))


def _search(
    plan: CapacityPlan,
    goal: CapacityGoal,
    trials: Trials,
    number: int,
    course: Course,
) -> Capacity:
    """What was found; what it met is added to `course`."""
    search = CapacitySearch(goal)
    # Repeats of a rate that the tester is too slow for are the search's own.
    valid_trials = ValidTrials(
        trials=trials, repetition=number, least=LEAST_REPEATS, budget_s=BUDGET_S, slow_repeats=0
    )
    while (attempt := search.next()) is not None:
        outcome = _outcome(plan, attempt, valid_trials, course)
        try:
            search.tell(outcome.answer, outcome.held)
        except UnsafeStart as unsafe:
            raise DutError(
                f"{name_of(trials.dut)} does not take C0 = {goal.c0:,} connections at any rate: a "
                f"smaller --c0 is right{course.last_collapse}"
            ) from unsafe
        except TooManyInvalid as invalid:
            last = valid_trials.done[-1]
            raise TesterLimit(
                f"trials of {attempt.connections:,} connections at {attempt.rate_cps:,} a second "
                "stay invalid: "
                f"{explained(last.invalid_reasons, attempt.rate_cps, too_slow=last.too_slow)}"
            ) from invalid
    assert search.result is not None, "the search has ended"
    return search.result


def _outcome(
    plan: CapacityPlan,
    attempt: Attempt,
    valid_trials: ValidTrials,
    course: Course,
) -> Outcome:
    load = Establishing(
        rate_fps=attempt.rate_cps,
        alpha=plan.alpha,
        count=attempt.connections,
        pause_share=PAUSE_SHARE,
        repairs=True,
    )
    trials = valid_trials.trials
    try:
        trial = valid_trials.run(load, (attempt.safe, attempt.tested))
        if trial.verdict is not Verdict.PASS:
            _check_alive(trials.dut)
    except (DutError, TrialRefused) as error:
        if not _is_collapse(error, trials):
            raise
        course.collapses.append(error)
        trials.dut.recover()
        return Outcome(answer=Answer.COLLAPSE)
    if trial.verdict is Verdict.INVALID:
        return Outcome(answer=Answer.TOO_SLOW if trial.too_slow else Answer.INVALID)
    passed = trial.verdict is Verdict.PASS
    course.repaired += passed and trial.result.lost > 0
    return Outcome(
        answer=Answer.PASS if passed else Answer.FAIL, held=connections_held(trial.result)
    )


def _is_collapse(error: DutError | TrialRefused, trials: Trials) -> bool:
    """Only what tells that the gateway itself is gone is a failed step. A command that failed, or a
    lab's error, says nothing of the gateway's table: it ends the measurement."""
    if isinstance(error, TrialRefused):
        # A device that has forwarded and does not answer for its own addresses any more.
        return error.kind == "neighbour" and trials.counts.trials > 0
    try:
        _check_alive(trials.dut)
    except DutError:
        return True
    return False


def _check_alive(dut: Dut) -> None:
    """DutError if the trial that has just ended was the device's last."""
    dut.before_trial()
    dut.trial_fault()  # ends what that began


def _figures(found: list[Capacity]) -> tuple[Figure, ...]:
    columns = (
        ("C0", "connections", [(each.c0, False) for each in found]),
        ("R0", "cps", [(each.r0_cps, each.r0_at_least) for each in found]),
        ("CS", "connections", [(each.cs, False) for each in found]),
        ("RS", "cps", [(each.rs_cps, each.rs_at_least) for each in found]),
        ("CT", "connections", [(each.ct, False) for each in found]),
    )
    beside = tuple(
        Figure.model_validate(
            {
                "name": name,
                "unit": unit,
                "values": tuple(float(value) for value, _ in values),
                "lower_bound": tuple(bound for _, bound in values),
                "primary": False,
            }
        )
        for name, unit, values in columns
    )
    return (
        *beside,
        Figure(
            name=CAPACITY,
            unit="connections",
            values=tuple(float(each.c) for each in found),
            lower_bound=tuple(each.at_most_tested for each in found),
        ),
    )


def _remarks(plan: CapacityPlan, goal: CapacityGoal, name: str, course: Course) -> tuple[str, ...]:
    said = [
        f"alpha {float(plan.alpha):g}, beta {float(goal.beta):g}, gamma {float(goal.gamma):g}, "
        f"E {goal.error:,}; rates within {goal.rate_error}; a trial that failed was made again.",
    ]
    if course.collapses:
        said.append(
            f"{name} collapsed {len(course.collapses)} times and was brought back"
            f"{course.last_collapse}."
        )
    if course.repaired:
        said.append(
            f"{course.repaired:,} trials passed though frames were lost while the gateway was "
            "away: no more than that explains, and their connections were there when they were "
            "made, or asked, again slowly."
        )
    return tuple(said)
