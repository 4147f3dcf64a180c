"""The search for a maximum connection establishment rate (RFC 9693), which other searches use.

A search ends if connections failed for another reason than the rate, such as a full table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, TypeVar

from natxy.errors import ConfigurationError
from natxy.measure.plan import repeat
from natxy.measure.search_plan import EARLY_END, SearchPlan
from natxy.model.measurement import Figure
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import CLOSE, MAX_RATE_FPS, VALIDATE
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import DEFAULT_ERROR, GROWTH, Bisection, SearchError
from natxy.search.settings import LOSS, NO_LOSS, error_of, max_rate_of
from natxy.setting import Setting
from natxy.trial.bound import Bounded, without_disproved
from natxy.trial.confirmed_search import ConfirmedSearch
from natxy.trial.connection_table import check_answers, explain_incomplete
from natxy.trial.establishing import Establishing
from natxy.trial.maximum import Maximum, maximum_of_connections
from natxy.trial.profile import QUICK, RFC
from natxy.trial.timing import DRAIN
from natxy.trial.trials import Trials
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.counted import Counting

STEADY_S = Fraction(1, 4)
QUARTER = 3.9  # nearly 4, since rates are rounded down
MORE = 1.01  # if the rate limits the connections, a lower rate creates more by this factor
DEFAULT_ALPHA = Fraction(1, 2)
LOWEST_GUESS_CPS, HIGHEST_GUESS_CPS = 1000, 100_000
LOST_AT_EVERY_RATE = ("as many are lost at every rate; use ", LOSS, " to accept a share of them")
HOPELESS_CPS = 1000  # a trial that is INVALID at this rate has another reason than the rate
LONGEST_S = 60  # a phase 1 that lasts as long and fails would fail at lower rates as well
PROFILES = {"rfc": RFC, "quick": replace(QUICK, buffer_frames=None)}

MAX_RATE = max_rate_of("max_rate_cps", "connections a second")
FIRST = Setting(
    "first_cps",
    "First rate of the search",
    "CPS",
    default="the maximum, or a guess",
    lowest=1,
    highest=MAX_RATE_FPS,
)
ALPHA = Setting(
    "alpha",
    "Rate of validation, as a share of phase 1's rate",
    "SHARE",
    default="no validation",
    lowest=Fraction(1, 1000),
    highest=1000,
)


def is_stuck(done: Sequence[TrialRecord], frames: int) -> bool:
    """Returns whether trials failed for another reason than their rate.

    This is so if a trial at a quarter of the rate got no more connections than a faster one that
    was long in comparison to what a queue holds.
    """
    last = done[-1]
    if last.verdict is not Verdict.FAIL:
        return False
    faster = (
        trial
        for trial in done
        if trial.verdict is Verdict.FAIL
        and trial.rate_fps > last.rate_fps * QUARTER
        and frames >= trial.rate_fps * STEADY_S
    )
    return any(_came_through(last) <= _came_through(trial) * MORE for trial in faster)


def _came_through(trial: TrialRecord) -> int:
    """Returns how many connections were created or, after a complete phase 1, answered; in a
    tear-down, how many were closed."""
    if closed := trial.result.stream_of(CLOSE):
        return closed.sent - closed.lost
    validated = trial.result.stream_of(VALIDATE)
    if validated is not None:
        return validated.sent - validated.lost
    return trial.result.connections.stored if trial.result.connections else 0


@dataclass(frozen=True, kw_only=True)
class EstablishmentPlan(SearchPlan):
    """The options of a measurement, checked when the plan is created.

    The duration of a trial follows from the number of connections and the rate; only the drain and
    the settle time of `timing` are used. If `alpha` is given, each trial is validated at that share
    of its rate. `loss` is the share of frames that may be lost in phase 1 and in validation.
    """

    error: Annotated[SearchError, error_of("connections a second")] = DEFAULT_ERROR
    max_rate_cps: Annotated[int | None, MAX_RATE] = None
    first_cps: Annotated[int | None, FIRST] = None
    alpha: Annotated[Fraction | None, ALPHA] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.early_end and (self.loss is not None or not self.timing.drain_s):
            raise ConfigurationError(
                *(EARLY_END, ": is not possible with ", LOSS, " or a ", DRAIN, " of 0, since "),
                "trials end at their first certain loss (expected neither)",
            )

    def load(self, rate_cps: int, above_cps: int) -> Establishing:
        """Returns the load of a trial; its rate, lowered by pauses, must exceed `above_cps`."""
        return Establishing(
            rate_cps=rate_cps,
            alpha=self.alpha,
            accepted=self.loss or NO_LOSS,
            early_end_s=self.timing.drain_s if self.early_end else Fraction(0),
            counting=Counting(above_fps=above_cps, short=True),
        )


AnyPlan = TypeVar("AnyPlan", bound=EstablishmentPlan)


def searches(
    plan: AnyPlan,
    trials: Trials,
    figures: Callable[[AnyPlan, Sequence[Bounded]], Sequence[Figure]],
) -> list[Bounded]:
    """Runs a search for each repetition; `figures` has what the observer is told of one."""
    session = trials.session
    maximum = maximum_of_connections(session.hello, session.traffic, plan.max_rate_cps)
    done = repeat(
        plan.repetitions,
        trials,
        lambda number: _search(plan, trials, number, maximum),
        lambda one: figures(plan, [one]),
        is_search=True,
    )
    return without_disproved(done)


def _search(plan: EstablishmentPlan, trials: Trials, number: int, maximum: Maximum) -> Bounded:
    """Runs one bisection; all start at the same rate, so that they show how far searches scatter.

    Raises TesterLimit if no rate passes and low rates are invalid.
    """
    asked = trials.session.traffic.required_connections
    bisection = Bisection(
        upper_fps=maximum.rate_fps or MAX_RATE_FPS,
        first_fps=plan.first_cps or (None if maximum.rate_fps else first_guess(asked.count)),
        growth=GROWTH,
        error=plan.error,
    )
    valid_trials = ValidTrials(trials=trials, repetition=number, least=plan.invalid_repeats)
    confirmed = ConfirmedSearch(
        search=bisection,
        valid_trials=valid_trials,
        repeats=plan.loss_verifications,
        load=lambda rate_cps, above_cps, _: plan.load(rate_cps, above_cps),
        can_last=False,
        accepted=plan.loss.fraction if plan.loss else Fraction(0),
    )
    confirmed.run(lambda: _hopeless(bisection, valid_trials, asked.count))
    return confirmed.result(maximum, valid_trials.done)


def first_guess(frames: int) -> int:
    """Returns the first rate if the maximum is unknown: a trial takes 0.25 s, within limits."""
    return max(LOWEST_GUESS_CPS, min(frames * 4, HIGHEST_GUESS_CPS))


def _hopeless(bisection: Bisection, valid_trials: ValidTrials, frames: int) -> bool:
    """Returns whether no rate has passed so far, and lower rates would not pass either."""
    if bisection.result_fps is not None:
        return False
    _, top_cps = bisection.bracket
    slow = frames >= top_cps * LONGEST_S
    if bisection.limit is Limit.TESTER:
        if slow or top_cps <= HOPELESS_CPS:
            raise valid_trials.nothing_passed(top_cps, "connections")
        return False
    done = valid_trials.done
    if not is_stuck(done, frames):
        return slow
    if done[-1].result.incomplete:
        explain_incomplete(done[-1], valid_trials.trials.session.dut, LOST_AT_EVERY_RATE)
    check_answers(done[-1])
    return True
