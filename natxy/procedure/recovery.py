"""System recovery: how long a gateway still loses frames after an overload (RFC 2544 section
26.5)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from natxy.exact import check
from natxy.measure.plan import repeat
from natxy.measure.traffic_deviations import session_deviations
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.reason import Code, Reason
from natxy.model.remark import Remark, Remarks, Topic, applying
from natxy.model.stream_result import StreamResult
from natxy.model.traffic import frames_of
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import MAX_FRAMES, MAX_RATE_FPS, Direction, Segment
from natxy.procedure.at_rate import KNOWN_THROUGHPUT, Rate, RatePlan, rate_of
from natxy.setting import Setting
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import Frames
from natxy.trial.maximum import maximum_of
from natxy.trial.profile import deviations, profiles
from natxy.trial.session import Session
from natxy.trial.timing import LONGEST_S, refuse_frame_timeout
from natxy.verdict.delay_error import ERROR_SHARE

CLAUSE = "RFC 2544 section 26.5"
RECOVERY = "system recovery time"
LOST = "lost frames"
NOT_OVERLOADED = "no overload"
OVERLOAD = Fraction(11, 10)  # of the throughput
AFTERWARDS = Fraction(1, 2)  # of the overload's rate
SHORTEST_S = Fraction(1, 10**6)
THROUGHPUT = replace(KNOWN_THROUGHPUT, name="rate_fps", option="throughput")
AFTER = Setting(
    "after_s",
    "Seconds at the lower rate, after the overload",
    "S",
    default="the duration",
    short="Seconds at the lower rate, after the overload",
)
PROFILES = profiles(repetitions=(20, 3), repetitions_of=CLAUSE)
RFC = PROFILES["rfc"]


@dataclass(frozen=True, kw_only=True)
class RecoveryPlan(RatePlan):
    """The options of a measurement, checked when the plan is created.

    `rate_fps` is the throughput, `timing.duration_s` the duration of the overload, `after_s` that
    of the lower rate after it (by default the same).
    """

    rate_fps: Annotated[int | None, THROUGHPUT] = None
    after_s: Annotated[Fraction | None, AFTER] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_frame_timeout(self.timing)
        left_s = LONGEST_S - self.timing.duration_s - self.timing.drain_s
        check(AFTER, self.lasts_after_s, lowest=SHORTEST_S, highest=left_s)
        if self.rate_fps is not None:
            self.check_overload(self.rate_fps)

    @property
    def lasts_after_s(self) -> Fraction:
        return self.timing.duration_s if self.after_s is None else self.after_s

    def check_overload(self, throughput_fps: int) -> None:
        """Refuses a throughput of which 110 % is not a possible rate, or makes too many frames."""
        part_s = self.timing.duration_s + AFTERWARDS * self.lasts_after_s
        highest_fps = int(min(Fraction(MAX_RATE_FPS), MAX_FRAMES / part_s) / OVERLOAD)
        check(THROUGHPUT, throughput_fps, lowest=1, highest=highest_fps)


def recovery(plan: RecoveryPlan, session: Session) -> Measurement:
    """Measures, per direction, the time from the drop of the rate to the last lost frame."""
    session = session.with_retry_time(plan.timing.retry_s)
    throughput = rate_of(plan, session)
    load = _load(plan, session, throughput.fps)
    trials = plan.trials(session, doubts=_doubts)
    done = repeat(
        plan.repetitions,
        trials,
        lambda number: trials.run_valid(load, number, plan.invalid_repeats),
        lambda one: _figures([one], load),
    )
    refuse_without_connections(done)
    figures = _figures(done, load)
    return Measurement(
        procedure="recovery",
        title="System recovery",
        reference=CLAUSE,
        conditions=plan.conditions(session, rate_fps=throughput.fps),
        deviations=(*_deviations(plan, throughput), *session_deviations(session)),
        remarks=(*throughput.remarks, *_remarks(done, load, figures)),
        figures=figures,
        counts=trials.counts,
    )


def _load(plan: RecoveryPlan, session: Session, throughput_fps: int) -> Frames:
    """Returns the load: 110 % of the throughput, or the media's rate if lower; then half of it."""
    plan.check_overload(throughput_fps)
    media_fps = maximum_of(session.hello, session.traffic, None).rate_fps
    overload_fps = int(throughput_fps * OVERLOAD)
    high_fps = min(overload_fps, media_fps) if media_fps else overload_fps
    low_fps = max(1, int(high_fps * AFTERWARDS))
    parts = ((high_fps, plan.timing.duration_s), (low_fps, plan.lasts_after_s))
    return Frames(
        segments=tuple(
            Segment(frames=frames_of(fps, length_s), rate_fps=fps, pause_ns=0)
            for fps, length_s in parts
        )
    )


def _recovery_s(stream: StreamResult, load: Frames) -> float:
    """Returns the recovery time; 0 if the last lost frame was sent before the rate dropped."""
    return _after_fall_s(stream.losses.last_number, load) if stream.losses else 0.0


def _counted_s(stream: StreamResult, load: Frames) -> float:
    """Returns the time to the last lost frame that no absence of gateway or tester explains."""
    last = stream.losses.last_counted if stream.losses else None
    return 0.0 if last is None else _after_fall_s(last, load)


def _after_fall_s(number: int, load: Frames) -> float:
    overload, low = load.segments
    return max(0, number - overload.frames) / low.rate_fps


def _goes_on(stream: StreamResult) -> bool:
    """Returns whether the last frame was lost, so that the recovery time is a lower bound."""
    return stream.losses is not None and stream.losses.last_number == stream.due - 1


def _doubts(result: TrialResult) -> tuple[Reason, ...]:
    """Returns why the trial is INVALID if frames were lost up to its end, which may be a recovery
    that goes on, or due to noise."""
    return tuple(
        Reason.of(Code.END_IN_DOUBT, stream.direction)
        for stream in result.streams
        if stream.losses and _goes_on(stream) and stream.losses.last_counted != stream.due - 1
    )[:1]


def _figures(done: Sequence[TrialRecord], load: Frames) -> tuple[Figure, ...]:
    streams: dict[Direction, list[StreamResult]] = {}
    for trial in done:
        for stream in trial.result.streams:
            streams.setdefault(stream.direction, []).append(stream)
    figures = []
    for direction, seen in streams.items():
        figures.append(_time(direction, seen, load))
        lost = tuple(float(stream.losses.frames if stream.losses else 0) for stream in seen)
        figures.append(
            Figure(name=LOST, unit="frames", direction=direction, values=lost, primary=False)
        )
    return tuple(figures)


def _time(direction: Direction, seen: Sequence[StreamResult], load: Frames) -> Figure:
    """Returns the recovery time, which is uncertain if a trial lost no frame, since that was no
    overload; without any overload there is none."""
    overloaded = [stream.losses is not None for stream in seen]
    if not any(overloaded):
        return Figure(
            name=RECOVERY,
            unit="s",
            direction=direction,
            values=(),
            missing=NOT_OVERLOADED,
            statistic="mean",
        )
    values = tuple(_recovery_s(stream, load) for stream in seen)
    errors = tuple(
        value - _counted_s(stream, load) for value, stream in zip(values, seen, strict=True)
    )
    return Figure(
        name=RECOVERY,
        unit="s",
        direction=direction,
        values=values,
        lower_bound=tuple(map(_goes_on, seen)),
        # Noise only adds losses, so that a time of 0 is exact.
        upper_bound=tuple(
            error > ERROR_SHARE * value for error, value in zip(errors, values, strict=True)
        ),
        errors=errors if any(errors) else (),
        statistic="mean",  # RFC 2544 section 26.5
        uncertain=not all(overloaded),
    )


def _deviations(plan: RecoveryPlan, throughput: Rate) -> Deviations:
    codes = {
        Differs.GIVEN_OVERLOAD: plan.rate_fps is not None,
        # 110 % of it may not be an overload.
        Differs.OVERLOAD_OF_A_BOUND: plan.rate_fps is None and throughput.lower_bound,
    }
    return (
        *deviations(plan.timing, RFC, repetitions=plan.repetitions),
        *throughput.search_deviations,
        *(Deviation.of(code, CLAUSE) for code, applies in codes.items() if applies),
    )


def _remarks(done: Sequence[TrialRecord], load: Frames, figures: Sequence[Figure]) -> Remarks:
    high, low = load.segments
    streams = [stream for trial in done for stream in trial.result.streams]
    reasons = {
        Topic.UPPER_BOUND: any(any(figure.upper_bound) for figure in figures),
        Topic.NO_OVERLOAD: any(stream.losses is None for stream in streams),
    }
    rates = {"high_fps": high.rate_fps, "low_fps": low.rate_fps}
    return (Remark.of(Topic.OVERLOAD, **rates), *applying(reasons))
