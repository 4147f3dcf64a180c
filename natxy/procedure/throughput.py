"""Throughput: the highest rate at which all that was sent is received (RFC 2544 section 26.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, TesterLimit
from natxy.model.icmp_words import merged
from natxy.model.measurement import Figure
from natxy.model.throughput_result import Repetition, ThroughputResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.model.verdict import Limit, Verdict
from natxy.procedure.connection_conditions import connection_conditions
from natxy.procedure.maximum import Maximum, maximum_of
from natxy.procedure.media import media_of
from natxy.procedure.observer import Observer
from natxy.procedure.profile import departures
from natxy.procedure.seeds import MAX_SEED, repetition_seed
from natxy.procedure.setup import ReadyTester, name_of
from natxy.procedure.timing import Timing, check
from natxy.procedure.trial import Load, Trials, steady
from natxy.search.bisection import DEFAULT_ERROR, Bisection, SearchError
from natxy.search.loss_tolerance import LossTolerance, check_tolerance

FIRST_GUESS_FPS = 1000  # where nobody knows a maximum
HOPELESS_FPS = 1000  # what is invalid at this rate is not so because of the rate


@dataclass(frozen=True, kw_only=True)
class ThroughputPlan:
    """What is asked for; made, and so checked, before anything is started."""

    timing: Timing
    seed: int
    repetitions: int
    max_rate_fps: int | None = None  # None: the media's
    error: SearchError = DEFAULT_ERROR
    invalid_repeats: int = 3
    early_end: bool = False  # a trial ends, and is a FAIL, at its first certain loss
    loss: LossTolerance | None = None  # None: a trial that loses a frame is a FAIL
    dut_name: str | None = None  # None: what the DUT calls itself

    def __post_init__(self) -> None:
        check_tolerance("--loss", self.loss)
        if self.early_end and not (self.timing.frame_timeout_s or self.timing.drain_s):
            raise ConfigurationError(
                "--early-end: needs a time after which a frame is lost: a --frame-timeout or a "
                "--drain of more than 0 is right"
            )
        if self.early_end and self.loss is not None:
            raise ConfigurationError(
                "--early-end: is not possible with --loss, at the first certain loss a trial would "
                "end"
            )
        check("--repetitions", self.repetitions, lowest=1, highest=10**6)
        check("--seed", self.seed, lowest=0, highest=MAX_SEED)
        if self.max_rate_fps is not None:
            self.timing.check_rate("--max-rate", self.max_rate_fps)

    def load(self, rate_fps: int) -> Load:
        """A frame is lost after the frame timeout, where there is none after the drain."""
        accepted = self.loss or LossTolerance()
        load = replace(steady(rate_fps, self.timing.duration_s), accepted=accepted)
        lost_after_s = self.timing.frame_timeout_s or self.timing.drain_s
        return replace(load, early_end_s=lost_after_s) if self.early_end else load

    @property
    def departures(self) -> tuple[str, ...]:
        """What is named beside the figure: by RFC 2544 all trials run to their end."""
        said = list(departures(self.timing))
        if self.timing.frame_timeout_s:
            timeout_ms = float(self.timing.frame_timeout_s * 1000)
            said.append(f"a frame timeout of {timeout_ms:g} ms, beyond which a frame is lost")
        if self.loss is not None:
            said.append(f"{self.loss} accepted")
        if self.early_end:
            said.append("trials that end at their first certain loss (RFC 2544 section 24)")
        return tuple(said)


def throughput(
    plan: ThroughputPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> ThroughputResult:
    """Each repetition is a search of its own, with a seed of its own."""
    observer = observer or Observer()
    maximum = maximum_of(tester.hello, tester.traffic, plan.max_rate_fps)
    trials = Trials(
        tester=tester, dut=dut, timing=plan.timing, campaign_seed=plan.seed, observer=observer
    )
    repetitions: list[Repetition] = []
    for number in range(1, plan.repetitions + 1):
        observer.repetition_started(number, plan.repetitions)
        search = _search(plan, maximum, repetitions)
        repetitions.append(_repetition(plan, search, trials, number, maximum))
        observer.repetition_ended((_figure(repetitions[-1]),))
    return _result(plan, trials, maximum, repetitions)


def _figure(repetition: Repetition) -> Figure:
    return Figure(
        name="throughput",
        unit="fps",
        values=(float(repetition.rate_fps),),
        lower_bound=(repetition.lower_bound,),
    )


def _search(plan: ThroughputPlan, maximum: Maximum, done: Sequence[Repetition]) -> Bisection:
    """Without a maximum it goes up from a guess: from what the repetition before has found."""
    last_fps = done[-1].rate_fps if done else 0
    return Bisection(
        upper_fps=min(maximum.rate_fps or MAX_RATE_FPS, plan.timing.highest_rate_fps),
        first_fps=None if maximum.rate_fps else max(last_fps, FIRST_GUESS_FPS),
        error=plan.error,
        invalid_repeats=plan.invalid_repeats,
    )


def _repetition(
    plan: ThroughputPlan, search: Bisection, trials: Trials, number: int, maximum: Maximum
) -> Repetition:
    seed = repetition_seed(trials.campaign_seed, number)
    done: list[TrialRecord] = []
    while (rate_fps := search.next()) is not None:
        trials.observer.trial_started(rate_fps, search.bracket)
        trial = trials.run(load=plan.load(rate_fps), repetition=number, seed=seed)
        search.tell(rate_fps, trial.verdict)
        done.append(trial)
        _check_hope(search, trial, HOPELESS_FPS)
    _check_hope(search, done[-1], MAX_RATE_FPS)
    lower_bound = search.limit is Limit.TESTER or (
        search.limit is Limit.MAXIMUM and maximum.origin != "media"
    )
    valid = [trial for trial in done if trial.verdict is not Verdict.INVALID]
    return Repetition(
        number=number,
        seed=seed,
        rate_fps=search.result_fps or 0,
        limit=search.limit,
        lower_bound=lower_bound,
        trials=len(done),
        invalid_trials=len(done) - len(valid),
        misdelivered=sum(trial.misdelivered for trial in done),
        duplicated=sum(trial.result.duplicated for trial in done),
        changed=sum(trial.changed for trial in done),
        wrong=sum(trial.wrong for trial in done),
        collided=sum(trial.collided for trial in done),
        icmp_errors=merged(error for trial in done for error in trial.result.icmp_errors),
        worst_lateness_ns=max((trial.result.worst_lateness_ns for trial in valid), default=0.0),
    )


def _check_hope(search: Bisection, last: TrialRecord, below_fps: int) -> None:
    """Nothing passed, and below this rate the trials are invalid: lower ones would be as well."""
    _, ceiling_fps = search.bracket
    nothing_passed = search.result_fps is None and search.limit is Limit.TESTER
    if nothing_passed and ceiling_fps <= below_fps:
        raise TesterLimit(
            f"no rate passed, and at {ceiling_fps} frames a second trials are invalid: "
            f"{last.invalid_reasons[0]}; `natxy doctor` says what spoils measurements here"
        )


def _result(
    plan: ThroughputPlan, trials: Trials, maximum: Maximum, repetitions: Sequence[Repetition]
) -> ThroughputResult:
    traffic = trials.tester.testbed.traffic
    return ThroughputResult(
        dut=plan.dut_name or name_of(trials.dut),
        left_ip_version=traffic.left_ip_version,
        right_ip_version=traffic.right_ip_version,
        direction=traffic.direction,
        frame_size_bytes=traffic.frame_size_bytes,
        n=traffic.n,
        m=traffic.m,
        left_media=media_of(trials.tester.hello, "left"),
        right_media=media_of(trials.tester.hello, "right"),
        theoretical_fps=maximum_of(trials.tester.hello, trials.tester.traffic, None).rate_fps,
        duration_s=float(plan.timing.duration_s),
        drain_s=float(plan.timing.drain_s),
        settle_s=float(plan.timing.settle_s),
        frame_timeout_s=float(plan.timing.frame_timeout_s),
        error=str(plan.error),
        error_fps=plan.error.at(max(repetition.rate_fps for repetition in repetitions)),
        maximum_fps=maximum.rate_fps,
        maximum_origin=maximum.origin,
        seed=plan.seed,
        loss="" if plan.loss is None else str(plan.loss),
        connections=connection_conditions(trials.tester, trials.dut),
        needed_timeout_s=trials.counts.needed_timeout_s,
        departures=plan.departures,
        repetitions=tuple(repetitions),
    )
