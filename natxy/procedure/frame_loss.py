"""Frame loss rate over a series of rates (RFC 2544 section 26.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, TesterLimit
from natxy.exact import make_exact
from natxy.measure.flows_used import Sent
from natxy.measure.plan import Plan, repeat
from natxy.measure.traffic_deviations import setup_deviations
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.stream_counters import KindCounters
from natxy.model.trial_record import CountedLoss, TrialRecord
from natxy.model.trial_result import StreamResult
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.search.loss_tolerance import LossTolerance, check_tolerance
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Frames, steady
from natxy.trial.maximum import maximum_of
from natxy.trial.observer import Observer
from natxy.trial.profile import deviations, profiles
from natxy.trial.repeats import INVALID_REPEATS, SHARE
from natxy.trial.setup import ReadyTester
from natxy.trial.timing import check
from natxy.trial.trials import Trials
from natxy.verdict.pacing import ROUND_NS
from natxy.verdict.placement import least_forwarded

LOSS = "frame loss rate"
MISSING = "no valid trial"
HIGHEST_STEP = Fraction(1, 10)
LOSSLESS_TO_END = 2  # successive rates without loss that end the series
PROFILES = profiles(repetitions=(1, 1))


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
    invalid_repeats: int = INVALID_REPEATS

    def __post_init__(self) -> None:
        super().__post_init__()
        make_exact(self, step="--step")
        check_tolerance("--loss", self.loss)
        check("--step", self.step * 100, lowest=Fraction(1, 10), highest=HIGHEST_STEP * 100)
        for rate_fps in self.rates_fps:
            self.timing.check_rate("--rates", rate_fps)
        if self.max_rate_fps is not None:
            self.timing.check_rate("--max-rate", self.max_rate_fps)

    def load(self, rate_fps: int) -> Frames:
        accepted = self.loss or LossTolerance()
        return replace(steady(rate_fps, self.timing.duration_s), accepted=accepted)

    def sent(self, result: Measurement) -> list[Sent]:
        """Returns what a trial of each rate of the result sent."""
        rates = {f.at: f.rate_fps or 0 for f in result.figures if f.values}
        return [Sent.lasting(rate_fps, self.timing.duration_s) for rate_fps in rates.values()]


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
    trials = plan.trials(tester, dut, observer)
    points = _points(plan, trials)
    refuse_without_connections([trial for point in points for trial in point.trials])
    if not any(point.trials for point in points):
        raise TesterLimit(f"no rate of the series has a valid trial: {points[-1].left_out}")
    return Measurement(
        procedure="frame-loss",
        title="Frame loss rate",
        reference="RFC 2544 section 26.3",
        conditions=plan.conditions(tester, dut),
        deviations=(
            *deviations(plan.timing, repetitions=plan.repetitions),
            *_deviations(plan, points),
            *setup_deviations(tester),
        ),
        remarks=_remarks(points),
        figures=_all_figures(points),
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
        trials,
        lambda number: _point(plan, trials, *rates[number - 1]),
        _figures,
        goes_on=goes_on,
    )


def _rates(plan: FrameLossPlan, tester: ReadyTester) -> list[tuple[int, str]]:
    """Returns the rates of the whole series, each with the name that its figures have."""
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
    load = plan.load(rate_fps)
    for number in range(1, plan.repetitions + 1):
        try:
            trial = trials.run_valid(load, number, plan.invalid_repeats, share=SHARE)
        except TesterLimit as limit:
            left_out = limit.in_options
            break
        done.append(trial)
        excused += [one for one in trials.discarded if one.excused]
    return _Point(
        rate_fps=rate_fps, name=name, trials=tuple(done), excused=tuple(excused), left_out=left_out
    )


def _all_figures(points: Sequence[_Point]) -> tuple[Figure, ...]:
    """Returns the figures of each rate; a rate without a valid trial has figures without values,
    so that nobody takes its loss for 0."""
    known = {point.rate_fps: _figures(point) for point in points}
    directions = dict.fromkeys(f.direction for figures in known.values() for f in figures)
    return tuple(
        figure
        for point in points
        for figure in known[point.rate_fps]
        or [_figure(point, direction, LOSS, missing=MISSING) for direction in directions]
    )


Key = tuple[Direction, str]  # the name is that of the figure


@dataclass(frozen=True, kw_only=True)
class _Frames:
    """The frames of a direction, or of one kind of it, in a trial."""

    sent: int
    received: int
    misdelivered: int

    @classmethod
    def of(cls, counted: Sequence[KindCounters]) -> Self:
        return cls(
            sent=sum(counters.sent for counters in counted),
            received=sum(counters.received for counters in counted),
            misdelivered=sum(counters.misdelivered.total for counters in counted),
        )

    @property
    def loss_percent(self) -> float:
        return self.percent(self.sent - self.received)

    def percent(self, frames: float) -> float:
        return frames / self.sent * 100 if self.sent else 0.0


def _figures(point: _Point) -> tuple[Figure, ...]:
    values: dict[Key, list[float]] = {}
    errors: dict[Key, list[float]] = {}
    left_out = [_highest_losses(trial) for trial in point.excused]
    for trial in point.trials:
        highest = _highest_losses(trial)
        counted = {each.direction: each for each in trial.counted}
        streams = {each.direction: each for each in trial.result.streams}
        for key, frames in _frames(trial).items():
            of = counted.get(key[0])
            loss = frames.loss_percent * _part_that_counts(streams[key[0]], of)
            values.setdefault(key, []).append(loss)
            by_placement = _by_placement(trial, frames, loss)
            if of is not None and of.spread and of.clean < of.frames:
                error = max(loss * of.full_error / of.full_share, frames.percent(1))
                errors.setdefault(key, []).append(max(by_placement, error))
                continue
            of_left_out = [losses[key] for losses in left_out if key in losses]
            too_low = _mean_with(highest[key], of_left_out) - frames.loss_percent
            either_way = abs(frames.loss_percent - loss)
            if not loss and of is not None:
                either_way = min(either_way, 100 * of.unseen)
            errors.setdefault(key, []).append(max(by_placement, too_low, either_way))
    return tuple(
        _figure(point, *key, values=tuple(losses), errors=tuple(errors[key]))
        for key, losses in values.items()
    )


def _figure(point: _Point, direction: Direction | None, name: str, **found: Any) -> Figure:
    return Figure(
        name=name,
        unit="%",
        direction=direction,
        at=point.name,
        at_value=point.rate_fps,
        at_unit="fps",
        rate_fps=point.rate_fps,
        primary=name == LOSS,
        **{"values": (), **found},
    )


def _frames(trial: TrialRecord) -> dict[Key, _Frames]:
    """Returns the frames of each direction, and of each kind if several were sent."""
    frames: dict[Key, _Frames] = {}
    for stream in trial.result.streams:
        counted = [(kind, counters) for kind, counters in stream.counters() if counters.sent]
        if not counted:
            continue  # there is no share of nothing
        frames[stream.direction, LOSS] = _Frames.of([counters for _, counters in counted])
        if len(counted) > 1:
            for kind, counters in counted:
                frames[stream.direction, f"{LOSS}, {kind}"] = _Frames.of([counters])
    return frames


def _part_that_counts(stream: StreamResult, of: CountedLoss | None) -> float:
    """Returns what to multiply the lost share of a direction, or of a kind of it, with
    (docs/decisions/0039)."""
    if of is None or not stream.lost_runs:
        return 1.0
    others = stream.lost - of.lost - of.excused  # misdelivered and late ones have no place in time
    return (of.share * stream.sent + others) / stream.lost


def _by_placement(trial: TrialRecord, frames: _Frames, loss: float) -> float:
    """Returns by how much a bad placement of the CPUs may have made a loss too high, in %.

    It can have cost no more frames than never came.
    """
    never_came = max(0, frames.sent - frames.received - frames.misdelivered)
    forwarded = 100 - loss
    by_placement = forwarded / least_forwarded(trial.result.watched) - forwarded
    return min(frames.percent(never_came), by_placement)


def _highest_losses(trial: TrialRecord) -> dict[Key, float]:
    """Returns the losses, in %, if all that the gateway did in additional time is missing.

    Senders that pause, or that are late at the end, need more time than their rate asks for. A
    gateway that forwarded F frames in the time T, of which p T was additional, forwards at least
    F (1 - p) of them in the time that was asked for. How many of the other p F are missing in one
    direction depends on how the gateway divides its time.
    """
    forwarded = sum(stream.received for stream in trial.result.streams)
    in_pauses = forwarded * max(
        _additional_ns(stream, trial.rate_fps) / stream.sending_ns if stream.sending_ns else 0.0
        for stream in trial.result.streams
    )
    return {
        key: frames.loss_percent + frames.percent(min(frames.received, in_pauses))
        for key, frames in _frames(trial).items()
    }


def _additional_ns(stream: StreamResult, rate_fps: int) -> float:
    late_ns = stream.sending_ns - (stream.due - 1) * 10**9 / rate_fps
    return max(stream.pauses.total_ns, late_ns if late_ns > ROUND_NS else 0.0)


def _mean_with(loss: float, left_out: Sequence[float]) -> float:
    """Returns the highest loss that trials show which were left out.

    Their losses are explained by absences, but may all be the gateway's own. Then the mean that
    includes them is the right value.
    """
    return max(loss, (loss + sum(left_out)) / (1 + len(left_out)))


def _remarks(points: list[_Point]) -> tuple[str, ...]:
    errors = [error for point in points for figure in _figures(point) for error in figure.errors]
    largest = max(errors, default=0.0)
    said = (
        "Because senders paused or sent bursts, or the gateway's core was away or badly placed, a "
        f"frame loss rate may be wrong by at most {largest:.3g} % of the frames sent."
    )
    return (*((said,) if largest else ()), *_left_out(points))


def _left_out(points: list[_Point]) -> tuple[str, ...]:
    return tuple(
        f"{point.name}: {len(point.trials)} trials were valid, further ones were not: "
        f"{point.left_out}."
        for point in points
        if point.left_out
    )


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
