"""Reset: how long a gateway does not forward after a reset (RFC 2544 section 26.6, updated by RFC
6201)."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Self

from natxy.dut.base import Dut
from natxy.errors import DutError, NatxyError, TrialCancelled
from natxy.exact import check
from natxy.measure.plan import repeat
from natxy.measure.traffic_deviations import OF_RESETS, reset_deviations
from natxy.model.coded import duration
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Measurement
from natxy.model.reason import Code, Reason
from natxy.model.remark import Remark, Topic, applying
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction, WatchedCpu
from natxy.procedure.at_rate import Rate, RatePlan, rate_deviations, rate_of
from natxy.setting import Setting
from natxy.trial.connection_table import refuse_without_connections
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.phases import phase_1_s
from natxy.trial.profile import RFC, Profile, deviations
from natxy.trial.session import Session
from natxy.trial.timing import DURATION, Timing, refuse_frame_timeout
from natxy.trial.trials import Trials
from natxy.verdict.delay_error import ABSENCE_NS, ERROR_SHARE

BY_LOSS = "reset time, frame-loss method"
BY_TIMESTAMPS = "reset time, timestamp method"
LOST = "lost frames"
PROFILES = {
    # RFC 6201 asks for traffic until it is forwarded again.
    "rfc": replace(RFC, duration_of="", repetitions_of="RFC 6201 section 1.4"),
    "quick": Profile(
        # So long that the real-time policy is not used, which would delay the reset.
        timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 10), settle_s=Fraction(0)),
        repetitions=3,
    ),
}
RFC_BEFORE_S = Fraction(15)  # of forwarding before the reset (RFC 6201 section 4)
LATEST = Fraction(9, 10)  # of the sending; the effect of a later reset could not be seen
RESET_AFTER = Setting(
    "reset_after_s",
    "Seconds of sending before the reset",
    "S",
    default="a third of the duration",
    short="Seconds of sending before the reset",
)
ENDS_WITHIN_S = 60.0  # after the trial; a reset that takes longer is an error


@dataclass(frozen=True, kw_only=True)
class ResetPlan(RatePlan):
    """The options of a measurement, checked when the plan is created.

    `reset_after_s` is by default a third of the duration.
    """

    reset_after_s: Annotated[Fraction | None, RESET_AFTER] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        latest_s = self.timing.duration_s * LATEST
        refuse_frame_timeout(self.timing)
        check(RESET_AFTER, self.after_s, lowest=0, highest=latest_s)

    @property
    def after_s(self) -> Fraction:
        if self.reset_after_s is None:
            return self.timing.duration_s / 3
        return self.reset_after_s


def reset(plan: ResetPlan, session: Session) -> Measurement:
    """Measures the reset time per direction, by both methods of RFC 6201 section 1.3."""
    session = session.with_retry_time(plan.timing.retry_s)
    rate = rate_of(plan, session)
    after_s = float(plan.after_s + phase_1_s(session.traffic, plan.timing))
    resetter = Resetter(session.dut, after_s, lambda: session.engine.cancel())
    trials = plan.trials(
        session.with_observer(resetter),
        doubts=_doubts,
        resets=True,
        after=resetter.after,
    )
    with resetter:
        done = repeat(
            plan.repetitions,
            trials,
            lambda number: _trial(plan, trials, resetter, rate.fps, number),
            lambda one: _figures([one], rate.fps),
        )
    refuse_without_connections(done)
    return Measurement(
        procedure="reset",
        title="Reset",
        reference="RFC 6201 section 4",
        conditions=plan.conditions(session, rate_fps=rate.fps),
        deviations=(*_deviations(plan, rate, done), *reset_deviations(session)),
        remarks=(*rate.remarks, *_remarks(plan, done)),
        figures=_figures(done, rate.fps),
        counts=trials.counts,
    )


class Resetter(Observer):
    """Resets the gateway in each trial, `after_s` seconds after its first frame.

    As a context manager, it waits for a reset that has started, however the measurement ends. A
    reset that fails ends the trial by `cancel`.
    """

    def __init__(self, dut: Dut, after_s: float, cancel: Callable[[], None]) -> None:
        self._dut = dut
        self._after_s = after_s
        self._cancel = cancel
        self._thread: threading.Timer | None = None
        self._error: NatxyError | None = None
        self._done = ""  # a description of the reset in the last trial
        self._watched: tuple[WatchedCpu, ...] = ()  # before it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.cancel()
            self._thread.join(ENDS_WITHIN_S)

    def trial_progressed(self, progress: Progress) -> None:
        if self._thread is None and progress.stage == "sending":
            self._error, self._done, self._watched = None, "", self._dut.watched
            self._thread = threading.Timer(self._after_s, self._reset)
            self._thread.start()

    def after(self, trial: TrialRecord) -> dict[str, Any]:
        """Waits for the reset, and says how the gateway was reset in the trial."""
        del trial
        thread, self._thread = self._thread, None
        if thread is None:
            raise DutError(
                "The trial ended before the gateway could be reset; use a longer ", DURATION, "."
            )
        thread.join(ENDS_WITHIN_S)
        self.check()
        if not self._done:
            raise DutError(
                f"The reset did not end within {ENDS_WITHIN_S:g} s after the trial, so there is no "
                "result."
            )
        return {"reset": self._done, "reset_watched": self._dut.watched == self._watched}

    def check(self) -> None:
        """Raises the error of the reset, if it failed."""
        if self._error is not None:
            raise self._error

    def _reset(self) -> None:
        # The commands are part of the gateway: on the tester's core, they would make frames late.
        if cpus := self._dut.cpus:
            with suppress(OSError):  # they may be offline
                os.sched_setaffinity(threading.get_native_id(), cpus)
        try:
            self._done = self._dut.restart()
        except NatxyError as error:
            self._error = error
            self._cancel()


def _trial(
    plan: ResetPlan, trials: Trials, resetter: Resetter, rate_fps: int, number: int
) -> TrialRecord:
    load = replace(steady(rate_fps, plan.timing.duration_s), pauses=False, link_may_fall=True)
    try:
        return trials.run_valid(load, number, plan.invalid_repeats)
    except TrialCancelled:
        resetter.check()
        raise


def _figures(done: Sequence[TrialRecord], rate_fps: int) -> tuple[Figure, ...]:
    streams: dict[Direction, list[StreamResult]] = {}
    for trial in done:
        for stream in trial.result.streams:
            streams.setdefault(stream.direction, []).append(stream)
    figures = []
    for direction, seen in streams.items():
        lost = [stream.losses.frames if stream.losses else 0 for stream in seen]
        by_loss_s = tuple(frames / rate_fps for frames in lost)
        silent_s = tuple(_silence_s(stream) for stream in seen)
        never_back = tuple(_is_never_back(stream) for stream in seen)
        figures += [
            Figure(
                name=BY_LOSS,
                unit="s",
                direction=direction,
                values=by_loss_s,
                lower_bound=never_back,
                errors=_errors(by_loss_s, list(map(_lost_s, done))),
                statistic="mean",  # RFC 6201 section 1.4
            ),
            Figure(
                name=BY_TIMESTAMPS,
                unit="s",
                direction=direction,
                values=silent_s,
                lower_bound=never_back,
                errors=_errors(silent_s, list(map(_silent_s, done, seen))),
                statistic="mean",
            ),
            Figure(
                name=LOST,
                unit="frames",
                direction=direction,
                values=tuple(float(frames) for frames in lost),
                statistic="mean",
                primary=False,
            ),
        ]
    return tuple(figures)


def _errors(values_s: Sequence[float], noise_s: Sequence[float]) -> tuple[float, ...]:
    """Returns the errors of reset times, `noise_s` but no more than what was measured; empty if
    there are none."""
    errors = tuple(map(min, values_s, noise_s))
    return errors if any(errors) else ()


def _lost_s(trial: TrialRecord) -> float:
    """Returns the time whose frames, of one direction, absences may have lost besides the reset:
    the reset time may be too long by it."""
    away_s = trial.away_ns / 1e9 if trial.reset_watched else 0.0
    return len(trial.result.streams) * away_s


def _silent_s(trial: TrialRecord, stream: StreamResult) -> float:
    """Returns by how much a silence may be wrong.

    Absences of the gateway, one before and one after it, may have lengthened it. A poll that came
    late found the last frame before the silence, or the first one after it, too late.
    """
    away_s = 2 * trial.longest_away_ns / 1e9 if trial.reset_watched else 0.0
    return away_s + _unseen_s(stream)


def _unseen_s(stream: StreamResult) -> float:
    """Returns the longest time for which the tester may not have seen a frame that had arrived."""
    return (stream.poll_gap.max_ns + stream.lateness.max_ns) / 1e9


def _doubts(result: TrialResult) -> tuple[Reason, ...]:
    """Returns why a trial is INVALID whose silence may be the tester's own."""
    return tuple(
        Reason.of(
            Code.SILENCE_IN_DOUBT,
            stream.direction,
            silence_ns=silence_s * 1e9,
            unseen_ns=_unseen_s(stream) * 1e9,
            limit_share=ERROR_SHARE,
        )
        for stream in result.streams
        if (silence_s := _silence_s(stream))
        and _unseen_s(stream) > max(ABSENCE_NS / 1e9, float(ERROR_SHARE) * silence_s)
    )


def _silence_s(stream: StreamResult) -> float:
    """Returns the time from the last frame before the longest gap to the first one after it.

    It is 0 if no frame was lost, since the gap is then one between any two frames.
    """
    if stream.losses is None:
        return 0.0
    if _is_never_back(stream):
        return (stream.losses.longest_run_until_ns - stream.losses.longest_run_from_ns) / 1e9
    return (stream.silence.until_ns - stream.silence.from_ns) / 1e9


def _is_never_back(stream: StreamResult) -> bool:
    """Returns whether the longest loss lasts until the stream's last frame.

    A single lost frame at the end does not count.
    """
    losses = stream.losses
    if losses is None or losses.last_number != stream.due - 1:
        return False
    return losses.longest_run_until_ns > losses.last_due_ns


def _seen_after_s(done: Sequence[TrialRecord]) -> list[float]:
    """Returns when the longest loss of each trial with a loss began.

    A reset happens later than it was asked for, when the machine that performs it has time.
    """
    losses = [[s.losses for s in trial.result.streams if s.losses] for trial in done]
    return [min(each.longest_run_from_ns for each in seen) / 1e9 for seen in losses if seen]


def _deviations(plan: ResetPlan, rate: Rate, done: Sequence[TrialRecord]) -> Deviations:
    said = (
        *deviations(plan.timing, PROFILES["rfc"], repetitions=plan.repetitions),
        *rate_deviations(plan, rate, "RFC 2544 section 26.6"),
    )
    before_s = min(_seen_after_s(done), default=float(plan.after_s))
    right_s = float(RFC_BEFORE_S)
    if before_s >= right_s:
        return said
    facts = {"has_s": float(f"{before_s:.3g}"), "asked_s": right_s}
    return (*said, Deviation.of(Differs.TRAFFIC_BEFORE, OF_RESETS, **facts))


def _remarks(plan: ResetPlan, done: Sequence[TrialRecord]) -> Iterator[Remark]:
    for way in dict.fromkeys(trial.reset for trial in done):
        yield Remark.of(Topic.RESET, way=way)
    if not all(trial.reset_watched for trial in done):
        yield Remark.of(Topic.RESET_UNWATCHED)
    yield _how_reset(plan, _seen_after_s(done))
    streams = [stream for trial in done for stream in trial.result.streams]
    yield from applying(
        {
            Topic.LOST_TO_END: any(map(_is_never_back, streams)),
            Topic.NOTHING_LOST: any(stream.losses is None for stream in streams),
            Topic.USED_AGAIN: any(trial.phase_1 for trial in done),
        }
    )


def _how_reset(plan: ResetPlan, seen_s: Sequence[float]) -> Remark:
    """Returns when the reset was requested, and when the longest losses began."""
    asked_ns = plan.after_s * 10**9
    if not seen_s:
        return Remark.of(Topic.RESET_AT, asked_ns=asked_ns)
    first_ns, last_ns = min(seen_s) * 1e9, max(seen_s) * 1e9
    if duration(first_ns) == duration(last_ns):
        return Remark.of(Topic.RESET_SEEN, asked_ns=asked_ns, began_ns=first_ns)
    return Remark.of(Topic.RESETS_SEEN, asked_ns=asked_ns, first_ns=first_ns, last_ns=last_ns)
