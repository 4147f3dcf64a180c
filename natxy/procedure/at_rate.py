"""The rate of a measurement, and procedures that repeat a trial at it: latency, PDV and IPDV.

The rate is the throughput, which is measured first, or a given rate (RFC 2544 section 26.2, RFC
8219 section 7).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError, DutError
from natxy.measure.flows import Sent
from natxy.measure.plan import Plan, repeat
from natxy.measure.search_remarks import THROUGHPUT, lower_bound
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.coded import Fact
from natxy.model.deviation import Deviation, Deviations, Differs, without
from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Figure, Measurement, TrialCounts, Unit
from natxy.model.remark import Remark, Remarks, Topic, applying
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import NO_RECORDING, Direction, Recording
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.setting import Setting, setting_of
from natxy.statistics import median
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.judge import Doubts
from natxy.trial.load import Frames, steady
from natxy.trial.profile import RFC, few_repetitions
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import RATE
from natxy.verdict.delay_error import QUIET, DelayError, doubts, error_remarks

NO_TRIALS = TrialCounts()
Key = tuple[Direction, str]  # of a figure: its direction and its name
SEARCH_S = Fraction(60)  # longest trial of the search (RFC 2544 section 24)
KNOWN_THROUGHPUT = Setting(
    "throughput_fps",
    "Throughput that was measured before, in frames a second",
    "FPS",
    default="it is searched for first",
    short="Throughput, if it is known",
)
TAGS_AFTER = Setting(
    "tags_after_s",
    "Seconds of a trial before its first tagged frame",
    "S",
    default="half of the duration",
)


@dataclass(frozen=True, kw_only=True)
class RatePlan(Plan):
    """The options of a measurement at one rate, checked when the plan is created."""

    rate_fps: Annotated[int | None, RATE] = None  # None: the throughput, which is measured first
    search: ThroughputPlan | None = None  # its search; None: one repetition with this timing
    invalid_repeats: int = INVALID_REPEATS
    records: bool = False  # record every frame, to the pipe with which the session was set up

    @property
    def finds_rate(self) -> bool:
        return self.rate_fps is None

    def sent(self, result: Measurement) -> list[Sent]:
        """Returns what a trial of the result sent."""
        rate_fps = result.conditions.rate_fps
        assert rate_fps is not None, "each trial has the same rate"
        return [Sent.lasting(rate_fps, self.timing.duration_s)]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The rate of a measurement, per direction, and its origin."""

    fps: int
    search: Mapping[str, Fact] = field(default_factory=dict)  # facts of it; empty: it was given
    counts: TrialCounts = NO_TRIALS  # of the search
    lower_bound: bool = False  # the gateway's throughput is at least this rate
    deviations: Deviations = ()  # deviations of the search from RFC 2544

    @property
    def search_deviations(self) -> Deviations:
        """The deviations of the search as those of the procedure that uses its result."""
        return tuple(each.model_copy(update={"where": "throughput"}) for each in self.deviations)

    @property
    def remarks(self) -> Remarks:
        if not self.search:
            return (Remark.of(Topic.RATE_GIVEN),)
        found = Remark.of(Topic.RATE_FOUND, **self.search)
        return (found, *self.invalid, *applying({Topic.RATE_IS_BOUND: self.lower_bound}))

    @property
    def invalid(self) -> Remarks:
        """A remark on the invalid trials of the search, if it had some."""
        of = self.counts
        if not of.invalid_trials:
            return ()
        remark = Remark.of(
            Topic.INVALID_IN_SEARCH,
            invalid=of.invalid_trials,
            trials=of.trials,
            invalid_percent=of.invalid_percent,
        )
        return (remark,)


def rate_of(plan: RatePlan, session: Session) -> Rate:
    if plan.rate_fps is not None:
        return Rate(fps=plan.rate_fps)
    timing = replace(plan.timing, duration_s=min(plan.timing.duration_s, SEARCH_S))
    search = plan.search or ThroughputPlan(timing=timing, seed=plan.seed, repetitions=1)
    search = replace(search, seed=repetition_seed(plan.seed, 0))
    return found_rate(search, setting_of(plan, "rate_fps"), session)


def rate_deviations(plan: RatePlan, rate: Rate, clause: str) -> Deviations:
    """Returns the deviations of a rate from a clause that requires the throughput itself."""
    if plan.rate_fps is not None:
        return (Deviation.of(Differs.GIVEN_RATE, clause),)
    bound = Deviation.of(Differs.OF_A_BOUND, clause)
    return (*rate.search_deviations, *((bound,) if rate.lower_bound else ()))


def found_rate(search: ThroughputPlan, setting: Setting, session: Session) -> Rate:
    """Measures the throughput; returns the median of its repetitions, rounded down to a whole rate.

    `search` has another seed than the measurement that uses the rate, so that it draws other ports.
    `setting` gives the rate of that measurement.
    """
    with session.half_of_the_retry_time() as own:
        found = throughput(search, own)
    figure = found.figures[0]
    rate_fps = int(median(figure.values))
    if rate_fps == 0:
        raise DutError(
            f"{found.conditions.dut} loses frames at every rate, so there is no throughput to "
            "measure at; set ",
            setting,
        )
    count = len(figure.values)
    return Rate(
        fps=rate_fps,
        search={
            "searches": float(count),
            "duration_s": float(search.timing.duration_s),
            "error": str(search.error),
        },
        counts=found.counts,
        lower_bound=figure.is_lower_bound(rate_fps),
        deviations=without(found.deviations, _not_of_search(session, count)),
    )


def _not_of_search(session: Session, repetitions: int) -> Deviations:
    """Returns deviations of a throughput that its user names itself, or that concern only a
    throughput that is a result."""
    few = few_repetitions(repetitions, RFC)
    return (*session_deviations(session), *few, lower_bound(THROUGHPUT))


@dataclass(frozen=True, kw_only=True)
class AtRate:
    """The definition of such a procedure: its names, what it records, and its figures."""

    procedure: str
    title: str
    reference: str
    figures: Callable[[StreamResult], Sequence[Figure]]  # of one repetition
    recording: Recording = NO_RECORDING
    errors: Callable[[TrialResult, Disturbance], Sequence[DelayError]] = lambda *_: ()
    refuses: Doubts = lambda _: ()  # other reasons for INVALID
    deviations: Deviations = ()
    remarks: Callable[[Session, Sequence[TrialRecord]], Remarks] = lambda *_: ()


def figures_of(
    stream: StreamResult, unit: Unit, values: Mapping[str, float], *, primary: bool = True
) -> list[Figure]:
    """Returns figures of one repetition, in the stream's direction; `values` has them by name."""
    way = stream.direction
    return [
        Figure(name=name, unit=unit, direction=way, values=(float(value),), primary=primary)
        for name, value in values.items()
    ]


def measure(what: AtRate, plan: RatePlan, session: Session) -> Measurement:
    _check_queues(what, plan, session.testbed.tester.rx_queues)
    session = session.with_retry_time(plan.timing.retry_s)
    rate = rate_of(plan, session)
    load = _load(what, plan, rate.fps)
    trials = plan.trials(
        session,
        doubts=lambda result: (*what.refuses(result), *doubts(what.errors(result, QUIET))),
        measures_delays=True,
    )

    def measured(number: int) -> TrialRecord:
        trial = trials.run_valid(load, number, plan.invalid_repeats)
        trials.check_arrivals()  # before its figures: a lost tag has a delay, too
        return trial

    valid = repeat(
        plan.repetitions,
        trials,
        measured,
        lambda trial: _shown(what, trial),
    )
    refuse_without_connections(valid)
    return Measurement(
        procedure=what.procedure,
        title=what.title,
        reference=what.reference,
        conditions=plan.conditions(session, rate_fps=rate.fps),
        deviations=(
            *what.deviations,
            *rate_deviations(plan, rate, what.reference),
            # Of every delay (docs/decisions/0006).
            Deviation.of(Differs.DEPARTURE, f"{what.reference}; RFC 1242 section 3.8"),
            *session_deviations(session),
        ),
        remarks=(
            *rate.remarks,
            *what.remarks(session, valid),
            *error_remarks([what.errors(trial.result, trial.disturbance) for trial in valid]),
        ),
        figures=_figures(what, valid),
        counts=trials.counts,
    )


def _load(what: AtRate, plan: RatePlan, rate_fps: int) -> Frames:
    recording = what.recording.model_copy(update={"frames": plan.records})
    load = steady(rate_fps, plan.timing.duration_s, recording)
    last_due_ns = (sum(segment.frames for segment in load.segments) - 1) * 10**9 // rate_fps
    tags = recording.tags
    if tags is not None and tags.after_ns > last_due_ns:
        raise ConfigurationError(
            TAGS_AFTER,
            f": {tags.after_ns / 1e9:g} s is after the last frame of a trial at {rate_fps} frames "
            f"a second (expected 0 to {last_due_ns / 1e9:g})",
        )
    return load


def _check_queues(what: AtRate, plan: RatePlan, queues: int) -> None:
    """ConfigurationError if all frames of a stream must reach one receiver, and do not."""
    needs_one = "IPDV" if what.recording.ipdv else "a record of every frame" if plan.records else ""
    if needs_one and queues > 1:
        raise ConfigurationError(
            f"tester.rx_queues: is {queues}, but {needs_one} needs one receive queue (expected 1)"
        )


def _shown(what: AtRate, trial: TrialRecord) -> tuple[Figure, ...]:
    """Returns the figures of a trial; raises LostConnections if there are none for this reason."""
    try:
        return _figures(what, [trial])
    except DutError:
        refuse_without_connections([trial])
        raise


def _figures(what: AtRate, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    collected: dict[Key, list[Figure]] = {}
    errors_ns: dict[Key, list[float]] = {}
    for trial in trials:
        for error in what.errors(trial.result, trial.disturbance):
            errors_ns.setdefault((error.direction, error.name), []).append(error.error_ns)
        for stream in trial.result.streams:
            for figure in what.figures(stream):
                collected.setdefault((stream.direction, figure.name), []).append(figure)
    return tuple(
        _of_repetitions(figures, errors_ns.get(key, ())) for key, figures in collected.items()
    )


def _of_repetitions(figures: Sequence[Figure], errors: Sequence[float]) -> Figure:
    """Returns a figure with the values of several, and the errors that the timing caused."""
    bounds = tuple(bound for each in figures for bound in each.lower_bound)
    return figures[0].model_copy(
        update={
            "values": tuple(value for each in figures for value in each.values),
            "lower_bound": bounds if any(bounds) else (),
            "errors": tuple(errors),
        }
    )
