"""Decides whether frames were lost only because the gateway, or the tester, was kept from its CPU.

A gateway that can forward at the trial's rate loses at most the frames that arrive during its
absence: rate x time away, in all directions together, and one more of each direction, since frames
come at the beginning and at the end of an absence. How the loss is divided between directions that
share a CPU depends on the order in which the gateway works off what has waited. A larger loss is
the gateway's own; a loss that is not larger says nothing. If a loss is accepted, the absence must
only explain the rest (docs/decisions/0018).

A queue may hold what comes during an absence. If the absence lasts to the end of the drain, these
frames are lost all the same.

A tester that was kept from its CPU for a moment makes up for it with a burst (docs/decisions/0017).
Of a burst, a gateway's queue must hold ROOM_FRAMES; the rest of it may be lost by a gateway that
can forward at the trial's rate.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from natxy.dut.base import Absence
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import Phase, Stream, TrialSpec
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance
from natxy.verdict.catch_up import ROOM_FRAMES, Sending
from natxy.verdict.delay_error import late_by_tester

# The watch sees an absence to within one of its periods, a tenth of a millisecond, at each end. A
# frame that came just before it may not have been forwarded yet.
WATCHED_TO_S = 0.0002
ROUNDING_S = 1e-6  # of ticks, nanoseconds and seconds


@dataclass(frozen=True, kw_only=True)
class Away:
    """Absences of a gateway in a phase: their sum and the longest, as upper bounds."""

    where: str  # the CPU, or the gateway
    total_s: float = 0.0
    longest_s: float = 0.0
    # How long frames came in an absence that lasted to the end of the drain; 0: there was none.
    waited_s: float = 0.0


NOT_AWAY = Away(where="the gateway")


def away_in(result: TrialResult, phase: str, absence: Absence | None) -> Away:
    """Returns the absences in a phase, of the watched CPU that was away most, or by the gateway's
    own record; the longest one may be another CPU's."""
    seen = [
        Away(
            where=f"the gateway's CPU {watch.cpu}",
            total_s=watch.away_ns / 1e9,
            longest_s=watch.longest_away_ns / 1e9,
            waited_s=watch.end_away_ns / 1e9,
        )
        for watch in result.watched
        if watch.phase == phase
    ]
    if absence is not None:
        seen.append(Away(where=absence.where, total_s=absence.total_s, longest_s=absence.longest_s))
    return _worst(seen)


def _worst(seen: Sequence[Away]) -> Away:
    """Returns the largest times, which may be those of different CPUs."""
    most = max(seen, key=lambda away: (away.total_s, away.waited_s), default=NOT_AWAY)
    worst = replace(
        most,
        longest_s=max((away.longest_s for away in seen), default=0.0),
        waited_s=max((away.waited_s for away in seen), default=0.0),
    )
    return worst if worst == most else replace(worst, where="the gateway")


def away_during(result: TrialResult, phases: Iterable[str], absence: Absence | None) -> Away:
    """Returns the absences in all of these phases; the gateway's own record has no phases."""
    seen = [away_in(result, phase, None) for phase in phases]
    watched = Away(
        where=max(seen, key=lambda away: away.total_s, default=NOT_AWAY).where,
        total_s=sum(away.total_s for away in seen),
        longest_s=max((away.longest_s for away in seen), default=0.0),
    )
    own = away_in(result, "", absence)
    return max(watched, own, key=lambda away: away.total_s)


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The tolerances by which a trial is judged, and the phases for which they count."""

    tolerances: tuple[LossTolerance, ...] = (NO_LOSS,)
    phases: Collection[str] | None = None  # None: all
    # In the gateway's queue, so that a shorter absence loses none; 0 if the load fills it on
    # purpose.
    room_frames: int = ROOM_FRAMES

    def frames(self, tolerance: LossTolerance, stream: StreamResult) -> int:
        """Returns how many frames of a stream may be lost."""
        measured = self.phases is None or stream.phase in self.phases
        return int(stream.sent * tolerance.fraction) if measured else 0


ACCEPTED_NONE = Accepted()


@dataclass(frozen=True, kw_only=True)
class _Noise:
    """The noise that may have cost frames of a phase, of all its directions together."""

    away: Away
    rates_fps: tuple[int, ...]  # of the directions
    overflow_frames: int  # that the tester's bursts have beyond the room of a queue
    at_once_frames: int  # in the largest of these bursts
    room_frames: int  # in the gateway's queue
    # How long frames came that the gateway may still have held when the drain ended.
    waiting_s: float

    @classmethod
    def of(
        cls,
        phase: Phase,
        spec: TrialSpec,
        result: TrialResult,
        absence: Absence | None,
        accepted: Accepted = ACCEPTED_NONE,
    ) -> "_Noise":
        sending = Sending.of(phase, result)
        streams = [stream for stream in result.streams if stream.phase == phase.name]
        away = away_in(result, phase.name, absence)
        own_s = _waited_by_own_record_s(spec, absence, ended_early=result.ended_early)
        watched_s = away.waited_s + WATCHED_TO_S if away.waited_s else 0.0
        return cls(
            away=replace(away, waited_s=max(away.waited_s, own_s)),
            rates_fps=tuple(map(_highest, phase.streams)),
            overflow_frames=sum(
                sending.overflow_frames(each, accepted.room_frames) for each in streams
            ),
            at_once_frames=max(map(sending.frames_at_once, streams), default=0),
            room_frames=accepted.room_frames,
            waiting_s=max(watched_s, own_s + ROUNDING_S if own_s else 0.0),
        )

    @property
    def while_away(self) -> int:
        """Frames of all directions that came while the gateway was away."""
        return self._frames_in(self.away.total_s) if self.away.total_s else 0

    @property
    def overflow(self) -> int:
        """Frames that absences may have cost because they did not fit into a queue."""
        outlasted = max(self.rates_fps) * self.away.longest_s < self.room_frames
        return 0 if outlasted else self.while_away

    @property
    def waiting(self) -> int:
        """Frames of all directions that a gateway may still have held when the drain ended."""
        return self._frames_in(self.waiting_s) if self.waiting_s else 0

    def _frames_in(self, time_s: float) -> int:
        """Returns the largest number of frames of all directions that come in such a time."""
        return sum(int(rate_fps * time_s) + 1 for rate_fps in self.rates_fps)


def _waited_by_own_record_s(
    spec: TrialSpec, absence: Absence | None, *, ended_early: bool
) -> float:
    """Returns how long frames may have come in an absence that lasted to the end of the drain.

    The record does not say when an absence was. A trial that ended early has no drain, but it ended
    because a frame was late by as much.
    """
    if absence is None or not absence.longest_s:
        return 0.0
    overdue_s = (spec.frame_timeout_ns if ended_early else 0) or spec.drain_ns
    waited_s = absence.longest_s - overdue_s / 1e9
    if waited_s < -WATCHED_TO_S:
        return 0.0
    return absence.longest_s if ended_early else max(waited_s, ROUNDING_S)


@dataclass(frozen=True, kw_only=True)
class _Losing:
    """A direction of a phase that lost frames, with the noise of the phase."""

    stream: StreamResult
    noise: _Noise


def excuse(
    spec: TrialSpec,
    result: TrialResult,
    absence: Absence | None,
    accepted: Accepted = ACCEPTED_NONE,
) -> str | None:
    """Returns a sentence if absences of the gateway can have caused the whole loss of the trial, or
    the part of it that exceeds one of the tolerances.

    Returns None if no loss exceeds the tolerance, or if the directions of a phase lost more than
    absences explain. Late frames may also be due to the tester (late_by_tester). An absence never
    explains a fault that is not a loss, such as a mapping that changed.
    """
    if result.misdelivered or result.changed or result.wrong:
        return None
    noise = {phase.name: _Noise.of(phase, spec, result, absence, accepted) for phase in spec.phases}
    losing = [
        _Losing(stream=stream, noise=noise[stream.phase])
        for stream in result.streams
        if stream.lost
    ]
    for tolerance in accepted.tolerances:
        beyond = [one for one in losing if one.stream.lost > accepted.frames(tolerance, one.stream)]
        phases = dict.fromkeys(one.stream.phase for one in beyond)
        of_phases = [[one for one in beyond if one.stream.phase == phase] for phase in phases]
        if beyond and all(_is_explained(each, spec, accepted, tolerance) for each in of_phases):
            return _sentence(beyond)
    return None


def explained_frames(
    spec: TrialSpec, result: TrialResult, absence: Absence | None, phases: Collection[str]
) -> int:
    """Returns how many frames of these phases noise may have cost at most, in all directions
    together; all of them may be of one direction.

    The queue of a gateway that is overloaded is full, so no absence is too short.
    """
    explained = 0
    for phase in spec.phases:
        if phase.name in phases:
            noise = _Noise.of(phase, spec, result, absence)
            streams = [stream for stream in result.streams if stream.phase == phase.name]
            late = sum(_late(_Losing(stream=stream, noise=noise), spec) for stream in streams)
            explained += max(noise.while_away, noise.waiting) + noise.overflow_frames + late
    return explained


def _highest(stream: Stream) -> int:
    return max(segment.highest_rate_fps for segment in stream.segments)


def _sentence(losing: Sequence[_Losing]) -> str | None:
    noises = [one.noise for one in losing]
    away = max((noise.away for noise in noises), key=lambda away: (away.total_s, away.waited_s))
    in_all_s = max(away.total_s, away.longest_s)  # without arrivals, the sum lacks the longest
    lost = sum(one.stream.lost for one in losing)
    late = any(one.stream.late for one in losing)
    overflow_frames = max(noise.overflow_frames for noise in noises)
    if overflow_frames < lost and any(
        noise.waiting > noise.overflow + noise.overflow_frames for noise in noises
    ):
        how = (
            f"{away.where} was away from {away.waited_s * 1000:.2f} ms before the last frame left "
            "until the drain ended"
        )
    elif overflow_frames >= lost or not in_all_s:
        if not overflow_frames:
            return None
        at_once = max(noise.at_once_frames for noise in noises)
        return (
            f"the tester was kept from its CPU and then sent up to {at_once:,} frames at once, "
            f"which explains the {lost:,} frames that are missing"
        )
    else:
        how = (
            f"{away.where} was away for {in_all_s * 1000:.2f} ms in all, at most "
            f"{away.longest_s * 1000:.2f} ms at once"
        )
    return f"{how}, which explains the {lost:,} frames that are missing{' or late' * late}"


def _is_explained(
    losing: Sequence[_Losing], spec: TrialSpec, accepted: Accepted, tolerance: LossTolerance
) -> bool:
    """Returns whether absences explain what the directions of one phase lost beyond a tolerance."""
    noise = losing[0].noise
    explained = max(noise.overflow, noise.waiting) + noise.overflow_frames
    missing = min(sum(one.stream.missing for one in losing), explained)
    late = sum(_late(one, spec) for one in losing)
    accepted_frames = sum(accepted.frames(tolerance, one.stream) for one in losing)
    return sum(one.stream.lost for one in losing) - late - missing <= accepted_frames


def _late(one: _Losing, spec: TrialSpec) -> int:
    """Returns how many frames of a direction may have been late because of an absence.

    A late frame has waited for the gateway, or behind other frames that have. How many waited
    behind others is unknown: a gateway whose limit is the trial's rate never catches up. Without a
    frame timeout, a late frame is one that arrived in a later phase, after the drain.
    """
    timeout_ns = spec.frame_timeout_ns or spec.drain_ns
    waited = one.noise.away.longest_s * 1e9 >= timeout_ns / 4 or one.noise.waiting > 0
    return one.stream.late if waited or late_by_tester(one.stream, timeout_ns) else 0
