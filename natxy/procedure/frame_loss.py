"""Frame loss rate over a series of rates (RFC 2544 section 26.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, TesterLimit
from natxy.exact import make_exact
from natxy.model.measurement import Figure, Measurement
from natxy.model.stream_counters import KindCounters
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.procedure.networks import networks_deviation
from natxy.procedure.plan import Plan, repeat
from natxy.search.loss_tolerance import LossTolerance, check_tolerance
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Load, steady
from natxy.trial.maximum import maximum_of
from natxy.trial.observer import Observer
from natxy.trial.profile import QUICK as QUICK_TRIALS
from natxy.trial.profile import RFC as RFC_TRIALS
from natxy.trial.profile import Profile, deviations
from natxy.trial.seeds import repetition_seed
from natxy.trial.setup import ReadyTester
from natxy.trial.timing import check
from natxy.trial.trials import Trials
from natxy.verdict.placement import least_forwarded

LOSS = "frame loss rate"
HIGHEST_STEP = Fraction(1, 10)
LOSSLESS_TO_END = 2  # successive rates without loss that end the series
PROFILES = {
    "rfc": Profile(timing=RFC_TRIALS.timing, repetitions=1),
    "quick": Profile(timing=QUICK_TRIALS.timing, repetitions=1),
}


@dataclass(frozen=True, kw_only=True)
class FrameLossPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    The series starts at the maximum and goes down by `step` of it, until two successive rates lose
    nothing. If `rates_fps` is given, the series has all of these rates instead. Each rate gets
    `repetitions` trials.
    """

    repetitions: int = 1
    max_rate_fps: int | None = None  # None: the media's rate
    step: Fraction = HIGHEST_STEP  # as a share of the maximum
    rates_fps: tuple[int, ...] = ()
    loss: LossTolerance | None = None  # the series ends if two successive rates lose no more
    invalid_repeats: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        make_exact(self, step="--step")
        check_tolerance("--loss", self.loss)
        check("--step", self.step * 100, lowest=Fraction(1, 10), highest=HIGHEST_STEP * 100)
        for rate_fps in self.rates_fps:
            self.timing.check_rate("--rates", rate_fps)
        if self.max_rate_fps is not None:
            self.timing.check_rate("--max-rate", self.max_rate_fps)

    def load(self, rate_fps: int) -> Load:
        accepted = self.loss or LossTolerance()
        return replace(steady(rate_fps, self.timing.duration_s), accepted=accepted)


@dataclass(frozen=True, kw_only=True)
class _Point:
    rate_fps: int
    name: str  # "90 % (900,000 fps)"
    trials: tuple[TrialRecord, ...]  # valid ones only
    excused: tuple[TrialRecord, ...] = ()  # left out, since an absence explains their loss
    left_out: str = ""  # why there are fewer valid trials than asked for

    @property
    def accepted(self) -> bool:
        """True if all trials passed; misdelivered and late frames are lost as well."""
        return bool(self.trials) and all(t.verdict is Verdict.PASS for t in self.trials)


def frame_loss(
    plan: FrameLossPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """Measures the loss per direction, in % of the frames sent; with background also per kind."""
    trials = plan.trials(tester, dut, observer or Observer())
    points = _points(plan, trials)
    refuse_without_connections([trial for point in points for trial in point.trials])
    figures = tuple(figure for point in points for figure in _figures(point))
    if not figures:
        raise TesterLimit(f"no rate of the series has a valid trial: {points[-1].left_out}")
    return Measurement(
        procedure="frame-loss",
        title="Frame loss rate",
        reference="RFC 2544 section 26.3",
        conditions=plan.conditions(tester, dut),
        deviations=(
            *deviations(plan.timing),
            *_deviations(plan, points),
            *networks_deviation(tester),
        ),
        remarks=_remarks(points),
        figures=figures,
        counts=trials.counts,
    )


def _points(plan: FrameLossPlan, trials: Trials) -> list[_Point]:
    rates = _rates(plan, trials.tester)

    def goes_on(points: Sequence[_Point]) -> bool:
        newest = points[-LOSSLESS_TO_END:]
        lossless = len(newest) == LOSSLESS_TO_END and all(point.accepted for point in newest)
        return bool(plan.rates_fps) or not lossless

    return repeat(
        len(rates),
        trials.observer,
        lambda number: _point(plan, trials, *rates[number - 1]),
        _figures,
        goes_on=goes_on,
    )


def _rates(plan: FrameLossPlan, tester: ReadyTester) -> list[tuple[int, str]]:
    if plan.rates_fps:
        return [(rate_fps, f"{rate_fps:,} fps") for rate_fps in plan.rates_fps]
    maximum_fps = maximum_of(tester.hello, tester.traffic, plan.max_rate_fps).rate_fps
    if maximum_fps is None:
        raise ConfigurationError(
            "--max-rate: is missing: the ports' media have no rate of which 100 % could be sent "
            "(expected frames a second, or --rates)"
        )
    shares = [1 - plan.step * i for i in range(int(1 / plan.step) + 1)]
    wanted = {share: int(maximum_fps * share) for share in shares}
    return [
        (rate_fps, f"{float(share * 100):g} % ({rate_fps:,} fps)")
        for share, rate_fps in wanted.items()
        if rate_fps > 0
    ]


def _point(plan: FrameLossPlan, trials: Trials, rate_fps: int, name: str) -> _Point:
    done: list[TrialRecord] = []
    excused: list[TrialRecord] = []
    left_out = ""
    for number in range(1, plan.repetitions + 1):
        try:
            trial = trials.run_valid(
                load=plan.load(rate_fps),
                repetition=number,
                seed=repetition_seed(plan.seed, number),
                invalid_repeats=plan.invalid_repeats,
            )
        except TesterLimit as limit:
            left_out = str(limit)
            break
        done.append(trial)
        excused += [one for one in trials.discarded if one.excused]
    return _Point(
        rate_fps=rate_fps, name=name, trials=tuple(done), excused=tuple(excused), left_out=left_out
    )


Losses = dict[tuple[Direction, str], float]  # in %


def _figures(point: _Point) -> tuple[Figure, ...]:
    values: dict[tuple[Direction, str], list[float]] = {}
    errors: dict[tuple[Direction, str], list[float]] = {}
    left_out = [_losses(trial) for trial in point.excused]
    for trial in point.trials:
        for key, loss in _losses(trial).items():
            values.setdefault(key, []).append(loss)
            too_high = min(loss, _absence_percent(trial) + _placement_percent(trial, loss))
            errors.setdefault(key, []).append(max(too_high, _too_low(loss, key, left_out)))
    return tuple(
        Figure(
            name=name,
            unit="%",
            direction=direction,
            at=point.name,
            values=tuple(losses),
            errors=tuple(errors[direction, name]),
            primary=name == LOSS,
        )
        for (direction, name), losses in values.items()
    )


def _losses(trial: TrialRecord) -> Losses:
    """Returns the loss of each direction, and of each kind if there are several."""
    losses: Losses = {}
    for stream in trial.result.streams:
        counted = list(stream.counters())
        losses[stream.direction, LOSS] = _loss_percent([counters for _, counters in counted])
        if len(counted) > 1:
            for kind, counters in counted:
                losses[stream.direction, f"{LOSS}, {kind}"] = _loss_percent([counters])
    return losses


def _too_low(loss: float, key: tuple[Direction, str], left_out: Sequence[Losses]) -> float:
    """Returns by how much a loss may be too low because trials were left out.

    The losses of these trials are explained by absences, but may all be the gateway's own. Then the
    mean that includes them is the right value.
    """
    if not left_out:
        return 0.0
    mean = (loss + sum(losses[key] for losses in left_out)) / (1 + len(left_out))
    return max(0.0, mean - loss)


def _absence_percent(trial: TrialRecord) -> float:
    """Returns the share of frames, in %, that arrived while a watched gateway was away."""
    sending_ns = trial.result.sending_ns
    return trial.away_ns / sending_ns * 100 if sending_ns else 0.0


def _placement_percent(trial: TrialRecord, loss: float) -> float:
    """Returns by how much a loss may be too high, in % of the frames sent, because the host had
    placed the CPUs badly."""
    forwarded = 100 - loss
    return forwarded / least_forwarded(trial.result.watched) - forwarded


def _loss_percent(counted: list[KindCounters]) -> float:
    """Returns (sent - received) / sent x 100 %."""
    sent = sum(counters.sent for counters in counted)
    received = sum(counters.received for counters in counted)
    return (sent - received) / sent * 100 if sent else 0.0


def _remarks(points: list[_Point]) -> tuple[str, ...]:
    errors = [error for point in points for figure in _figures(point) for error in figure.errors]
    largest = max(errors, default=0.0)
    said = (
        "Because the gateway's core was away or badly placed, a frame loss rate may be wrong by at "
        "most "
    )
    return (
        *((f"{said}{largest:.2g} % of the frames sent.",) if largest else ()),
        *_left_out(points),
    )


def _left_out(points: list[_Point]) -> tuple[str, ...]:
    return tuple(
        f"{point.name}: {len(point.trials)} trials were valid, further ones were not: "
        f"{point.left_out}."
        for point in points
        if point.left_out
    )


def _deviations(plan: FrameLossPlan, points: list[_Point]) -> tuple[str, ...]:
    said = []
    if plan.rates_fps:
        said.append("given rates, not from 100 % of the media's rate down")
    elif plan.max_rate_fps is not None:
        said.append("from a given rate down, not from the media's rate")
    if plan.loss is not None:
        said.append(f"{plan.loss} accepted where the series ends")
    if any(point.left_out for point in points):
        said.append("rates left out")
    return tuple(said)
