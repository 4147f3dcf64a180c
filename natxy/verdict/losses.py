"""The losses of a trial that count: of frames that nothing disturbed (docs/decisions/0039)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Self

from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import CountedLoss
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction, Stream, TrialSpec
from natxy.search.settings import NO_LOSS, LossTolerance
from natxy.verdict.away import longest_away_s
from natxy.verdict.delay_error import late_by_tester
from natxy.verdict.silences import is_watched
from natxy.verdict.timeline import Full, Interval, Schedule, Timeline, Times, merged

Key = tuple[str, Direction]  # phase and direction


@dataclass(frozen=True, kw_only=True)
class Losses:
    """The time lines of all streams of a trial."""

    lines: dict[Key, Timeline]

    @classmethod
    def of(
        cls,
        spec: TrialSpec,
        result: TrialResult,
        absence: Absence | None = None,
        *,
        fills_buffers: bool = False,
    ) -> Self:
        """`absence` is the gateway's own record. `fills_buffers`: the load fills queues on purpose,
        so that what comes in an absence may be lost at any later time."""
        asked = {
            (phase.name, stream.direction): stream
            for phase in spec.phases
            for stream in phase.streams
        }
        lines: dict[Key, Timeline] = {}
        for stream in result.streams:
            key = stream.phase, stream.direction
            away = _away(stream, result, absence)
            watched = is_watched(result, absence)
            lines[key] = replace(
                _line(asked[key], stream, away, fills_buffers=fills_buffers),
                silent=0 if watched else stream.lost_in_silences,
                watched=watched,
                lows=stream.low_delays,
            )
        return cls(lines=lines)

    def growth_ns(self, stream: StreamResult) -> tuple[float, float] | None:
        """Returns by how much the delays of a stream would grow in clean time, and at most; None:
        not known."""
        line = self.lines.get((stream.phase, stream.direction))
        return None if line is None else line.growth_ns

    def clean(self, stream: StreamResult) -> int:
        """Returns how many frames of a stream nothing disturbed."""
        return self.lines[stream.phase, stream.direction].clean

    def excused(self, stream: StreamResult) -> int:
        """Returns how many lost frames of a stream do not count."""
        return min(self.lines[stream.phase, stream.direction].excused, stream.missing)

    def without_excused(self, result: TrialResult, phases: Collection[str]) -> TrialResult:
        """Returns the result as if of the disturbed frames no larger share were lost than of the
        clean ones."""
        off = {(of.phase, of.direction): of.not_counted for of in self.counted(phases)}
        streams = tuple(
            stream.with_received(min(off.get((stream.phase, stream.direction), 0), stream.missing))
            for stream in result.streams
        )
        return result.model_copy(update={"streams": streams})

    def clean_share(self, phases: Collection[str]) -> float:
        """Returns the smallest share of the frames of a direction that nothing disturbed."""
        return min(
            (line.clean / line.frames for line in self.lines_of(phases) if line.frames), default=1
        )

    def counted(self, phases: Collection[str]) -> Iterator[CountedLoss]:
        """Yields what the record of a trial keeps of each stream of these phases."""
        for (phase, direction), line in self.lines.items():
            if phase in phases:
                spread = _spread([line])
                full = (line.full() if line.lost else Full()) if spread is None else spread
                first, first_error = line.first_lost(full)
                yield CountedLoss(
                    phase=phase,
                    direction=direction,
                    frames=line.frames,
                    clean=line.clean,
                    pieces=len(line.pieces) if line.full().is_spread(line.clean) else 1,
                    lost=line.lost,
                    first_lost=first,
                    first_error=first_error,
                    excused=line.excused,
                    full_frames=full.frames,
                    full_share=round(full.share, 6),
                    full_error=round(full.error, 6) if full.frames else 0.0,
                    spread=spread is not None,
                )

    def fills_pieces(self, stream: StreamResult) -> bool:
        """Returns whether what a stream lost fills its undisturbed time piece by piece: then the
        pauses between them do not matter."""
        line = self.lines[stream.phase, stream.direction]
        return 2 * line.silent < line.lost and line.full().is_spread(line.clean)

    def lines_of(self, phases: Collection[str]) -> Iterator[Timeline]:
        return (line for (phase, _), line in self.lines.items() if phase in phases)


def with_last_counted(result: TrialResult, losses: Losses) -> TrialResult:
    """Returns the result with the last loss of each stream that counts."""
    streams = []
    for stream in result.streams:
        if stream.losses is not None:
            last = {"last_counted": losses.lines[stream.phase, stream.direction].last_lost}
            stream = stream.model_copy(update={"losses": stream.losses.model_copy(update=last)})
        streams.append(stream)
    return result.model_copy(update={"streams": tuple(streams)})


def full_of(trials: Collection[Losses], phases: Collection[str]) -> Full | None:
    """Returns the time that the losses fill in trials of one rate together, of the worse direction.

    If the losses of no direction fill a time, those of all together may. None: they do not.
    """
    keys = {key for trial in trials for key in trial.lines if key[0] in phases}
    own = [_spread([trial.lines[key] for trial in trials if key in trial.lines]) for key in keys]
    found = [full for full in own if full is not None]
    if found:
        return max(found, key=lambda full: full.share)
    return _spread([line for trial in trials for line in trial.lines_of(phases)])


def _spread(lines: Collection[Timeline]) -> Full | None:
    """Returns the time that the losses of these lines fill, one after the other; None if half of
    them were lost in silences, since pauses of a stranger's gateway may fill it, too."""
    if 2 * sum(line.silent for line in lines) >= max(1, sum(line.lost for line in lines)):
        return None
    for of in (Timeline.full, Timeline.span):
        full = sum((of(line) for line in lines if line.lost), start=Full())
        if full.is_spread(sum(line.clean for line in lines)):
            return full
    return None


def _away(stream: StreamResult, result: TrialResult, absence: Absence | None) -> list[Times]:
    """Returns the gateway's absences on the clock of the stream's due times."""
    watched = [watch for watch in result.watched if watch.phase == stream.phase]
    away: list[Times] = [each for watch in watched for each in watch.away_at]
    if absence is not None and stream.start_raw_ns:
        start_ns = stream.start_raw_ns
        away += [(begin - start_ns, end - start_ns) for begin, end in absence.intervals]
    return away


def _line(
    asked: Stream, stream: StreamResult, away: list[Times], *, fills_buffers: bool
) -> Timeline:
    disturbed: list[Interval] = []
    for sender in range(stream.senders):
        pauses = [
            (number, float(ns))
            for number, ns, _ in stream.pauses.at
            if number % stream.senders == sender
        ]
        late = [run for run in stream.late_runs if run[0] % stream.senders == sender]
        schedule = Schedule.of(asked.segments, pauses)
        disturbed += schedule.disturbed(away, late)
    disturbed = merged(disturbed)
    if fills_buffers and disturbed:
        disturbed = [(disturbed[0][0], schedule.frames)]
    paused = (number for number, _, _ in stream.pauses.at)
    return Timeline.of(schedule, stream.lost_runs, disturbed, paused)


def excuse(
    spec: TrialSpec,
    result: TrialResult,
    absence: Absence | None,
    accepted: LossTolerance = NO_LOSS,
    phases: Collection[str] | None = None,
    *,
    fills_buffers: bool = False,
    least_clean: float = 0.0,
) -> Reason | None:
    """Returns a reason if no loss counts, or only as many as are accepted of the clean frames, or
    if a smaller share of the frames than `least_clean` is clean.

    Losses are accepted in `phases`; None: in all. Returns None if no more than this was lost, or if
    something else than a loss is wrong.
    """
    if result.misdelivered or result.changed or result.wrong:
        return None
    losses = Losses.of(spec, result, absence, fills_buffers=fills_buffers)
    share = {
        stream.phase: accepted.fraction if phases is None or stream.phase in phases else 0
        for stream in result.streams
    }
    beyond = [each for each in result.streams if each.lost > each.sent * share[each.phase]]
    if not beyond:
        return None
    says_little = losses.clean_share({each.phase for each in beyond}) < least_clean
    if says_little or all(
        each.lost - losses.excused(each) - _late(each, spec, result, absence)
        <= losses.clean(each) * share[each.phase]
        for each in beyond
    ):
        return _reason(result, absence, beyond)
    return None


def _reason(
    result: TrialResult, absence: Absence | None, losing: Collection[StreamResult]
) -> Reason:
    phases = {stream.phase for stream in losing}
    lost = sum(stream.lost for stream in losing)
    seen = [
        (watch.away_ns, watch.longest_away_ns, watch.who)
        for watch in result.watched
        if watch.phase in phases
    ]
    if absence is not None:
        seen.append((absence.total_s * 1e9, absence.longest_s * 1e9, absence.where))
    total_ns, longest_ns, where = max(seen, default=(0.0, 0.0, ""))
    if not longest_ns:
        burst = max(stream.largest_burst for stream in losing)
        return Reason.of(Code.TESTER_AWAY, burst=burst, lost=lost)
    facts = {"total_ns": max(total_ns, longest_ns), "longest_ns": longest_ns, "lost": lost}
    return Reason.of(Code.GATEWAY_AWAY, where, **facts)


def _late(
    stream: StreamResult, spec: TrialSpec, result: TrialResult, absence: Absence | None
) -> int:
    """Returns how many frames of a stream may have been late because of an absence.

    How many waited behind others is not known: a gateway whose limit is the trial's rate never
    catches up. Without a frame timeout, a late frame is one that arrived in a later phase.
    """
    timeout_ns = spec.frame_timeout_ns or spec.drain_ns
    longest_ns = longest_away_s(result, absence, stream.phase) * 1e9
    waited = longest_ns >= timeout_ns / 4
    return stream.late if waited or late_by_tester(stream, timeout_ns) else 0
