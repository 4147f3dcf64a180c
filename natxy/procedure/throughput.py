"""Throughput: the highest rate at which all that was sent is received (RFC 2544 section 26.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, TesterLimit
from natxy.model.throughput_result import Repetition, ThroughputResult
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Limit, Verdict
from natxy.procedure.maximum import Maximum, maximum_of
from natxy.procedure.observer import Observer
from natxy.procedure.profile import departures
from natxy.procedure.seeds import MAX_SEED, repetition_seed
from natxy.procedure.trial import TrialPlan, Trials
from natxy.search.bisection import DEFAULT_ERROR, Bisection, SearchError
from natxy.tester.tester import Tester

FIRST_GUESS_FPS = 1000  # where nobody knows a maximum


@dataclass(frozen=True, kw_only=True)
class ThroughputPlan:
    trial: TrialPlan
    dut_name: str
    seed: int
    repetitions: int
    max_rate_fps: int | None = None  # None: the media's
    error: SearchError = DEFAULT_ERROR
    invalid_repeats: int = 3

    def __post_init__(self) -> None:
        highest_fps = self.trial.highest_rate_fps
        _check("--max-rate", self.max_rate_fps or 1, lowest=1, highest=highest_fps)
        _check("--repetitions", self.repetitions, lowest=1, highest=10**6)
        _check("--seed", self.seed, lowest=0, highest=MAX_SEED)


def throughput(
    plan: ThroughputPlan, tester: Tester, dut: Dut, observer: Observer | None = None
) -> ThroughputResult:
    """Each repetition is a search of its own, with a seed of its own."""
    observer = observer or Observer()
    maximum = maximum_of(tester.hello, plan.trial.traffic, plan.max_rate_fps)
    trials = Trials(
        plan=plan.trial, tester=tester, dut=dut, campaign_seed=plan.seed, observer=observer
    )
    repetitions: list[Repetition] = []
    for number in range(1, plan.repetitions + 1):
        observer.repetition_started(number, plan.repetitions)
        search = _search(plan, maximum, repetitions)
        repetitions.append(_repetition(search, trials, number, maximum))
        observer.repetition_ended(repetitions[-1])
    return _result(plan, maximum, repetitions)


def _search(plan: ThroughputPlan, maximum: Maximum, done: Sequence[Repetition]) -> Bisection:
    """Without a maximum it goes up from a guess: from what the repetition before has found."""
    last_fps = done[-1].rate_fps if done else 0
    return Bisection(
        upper_fps=maximum.rate_fps or plan.trial.highest_rate_fps,
        first_fps=None if maximum.rate_fps else max(last_fps, FIRST_GUESS_FPS),
        error=plan.error,
        invalid_repeats=plan.invalid_repeats,
    )


def _repetition(search: Bisection, trials: Trials, number: int, maximum: Maximum) -> Repetition:
    seed = repetition_seed(trials.campaign_seed, number)
    done: list[TrialRecord] = []
    while (rate_fps := search.next()) is not None:
        trials.observer.trial_started(rate_fps, search.bracket)
        trial = trials.run(rate_fps=rate_fps, repetition=number, seed=seed)
        search.tell(rate_fps, trial.verdict)
        done.append(trial)
    if search.result_fps is None and search.limit is Limit.TESTER:
        raise TesterLimit(
            f"no trial was valid, down to {done[-1].rate_fps} frames a second: "
            f"{done[-1].invalid_reasons[0]}; `natxy doctor` says what spoils measurements here"
        )
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
        misdelivered=sum(trial.result.misdelivered for trial in done),
        duplicated=sum(trial.result.duplicated for trial in done),
        worst_lateness_ns=max((trial.result.worst_lateness_ns for trial in valid), default=0.0),
    )


def _result(
    plan: ThroughputPlan, maximum: Maximum, repetitions: Sequence[Repetition]
) -> ThroughputResult:
    trial, traffic = plan.trial, plan.trial.traffic.testbed.traffic
    return ThroughputResult(
        dut=plan.dut_name,
        left_ip_version=traffic.left_ip_version,
        right_ip_version=traffic.right_ip_version,
        direction=traffic.direction,
        frame_size_bytes=traffic.frame_size_bytes,
        duration_s=float(trial.duration_s),
        drain_s=float(trial.drain_s),
        settle_s=float(trial.settle_s),
        error=str(plan.error),
        error_fps=plan.error.at(max(repetition.rate_fps for repetition in repetitions)),
        maximum_fps=maximum.rate_fps,
        maximum_origin=maximum.origin,
        seed=plan.seed,
        departures=departures(
            duration_s=trial.duration_s, drain_s=trial.drain_s, settle_s=trial.settle_s
        ),
        repetitions=tuple(repetitions),
    )


def _check(option: str, value: int, *, lowest: int, highest: int) -> None:
    if not lowest <= value <= highest:
        raise ConfigurationError(
            f"{option}: {value} is out of range, {lowest} to {highest} is right"
        )
