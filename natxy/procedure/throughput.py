"""Throughput: the highest rate at which all frames sent are received (RFC 2544 section 26.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, ClassVar

from natxy.errors import ConfigurationError
from natxy.measure.flows import Sent
from natxy.measure.plan import repeat
from natxy.measure.search_plan import EARLY_END, PATIENCE, SearchPlan, rate_figure, searched
from natxy.measure.search_remarks import (
    THROUGHPUT,
    all_lost,
    burst_remarks,
    cut_remarks,
    found_deviations,
    no_burst_passed,
    rate_remarks,
    search_deviations,
    zero_remarks,
)
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.measurement import Conditions, Figure, Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import GROWTH, Bisection, SearchError
from natxy.search.settings import LOSS, MAX_RATE, LossTolerance
from natxy.trial.bound import Bounded, without_disproved
from natxy.trial.bursts import BURSTS, LEAST_BURSTS, Bursts, silence_s
from natxy.trial.confirmed_search import ConfirmedSearch
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Frames, steady
from natxy.trial.maximum import Maximum, maximum_of
from natxy.trial.profile import RFC, deviations, few_repetitions
from natxy.trial.session import Session
from natxy.trial.timing import DRAIN, FRAME_TIMEOUT
from natxy.trial.trials import Trials
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.counted import Counting

FIRST_GUESS_FPS = 1000  # the first rate if the maximum is unknown
SHORTEST_S = Fraction(1, 20)  # starting and ending take an insignificant share of it
HOPELESS_FPS = 1000  # a trial that is INVALID at this rate has another reason than the rate


@dataclass(frozen=True, kw_only=True)
class ThroughputPlan(SearchPlan):
    """The options of a measurement, checked when the plan is created."""

    max_rate_fps: Annotated[int | None, MAX_RATE] = None
    # Frames that a queue on the path holds. A trial then lasts only as long as an overload by the
    # search's error needs to fill the queue, so that noise makes fewer trials invalid. None: a
    # trial lasts as long as `timing` says.
    buffer_frames: int | None = None
    patience_s: Annotated[Fraction | None, PATIENCE] = None
    bursts: Bursts | None = None  # None: steady traffic
    can_last: ClassVar[bool] = True  # a trial may last longer than others

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.early_end and not (self.timing.frame_timeout_s or self.timing.drain_s):
            raise ConfigurationError(
                *(EARLY_END, ": needs a time after which a frame is lost (expected a "),
                *(FRAME_TIMEOUT, " or a ", DRAIN, " of more than 0)"),
            )
        if self.early_end and self.loss is not None:
            raise ConfigurationError(
                *(EARLY_END, ": is not possible with ", LOSS, ", since trials end at their first "),
                "certain loss (expected one of them)",
            )

    def duration_s(self, rate_fps: int) -> Fraction:
        longest_s = self.timing.duration_s
        if self.buffer_frames is None:
            return longest_s
        fills_s = Fraction(self.buffer_frames, self.error.at(rate_fps))
        return min(longest_s, max(SHORTEST_S, fills_s))

    @property
    def burst_frames(self) -> int:
        return 1 if self.bursts is None else self.bursts.frames

    def first_fps(self, maximum: Maximum) -> int | None:
        """Returns the first rate of a search: a guess if the maximum is unknown; None: it."""
        return None if maximum.rate_fps else max(FIRST_GUESS_FPS, self.least_fps)

    @property
    def least_fps(self) -> int:
        """The lowest rate that is tried."""
        return 1 if self.bursts is None else self.bursts.least_fps(self.timing.duration_s)

    def maximum(self, session: Session) -> Maximum:
        """Returns the highest rate that a search tries."""
        return maximum_of(session.hello, session.traffic, self.max_rate_fps)

    def load(
        self,
        rate_fps: int,
        above_fps: int = 0,
        longer: int = 1,
        burst_rate_fps: int | None = None,
    ) -> Frames:
        """Returns the load of a trial, which lasts `longer` times as long as usual.

        A frame is lost after the frame timeout or, if there is none, after the drain. The counted
        rate must exceed `above_fps`.
        """
        duration_s = longer * self.duration_s(rate_fps)
        accepted = self.loss or LossTolerance()
        short = self.timing.duration_s < RFC.timing.duration_s
        load = steady(rate_fps, duration_s)
        if self.bursts is not None and burst_rate_fps is not None:
            segment = self.bursts.segment(rate_fps, duration_s, burst_rate_fps)
            load = replace(load, segments=(segment,))
        (segment,) = load.segments
        counting = Counting(above_fps=above_fps, short=short, silence_s=silence_s(segment))
        load = replace(load, accepted=accepted, counting=counting)
        lost_after_s = self.timing.frame_timeout_s or self.timing.drain_s
        return replace(load, early_end_s=lost_after_s) if self.early_end else load

    def sent(self, result: Measurement) -> list[Sent]:
        """Returns what the trials of the lowest result sent."""
        lowest_fps = int(min(result.figures[0].values))
        return [Sent.lasting(lowest_fps, self.duration_s(lowest_fps))]

    @property
    def deviations(self) -> Deviations:
        """Deviations of the options from RFC 2544."""
        short = None if self.buffer_frames is None else min(SHORTEST_S, self.timing.duration_s)
        said = list(deviations(self.timing, shortest_s=short))
        if self.timing.frame_timeout_s:
            timeout_ns = self.timing.frame_timeout_s * 10**9
            said.append(Deviation.of(Differs.FRAME_TIMEOUT, THROUGHPUT, timeout_ns=timeout_ns))
        if self.bursts is not None and self.bursts.rate_fps is not None:
            said.append(Deviation.of(Differs.BURST_RATE, "RFC 2544 section 21"))
        return (*said, *search_deviations(self, THROUGHPUT))


def throughput(plan: ThroughputPlan, session: Session) -> Measurement:
    """Measures the throughput; each repetition is a separate search with its own seed."""
    trials = plan.trials(session)
    found = searches(plan, trials)
    return Measurement(
        procedure="throughput",
        title="Throughput",
        reference="RFC 2544 section 26.1",
        conditions=_conditions(plan, session, found),
        deviations=(
            *plan.deviations,
            *found_deviations(plan, found, THROUGHPUT),
            *few_repetitions(len(found), RFC),
            *session_deviations(session),
        ),
        remarks=(
            *_remarks(plan, session, found),
            *cut_remarks(plan.repetitions, len(found), trials),
        ),
        figures=_figures(plan, found),
        counts=searched(trials, found),
    )


def searches(plan: ThroughputPlan, trials: Trials) -> list[Bounded]:
    """Runs the searches of a measurement; none starts when its time is over."""
    rates = _Rates.of(plan, trials.session)

    def goes_on(found: Sequence[Bounded]) -> bool:
        # The time of the trials, not of a clock: a resumed campaign has to decide alike.
        return plan.patience_s is None or sum(each.planned_s for each in found) < plan.patience_s

    found = repeat(
        plan.repetitions,
        trials,
        lambda number: _search(plan, rates, trials, number),
        lambda one: _figures(plan, [one]),
        goes_on=goes_on,
        is_search=True,
    )
    return without_disproved(found)


@dataclass(frozen=True, kw_only=True)
class _Rates:
    """The rates that bound a search."""

    maximum: Maximum
    first_fps: int | None  # None: the highest
    highest_fps: int
    burst_fps: int | None  # within a burst; None: steady traffic

    @classmethod
    def of(cls, plan: ThroughputPlan, session: Session) -> "_Rates":
        """Raises ConfigurationError if trials of bursts would be too long at every rate."""
        maximum = plan.maximum(session)
        burst_fps = None if plan.bursts is None else plan.bursts.rate_of(session)
        # Bursts at the burst rate would be steady traffic.
        known = (maximum.rate_fps, burst_fps, MAX_RATE_FPS, plan.timing.highest_rate_fps)
        highest_fps = min(rate_fps for rate_fps in known if rate_fps is not None)
        if plan.bursts is not None and highest_fps < plan.least_fps:
            raise ConfigurationError(
                BURSTS,
                f": {LEAST_BURSTS} bursts of {plan.bursts.frames} frames at {highest_fps} frames a "
                f"second make too long a trial (expected a rate of {plan.least_fps} or more)",
            )
        return cls(
            maximum=maximum,
            first_fps=plan.first_fps(maximum),
            highest_fps=highest_fps,
            burst_fps=burst_fps,
        )

    def search(self, error: SearchError) -> Bisection:
        """Returns a new search.

        The first rate is the same for each repetition: if one started where another ended, the
        result would not show how far repetitions scatter.
        """
        return Bisection(
            upper_fps=self.highest_fps,
            first_fps=self.first_fps,
            growth=GROWTH,
            error=error,
        )


def _search(plan: ThroughputPlan, rates: _Rates, trials: Trials, number: int) -> Bounded:
    search = rates.search(plan.error)
    valid_trials = ValidTrials(trials=trials, repetition=number, least=plan.invalid_repeats)
    confirmed = ConfirmedSearch(
        search=search,
        valid_trials=valid_trials,
        repeats=plan.loss_verifications,
        load=lambda rate_fps, above_fps, longer: plan.load(
            rate_fps, above_fps, longer, rates.burst_fps
        ),
        least_fps=plan.least_fps,
        can_last=plan.can_last,
        is_steady=plan.bursts is None,
        accepted=plan.loss.fraction if plan.loss else Fraction(0),
    )
    confirmed.run(lambda: _check_hope(search, valid_trials, HOPELESS_FPS))
    _check_hope(search, valid_trials, MAX_RATE_FPS)
    done = valid_trials.done
    refuse_without_connections(done)
    # The last trial that passed at the result's rate.
    passed = [t for t in done if t.verdict is Verdict.PASS and t.counted_fps == search.result_fps]
    return confirmed.result(rates.maximum, passed[-1:])


def _check_hope(search: Bisection, valid_trials: ValidTrials, below_fps: int) -> bool:
    """Raises TesterLimit if no rate passed, and trials at `below_fps` or less are invalid.

    Trials at lower rates would be invalid as well.
    """
    _, ceiling_fps = search.bracket
    nothing_passed = search.result_fps is None and search.limit is Limit.TESTER
    if nothing_passed and ceiling_fps <= below_fps:
        raise valid_trials.nothing_passed(ceiling_fps)
    return False


def _conditions(plan: ThroughputPlan, session: Session, found: Sequence[Bounded]) -> Conditions:
    rates = _Rates.of(plan, session)
    search = plan.search_conditions(
        found,
        rates.maximum,
        loss_accepted=str(plan.loss or ""),
        burst_frames=plan.burst_frames,
        burst_rate_fps=rates.burst_fps,
    )
    return plan.conditions(session, search=search)


def _figures(plan: ThroughputPlan, found: Sequence[Bounded]) -> tuple[Figure, ...]:
    """Returns the throughput and, for bursts, the least interval between them."""
    frames = plan.burst_frames
    bursts = f", bursts of {frames:,}" if frames > 1 else ""
    accepted = "" if plan.loss is None else f", {plan.loss} accepted"
    rate = rate_figure(f"throughput{bursts}{accepted}", "fps", found)
    if frames == 1 or 0 in rate.values:
        return (rate,)
    interval = Figure(
        name=f"least interval between bursts of {frames:,}",
        unit="s",
        values=tuple(frames / rate_fps for rate_fps in rate.values),
        upper_bound=rate.lower_bound,
        primary=False,
    )
    return (rate, interval)


def _remarks(plan: ThroughputPlan, session: Session, found: Sequence[Bounded]) -> Iterator[Remark]:
    yield Remark.of(Topic.SEARCH, error=str(plan.error))
    yield from burst_remarks(plan.bursts, session)
    yield from rate_remarks(found, "fps")
    if any(each.limit is Limit.MAXIMUM and not each.lower_bound for each in found):
        yield Remark.of(Topic.MEDIA)
    if plan.bursts is None:
        yield from all_lost(found, "frames")
    else:
        why = no_burst_passed(plan.bursts, plan.least_fps)
        yield from zero_remarks((each.rate_fps for each in found), why)
