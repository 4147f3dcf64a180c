"""Frame loss rate over a series of rates (RFC 2544 section 26.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any

from natxy.errors import ConfigurationError, TesterLimit
from natxy.exact import check
from natxy.measure.flows import Sent
from natxy.measure.plan import REPETITIONS, Plan, repeat
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.reason import Cause
from natxy.model.remark import Remark, Topic
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.search.settings import LossTolerance, max_rate_of
from natxy.setting import Setting
from natxy.statistics import median
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Frames, steady
from natxy.trial.maximum import maximum_of
from natxy.trial.profile import deviations, profiles
from natxy.trial.repeats import INVALID_REPEATS, SHARE
from natxy.trial.session import Session
from natxy.trial.trials import Trials
from natxy.verdict.advice import why_invalid
from natxy.verdict.loss_error import Key, LossRate, loss_rates, silent_share
from natxy.verdict.placement import is_badly_placed

LOSS = "frame loss rate"
FORWARDING = "forwarding rate"
NOTHING: dict[str, Any] = {"values": (), "missing": "no valid trial"}
HIGHEST_STEP = Fraction(1, 10)
LOSSLESS_TO_END = 2  # successive rates without loss that end the series
PROFILES = profiles(repetitions=(1, 1))
MAX_RATE = max_rate_of(
    "max_rate_fps", "frames a second per direction", what="Rate that is 100 % of the series"
)
STEP = Setting(
    "step",
    "Difference between two rates of the series",
    "PERCENT",
    short="Difference between two rates, in % of the maximum",
)
LOSS_TO_END = Setting(
    "loss",
    "End the series when two successive rates lose at most this share of the frames, for example "
    "0.01%",
    "PERCENT",
    default="no loss",
)
RATES = Setting(
    "rates_fps",
    "Rates to measure instead of the series, in frames a second",
    "FPS",
    short="Rates to measure, such as 10k,20k or 10k:100k:10k",
)


@dataclass(frozen=True, kw_only=True)
class FrameLossPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    The series starts at the maximum and goes down by `step` of it, until two successive rates lose
    nothing. If `rates_fps` is given, the series has all of these rates instead. Each rate gets
    `repetitions` trials.
    """

    repetitions: Annotated[int, REPETITIONS] = 1
    max_rate_fps: Annotated[int | None, MAX_RATE] = None
    step: Annotated[Fraction, STEP] = HIGHEST_STEP  # as a share of the maximum
    rates_fps: Annotated[tuple[int, ...], RATES] = ()
    loss: Annotated[LossTolerance | None, LOSS_TO_END] = None
    invalid_repeats: int = INVALID_REPEATS

    def __post_init__(self) -> None:
        super().__post_init__()
        check(STEP, self.step * 100, lowest=Fraction(1, 10), highest=HIGHEST_STEP * 100)

    def load(self, rate_fps: int) -> Frames:
        accepted = self.loss or LossTolerance()
        load = steady(rate_fps, self.timing.duration_s)
        return replace(load, accepted=accepted, measures_loss=True)

    def sent(self, result: Measurement) -> list[Sent]:
        """Returns what a trial of each rate of the result sent."""
        rates = {f.at: f.rate_fps or 0 for f in result.figures if f.values}
        return [Sent.lasting(rate_fps, self.timing.duration_s) for rate_fps in rates.values()]


@dataclass(frozen=True, kw_only=True)
class _Point:
    rate_fps: int
    name: str  # "90 % (900,000 fps)"
    trials: tuple[TrialRecord, ...]  # valid ones only
    # INVALID, since an absence or the placement of the CPUs explains their loss.
    excused: tuple[TrialRecord, ...] = ()
    left_out: Remark | None = None  # why there are fewer valid trials than asked for

    @property
    def left_out_for_loss(self) -> tuple[TrialRecord, ...]:
        """The excused trials, without those that were left out only because of their placement.

        Where a trial in a bad placement counts, as it lost nothing, what others lost was the reason
        to leave them out; where none does, it was not.
        """
        kept_badly_placed = any(is_badly_placed(trial.result) for trial in self.trials)
        excused = self.excused if self.trials else ()
        return tuple(one for one in excused if kept_badly_placed or not _only_placed_badly(one))

    @property
    def accepted(self) -> bool:
        """True if all trials passed; misdelivered and late frames are lost as well."""
        return bool(self.trials) and all(t.verdict is Verdict.PASS for t in self.trials)


def frame_loss(plan: FrameLossPlan, session: Session) -> Measurement:
    """Measures the loss per direction, in % of the frames sent; with background also per kind."""
    trials = plan.trials(session)
    points = _points(plan, trials)
    refuse_without_connections([trial for point in points for trial in point.trials])
    figures = _all_figures(points)
    if not any(figure.values for figure in figures):
        why = why_invalid(trials.discarded[-1])
        raise TesterLimit(f"no rate of the series has a valid trial: {why}")
    return Measurement(
        procedure="frame-loss",
        title="Frame loss rate",
        reference="RFC 2544 section 26.3",
        conditions=plan.conditions(session),
        deviations=(
            *deviations(plan.timing, repetitions=plan.repetitions),
            *_deviations(plan, points),
            *session_deviations(session),
        ),
        remarks=tuple(_remarks(points)),
        figures=(*figures, *chain.from_iterable(map(_forwarding, points))),
        counts=trials.counts,
    )


def _points(plan: FrameLossPlan, trials: Trials) -> list[_Point]:
    rates = _rates(plan, trials.session)

    def goes_on(points: Sequence[_Point]) -> bool:
        newest = points[-LOSSLESS_TO_END:]
        lossless = len(newest) == LOSSLESS_TO_END and all(point.accepted for point in newest)
        return bool(plan.rates_fps) or not lossless

    return repeat(
        len(rates),
        trials,
        lambda number: _point(plan, trials, *rates[number - 1]),
        _figures,
        goes_on=goes_on,
    )


def _rates(plan: FrameLossPlan, session: Session) -> list[tuple[int, str]]:
    """Returns the rates of the whole series, each with the name that its figures have."""
    if plan.rates_fps:
        return [(rate_fps, f"{rate_fps:,} fps") for rate_fps in plan.rates_fps]
    maximum_fps = maximum_of(session.hello, session.traffic, plan.max_rate_fps).rate_fps
    if maximum_fps is None:
        raise ConfigurationError(
            *(
                MAX_RATE,
                ": is missing: the ports' media have no rate of which 100 % could be sent ",
            ),
            *("(expected frames a second, or ", RATES, ")"),
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
    failed: list[TrialRecord] = []  # of repetitions without a valid trial
    load = plan.load(rate_fps)
    for number in range(1, plan.repetitions + 1):
        try:
            trial = trials.run_valid(load, number, plan.invalid_repeats, share=SHARE)
            done.append(trial)
        except TesterLimit:
            failed += trials.discarded
        excused += [one for one in trials.discarded if one.excused]
        # Without retry time, what is left of the plan is still run.
        if failed and not trials.retry_time.is_over:
            break
    left_out = _few_valid(name, len(done), failed, trials) if failed else None
    return _Point(
        rate_fps=rate_fps, name=name, trials=tuple(done), excused=tuple(excused), left_out=left_out
    )


def _only_placed_badly(trial: TrialRecord) -> bool:
    return all(reason.code.cause is Cause.HOST for reason in trial.invalid_reasons)


def _few_valid(name: str, valid: int, failed: Sequence[TrialRecord], trials: Trials) -> Remark:
    code = Topic.FEW_VALID_BY_RETRY_TIME if trials.retry_time.is_over else Topic.FEW_VALID
    return Remark.of(code, name, valid=valid, invalid=len(failed), why=why_invalid(failed[-1]))


def _all_figures(points: Sequence[_Point]) -> tuple[Figure, ...]:
    """Returns the figures of each rate; a rate of which nothing is known has figures without
    values, so that nobody takes its loss for 0."""
    known = {point.rate_fps: _figures(point) for point in points}
    directions = dict.fromkeys(f.direction for figures in known.values() for f in figures)
    return tuple(
        figure
        for point in points
        for figure in known[point.rate_fps]
        or [_figure(point, direction, LOSS, **NOTHING) for direction in directions]
    )


def _figures(point: _Point) -> tuple[Figure, ...]:
    """Returns the losses of the valid trials or, if there is none, what the gateway loses at most:
    half of the excused trials lost no more."""
    found: dict[Key, list[LossRate]] = {}
    for trial in point.trials or point.excused:
        for key, loss in loss_rates(trial, point.left_out_for_loss).items():
            found.setdefault(key, []).append(loss)
    return tuple(
        _figure(point, direction, f"{LOSS}, {kind}" if kind else LOSS, **_values(point, losses))
        for (direction, kind), losses in found.items()
    )


def _values(point: _Point, losses: Sequence[LossRate]) -> dict[str, Any]:
    if point.trials:
        percents, errors = zip(*((loss.percent, loss.error) for loss in losses), strict=True)
        return {"values": percents, "errors": errors}
    highest = median([loss.highest for loss in losses])
    if highest >= 100:
        return NOTHING
    return {"values": (highest,), "upper_bound": (highest > 0,)}


def _forwarding(point: _Point) -> Iterator[Figure]:
    """Yields the forwarding rate (RFC 2285 section 3.6.1), per direction: what noise explains of a
    loss would have been forwarded without it."""
    valid, excused = (
        tuple(map(_forwarding_fps, trials)) for trials in (point.trials, point.excused)
    )
    values = valid or ((median(excused),) if excused else ())
    if values:
        yield _figure(
            point,
            None,
            FORWARDING,
            unit="fps",
            values=values,
            lower_bound=() if valid else (True,),
            excused=excused,
        )


def _forwarding_fps(trial: TrialRecord) -> float:
    rates = [
        stream.received / _forwarding_ns(stream) * 1e9
        for stream in trial.result.streams
        if stream.due > 1
    ]
    return sum(rates) / max(1, len(rates))


def _forwarding_ns(stream: StreamResult) -> float:
    """Returns the time for which the gateway forwarded: what it held when sending ended came later,
    and each frame has a gap behind it, the last one too."""
    return stream.sending_ns * stream.due / (stream.due - 1) + stream.last_delay_excess_ns


def _figure(point: _Point, direction: Direction | None, name: str, **found: Any) -> Figure:
    return Figure(
        name=name,
        direction=direction,
        at=point.name,
        at_value=point.rate_fps,
        at_unit="fps",
        rate_fps=point.rate_fps,
        primary=name == LOSS,
        **{"unit": "%", **found},
    )


def _remarks(points: list[_Point]) -> Iterator[Remark]:
    errors = [error for point in points for figure in _figures(point) for error in figure.errors]
    if any(errors):
        yield Remark.of(Topic.LOSS_ERROR, error_percent=max(errors))
    shares = [
        silent_share(trial, stream)
        for point in points
        for trial in point.trials
        for stream in trial.result.streams
    ]
    if any(shares):
        yield Remark.of(Topic.LOST_IN_SILENCE, lost_percent=max(shares) * 100)
    if any(any(figure.upper_bound) for point in points for figure in _figures(point)):
        yield Remark.of(Topic.LOST_AT_MOST)
    yield from (point.left_out for point in points if point.left_out)


def _deviations(plan: FrameLossPlan, points: list[_Point]) -> Iterator[Deviation]:
    clause = "RFC 2544 section 26.3"
    if plan.rates_fps:
        yield Deviation.of(Differs.GIVEN_RATES, clause)
    elif plan.max_rate_fps is not None:
        yield Deviation.of(Differs.GIVEN_MAXIMUM, clause)
    if plan.loss is not None:
        yield Deviation.of(Differs.LOSS_ENDS, clause, accepted_share=plan.loss.fraction)
    if any(point.left_out for point in points):
        yield Deviation.of(Differs.RATES_LEFT_OUT, clause)
