"""Back-to-back frames: the longest burst without loss, and the buffer time that follows from it
(RFC 2544 section 26.4 as updated by RFC 9004)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from natxy.errors import TesterLimit
from natxy.exact import check
from natxy.measure.flows import Sent
from natxy.measure.plan import Plan, repeat
from natxy.measure.search_remarks import cut_remarks
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Segment
from natxy.model.verdict import Limit, Verdict
from natxy.procedure.at_rate import KNOWN_THROUGHPUT, Rate, found_rate
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import Bisection, SearchError
from natxy.setting import Setting
from natxy.trial.bursts import burst_rate
from natxy.trial.load import Frames
from natxy.trial.profile import Profile, few_repetitions
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import DRAIN, DURATION, Timing
from natxy.trial.trials import Trials
from natxy.trial.valid_trials import ValidTrials
from natxy.verdict.advice import explained
from natxy.verdict.pacing import Pace, takes_too_long

BURST = "back-to-back frames"
IMPLIED = "implied buffer time"
CORRECTED = "corrected buffer time"
FIRST_BURST = 64  # frames
# If a burst takes longer than its rate says, the gateway forwards frames in the meantime, so that
# a longer burst passes. The excess may be no more than a step takes at the throughput. The default
# step is the number of frames that the gateway forwards in this time.
EXCESS_S = Fraction(20, 10**6)
RFC_REPETITIONS = 50
RFC_WAIT_S = Fraction(2)  # after the burst was received (RFC 9004 section 6.2)
LONGEST_S = Fraction(1800)  # longest time to receive a burst; the RFC asks for 30 s of sending
BURST_RATE = Setting(
    "burst_rate_fps",
    "Rate within a burst, in frames a second",
    "FPS",
    default="the media's rate",
    short="Rate within a burst; by default the media's",
)
STEP = Setting(
    "step_frames",
    "Error of the search in frames: it ends when the longest burst is known to within N frames. A "
    "trial is invalid if its burst left too slowly, by more than N frames take at the throughput",
    "N",
    default=f"the frames that pass in {float(EXCESS_S * 10**6):g} us at the throughput",
    lowest=1,
    highest=10**6,
)
PROFILES = {
    "rfc": Profile(
        timing=Timing(duration_s=Fraction(2), drain_s=RFC_WAIT_S, settle_s=Fraction(0)),
        repetitions=RFC_REPETITIONS,
        least_repetitions=RFC_REPETITIONS,
        repetitions_of="RFC 2544 section 26.4",
    ),
    "quick": Profile(
        timing=Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 5), settle_s=Fraction(0)),
        repetitions=3,
    ),
}


@dataclass(frozen=True, kw_only=True)
class BackToBackPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    `timing.duration_s` is the duration of the longest burst, `timing.drain_s` the shortest wait
    after each burst.
    """

    burst_rate_fps: Annotated[int | None, BURST_RATE] = None
    throughput_fps: Annotated[int | None, KNOWN_THROUGHPUT] = None
    search: ThroughputPlan | None = None  # its search; None: one repetition with this timing
    step_frames: Annotated[int | None, STEP] = None
    invalid_repeats: int = INVALID_REPEATS

    def __post_init__(self) -> None:
        super().__post_init__()
        check(DURATION, self.timing.duration_s, lowest=0, highest=LONGEST_S)
        check(DRAIN, self.timing.drain_s, lowest=0, highest=LONGEST_S)

    def sent(self, result: Measurement) -> list[Sent]:
        """Returns the shortest burst of the result; empty if no burst passed."""
        bursts = [int(value) for f in result.figures if f.name == BURST for value in f.values]
        shortest = min((burst for burst in bursts if burst), default=None)
        rate_fps = result.conditions.rate_fps
        if rate_fps is None or shortest is None:
            return []
        return [Sent(rate_fps=rate_fps, frames=shortest, is_burst=True)]


def back_to_back(plan: BackToBackPlan, session: Session) -> Measurement:
    """Measures the longest burst of each repetition, and the buffer times that follow from it."""
    session = session.with_retry_time(plan.timing.retry_s)
    rate_fps = burst_rate(session, plan.burst_rate_fps, BURST_RATE)
    plan.timing.check_rate(BURST_RATE, rate_fps)
    found = _throughput(plan, session)
    train = Train(plan=plan, rate_fps=rate_fps, throughput=found)
    pace = Pace(rate_fps, train.excess_ns)
    trials = plan.trials(session, doubts=pace.judge)
    fills = found.fps < rate_fps
    bursts: list[_Burst] = []
    if fills:
        bursts = repeat(
            plan.repetitions,
            trials,
            lambda number: _longest(train, trials, number),
            lambda one: _figures([one], rate_fps, found)[:1],
            is_search=True,
        )
    done = len(bursts) if fills else plan.repetitions
    return Measurement(
        procedure="back-to-back",
        title="Back-to-back frames",
        reference="RFC 9004 section 6",
        conditions=plan.conditions(session, rate_fps=rate_fps),
        deviations=(*_deviations(plan, found, done), *session_deviations(session)),
        remarks=(
            *_remarks(train, bursts, fills=fills, pace=pace),
            *cut_remarks(plan.repetitions, done, trials),
        ),
        figures=_figures(bursts, rate_fps, found),
        counts=trials.counts,
    )


@dataclass(frozen=True, kw_only=True)
class Train:
    """The bursts of a measurement: their rate, and the time to wait after each."""

    plan: BackToBackPlan
    rate_fps: int
    throughput: Rate

    @property
    def longest(self) -> int:
        """Frames of the longest burst that is tried."""
        sent = self.rate_fps * self.plan.timing.duration_s
        return max(1, int(min(sent, self.throughput.fps * LONGEST_S)))

    @property
    def step(self) -> int:
        """The error of the longest burst, in frames."""
        if self.plan.step_frames is not None:
            return self.plan.step_frames
        return max(1, int(self.throughput.fps * EXCESS_S))

    @property
    def excess_ns(self) -> float:
        """The longest time that a burst may take beyond its rate: a step passes in it."""
        return self.step * 1e9 / self.throughput.fps

    def wait_s(self, frames: int) -> Fraction:
        """Returns the wait after a burst was received, at least the time that receiving took."""
        return max(self.plan.timing.drain_s, Fraction(frames, self.throughput.fps))

    def drain_s(self, frames: int) -> Fraction:
        """Returns the drain: the time to empty the buffer at the throughput, then the wait."""
        received_s = Fraction(frames, self.throughput.fps)
        return received_s - Fraction(frames, self.rate_fps) + self.wait_s(frames)

    def timing(self, frames: int) -> Timing:
        return replace(self.plan.timing, drain_s=self.drain_s(frames))

    def was_cut_off(self, frames: int, result: TrialResult) -> bool:
        """Returns whether frames arrived in the second half of the wait.

        The buffer then empties more slowly than at the throughput, and further frames may have
        arrived too late.
        """
        latest_ns = (self.drain_s(frames) - self.wait_s(frames) / 2) * 10**9
        delays = [kind.delay for stream in result.streams for _, kind in stream.counters()]
        return any(delay.max_ns > latest_ns for delay in delays if delay.count)


@dataclass(frozen=True, kw_only=True)
class _Burst:
    frames: int
    lower_bound: bool
    cut_off: bool = False  # a lower bound because the drain of a longer burst was too short


def _throughput(plan: BackToBackPlan, session: Session) -> Rate:
    if plan.throughput_fps is not None:
        return Rate(fps=plan.throughput_fps)
    seed = repetition_seed(plan.seed, 0)  # so that the search draws other ports
    search = plan.search or ThroughputPlan(timing=plan.timing, seed=plan.seed, repetitions=1)
    return found_rate(replace(search, seed=seed), KNOWN_THROUGHPUT, session)


def _longest(train: Train, trials: Trials, repetition: int) -> _Burst:
    """Returns the longest burst of one repetition.

    The search's whole numbers are frames of a burst here, not rates. All searches start with the
    same burst and are independent.
    """
    rate_fps = train.rate_fps
    search = Bisection(
        upper_fps=train.longest,
        first_fps=FIRST_BURST,
        error=SearchError(rate_fps=train.step),
    )
    valid_trials = ValidTrials(
        trials=trials,
        repetition=repetition,
        least=train.plan.invalid_repeats,
        is_too_slow=lambda trial: takes_too_long(trial, rate_fps, train.excess_ns),
    )
    reason, cut_off = None, False
    while (frames := search.next()) is not None:
        segment = Segment(frames=frames, rate_fps=rate_fps, pause_ns=0)
        trials.timing = train.timing(frames)
        trial = valid_trials.run(
            Frames(segments=(segment,), fills_buffers=True), (rate_fps, rate_fps)
        )
        if trial.invalid_reasons:
            too_slow = valid_trials.gave_up_too_slow
            reason = explained(trial.invalid_reasons, rate_fps, too_slow=too_slow)
        if trial.verdict is Verdict.FAIL:  # bursts that fail get shorter, so the last one counts
            cut_off = train.was_cut_off(frames, trial.result)
        search.tell(frames, trial.verdict)
    if search.result_fps is None and search.limit is Limit.TESTER:
        raise TesterLimit(f"no burst at {rate_fps} frames a second could be sent: {reason}")
    lower_bound = cut_off or search.limit is not Limit.DUT
    return _Burst(frames=search.result_fps or 0, lower_bound=lower_bound, cut_off=cut_off)


def _figures(bursts: Sequence[_Burst], rate_fps: int, throughput: Rate) -> tuple[Figure, ...]:
    """Returns the figures of RFC 9004 section 6.4; all are proportional to the length of the burst.

    If the throughput is a lower bound, the corrected buffer time is an upper bound. If the burst is
    a lower bound as well, nothing is known of the corrected time, and it is left out.
    """
    if not bursts:
        return ()
    bounds = tuple(burst.lower_bound for burst in bursts)
    implied_s = tuple(burst.frames / rate_fps for burst in bursts)
    share = 1 - throughput.fps / rate_fps
    figures = (
        Figure(
            name=BURST,
            unit="frames",
            values=tuple(float(burst.frames) for burst in bursts),
            lower_bound=bounds,
            statistic="mean",  # RFC 9004 section 6.4
        ),
        Figure(
            name=IMPLIED,
            unit="s",
            values=implied_s,
            lower_bound=bounds,
            statistic="mean",
            primary=False,
        ),
    )
    if throughput.lower_bound and any(bounds):
        return figures
    corrected = Figure(
        name=CORRECTED,
        unit="s",
        values=tuple(value * share for value in implied_s),
        lower_bound=bounds,
        upper_bound=(throughput.lower_bound,) * len(bursts),
        statistic="mean",
    )
    return (*figures, corrected)


def _remarks(
    train: Train, bursts: Sequence[_Burst], *, fills: bool, pace: Pace
) -> Iterator[Remark]:
    found = train.throughput
    sent = {"rate_fps": train.rate_fps, "longest": train.longest, "step": train.step}
    yield Remark.of(Topic.BURSTS_SENT, **sent)
    yield Remark.of(Topic.BURST_WAITS, least_s=train.plan.timing.drain_s)
    origin = Topic.CORRECTED_AS_FOUND if found.search else Topic.CORRECTED_AS_GIVEN
    yield Remark.of(origin, rate_fps=found.fps, **found.search)
    yield from found.invalid
    if found.lower_bound:
        is_unknown = any(burst.lower_bound for burst in bursts)
        yield Remark.of(Topic.CORRECTED_UNKNOWN if is_unknown else Topic.CORRECTED_IS_BOUND)
    if (excess_ns := pace.worst_excess_ns) > 0:
        frames = excess_ns * found.fps / 1e9
        yield Remark.of(Topic.BURSTS_LONGER, excess_ns=excess_ns, frames=frames)
    if any(burst.cut_off for burst in bursts):
        yield Remark.of(Topic.DRAIN_TOO_SHORT)
    if not fills:
        yield Remark.of(Topic.NO_BURST_FILLS)


def _deviations(plan: BackToBackPlan, throughput: Rate, repetitions: int) -> Iterator[Deviation]:
    yield from throughput.search_deviations
    if plan.throughput_fps is not None:
        yield Deviation.of(Differs.GIVEN_RATE, "RFC 9004 section 6.4")
    if throughput.lower_bound:
        yield Deviation.of(Differs.OF_A_BOUND, "RFC 9004 section 6.4")
    if plan.burst_rate_fps is not None:
        yield Deviation.of(Differs.BURST_RATE, "RFC 9004 section 6.2")
    if plan.timing.drain_s < RFC_WAIT_S:
        facts = {"has_s": plan.timing.drain_s, "asked_s": RFC_WAIT_S}
        yield Deviation.of(Differs.WAIT, "RFC 9004 section 6.2", **facts)
    yield from few_repetitions(repetitions, PROFILES["rfc"])
