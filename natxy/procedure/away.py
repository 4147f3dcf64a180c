"""Whether a gateway that was kept from its CPU has lost frames for that reason alone.

A gateway that forwards at least at the trial's rate loses at most what arrives while it is away:
rate x time away. So a loss of more is the gateway's own, and a loss of as much says nothing. Where
a loss is accepted, it is what exceeds that which the absence has to explain (docs/decisions/0018).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from natxy.dut.base import Absence
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.delay_error import late_by_tester
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance

# A queue that no overload has filled has room for so many: a shorter absence loses nothing.
ROOM_FRAMES = 64


@dataclass(frozen=True, kw_only=True)
class Away:
    """How long a gateway was away in a phase, in all and at once; upper bounds."""

    where: str
    total_s: float = 0.0
    longest_s: float = 0.0


NOT_AWAY = Away(where="the gateway")


def away_in(result: TrialResult, phase: str, absence: Absence | None) -> Away:
    """By the CPUs that were watched, the worst of which counts, or by the gateway's own record."""
    seen = [
        Away(
            where=f"the gateway's CPU {watch.cpu}",
            total_s=watch.away_ns / 1e9,
            longest_s=watch.longest_away_ns / 1e9,
        )
        for watch in result.watched
        if watch.phase == phase
    ]
    if absence is not None:
        seen.append(Away(where=absence.where, total_s=absence.total_s, longest_s=absence.longest_s))
    return max(seen, key=lambda away: away.total_s, default=NOT_AWAY)


def away_during(result: TrialResult, phases: Iterable[str], absence: Absence | None) -> Away:
    """In all of these phases; the gateway's own record knows no phases."""
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
    """The losses that a trial is judged by, and the phases whose loss that is; None: all."""

    tolerances: tuple[LossTolerance, ...] = (NO_LOSS,)
    phases: Collection[str] | None = None
    room_frames: int = ROOM_FRAMES  # in the gateway's queue; none where a load fills it on purpose

    def frames(self, tolerance: LossTolerance, stream: StreamResult) -> int:
        """That may be lost."""
        measured = self.phases is None or stream.phase in self.phases
        return int(stream.sent * tolerance.fraction) if measured else 0


ACCEPTED_NONE = Accepted()


@dataclass(frozen=True, kw_only=True)
class _Losing:
    """A direction of a phase that lost frames, and how long the gateway was away in it."""

    asked: Stream
    stream: StreamResult
    away: Away


def excuse(
    spec: TrialSpec,
    result: TrialResult,
    absence: Absence | None,
    accepted: Accepted = ACCEPTED_NONE,
) -> str | None:
    """Returns a sentence where the gateway's absence can have caused every loss of the trial, or
    all of it that exceeds one of the accepted losses.

    None where nothing was lost beyond, or a direction of a phase lost more. Frames that came late
    may be the tester's as well (late_by_tester), whatever else was lost. What was no loss, such as
    a mapping that changed, no absence explains.
    """
    if result.misdelivered or result.changed or result.wrong:
        return None
    losing = [
        _Losing(asked=asked, stream=stream, away=away_in(result, stream.phase, absence))
        for asked, stream in _streams(spec, result)
        if stream.lost
    ]
    for tolerance in accepted.tolerances:
        beyond = [one for one in losing if one.stream.lost > accepted.frames(tolerance, one.stream)]
        if beyond and all(_is_explained(one, spec, accepted, tolerance) for one in beyond):
            return _sentence(beyond)
    return None


def _sentence(losing: Sequence[_Losing]) -> str | None:
    away = max((one.away for one in losing), key=lambda away: away.total_s)
    in_all_s = max(away.total_s, away.longest_s)  # where no frame came, the longest is not in it
    if not in_all_s:
        return None
    lost = sum(one.stream.lost for one in losing)
    late = any(one.stream.late for one in losing)
    enough = "for" if late else "to lose"
    return (
        f"{away.where} was away for {in_all_s * 1000:.2f} ms in all, at most "
        f"{away.longest_s * 1000:.2f} ms at once: enough {enough} the {lost:,} frames that are "
        f"missing{' or late' if late else ''}"
    )


def _streams(spec: TrialSpec, result: TrialResult) -> Iterator[tuple[Stream, StreamResult]]:
    asked = {
        (phase.name, stream.direction): stream for phase in spec.phases for stream in phase.streams
    }
    for stream in result.streams:
        yield asked[(stream.phase, stream.direction)], stream


def _is_explained(
    one: _Losing, spec: TrialSpec, accepted: Accepted, tolerance: LossTolerance
) -> bool:
    # A frame that was late has waited, for the gateway or behind others that did. How many have
    # waited behind others is not known: a gateway that just does the rate never makes up for it.
    # Without a frame timeout it came in a later phase, after the drain.
    timeout_ns = spec.frame_timeout_ns or spec.drain_ns
    waited = one.away.longest_s * 1e9 >= timeout_ns / 4
    late = one.stream.late if waited or late_by_tester(one.stream, timeout_ns) else 0
    rate_fps = max(segment.highest_rate_fps for segment in one.asked.segments)
    outlasted = rate_fps * one.away.longest_s < accepted.room_frames
    missing = 0 if outlasted else min(one.stream.missing, int(rate_fps * one.away.total_s))
    return one.stream.lost - late - missing <= accepted.frames(tolerance, one.stream)
