"""The frame loss rates of a trial, and the error of each (docs/losses-and-absences.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from natxy.model.stream_counters import KindCounters
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import CountedLoss, TrialRecord
from natxy.model.trial_spec import Direction
from natxy.verdict.pacing import ROUND_NS
from natxy.verdict.placement import least_forwarded
from natxy.verdict.silences import is_watched

Key = tuple[Direction, str]  # and the kind of its frames, or "" for all of them


@dataclass(frozen=True, kw_only=True)
class LossRate:
    percent: float  # of the frames sent
    error: float  # in % of the frames sent, either way
    highest: float  # that noise lets the gateway lose, in %: a bound of what it loses without


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


def loss_rates(trial: TrialRecord, excused: Sequence[TrialRecord] = ()) -> dict[Key, LossRate]:
    """Returns the loss of each direction and kind.

    `excused` are trials at the same rate that were left out because of what they lost, since
    something else than the rate explains it.
    """
    left_out = [_highest_losses(other) for other in excused]
    highest = _highest_losses(trial)
    counted = {each.direction: each for each in trial.counted}
    streams = {each.direction: each for each in trial.result.streams}
    found: dict[Key, LossRate] = {}
    for key, frames in _frames(trial).items():
        stream, of = streams[key[0]], counted.get(key[0])
        loss = frames.loss_percent * _part_that_counts(stream, of)
        too_high = max(
            _by_placement(trial, frames, loss), _by_silences(trial, stream, frames, loss)
        )
        statistical = 0.0
        if of is not None and of.spread and of.full_share:
            statistical = max(loss * of.full_error / of.full_share, frames.percent(1))
            if of.is_disturbed:
                either_way = statistical + 100 * of.error_of_first
                largest = max(too_high, either_way)
                most = max(loss + either_way, highest[key])
                found[key] = LossRate(percent=loss, error=largest, highest=most)
                continue
        of_left_out = [losses[key] for losses in left_out if key in losses]
        too_low = _mean_with(highest[key], of_left_out) - frames.loss_percent
        either_way = abs(frames.loss_percent - loss)
        if not loss and of is not None:
            either_way = min(either_way, 100 * of.unseen)
        largest = max(too_high, too_low, either_way, statistical)
        most = max(loss + statistical, highest[key])
        found[key] = LossRate(percent=loss, error=largest, highest=most)
    return found


def _frames(trial: TrialRecord) -> dict[Key, _Frames]:
    """Returns the frames of each direction, and of each kind if several were sent."""
    frames: dict[Key, _Frames] = {}
    for stream in trial.result.streams:
        counted = [(kind, counters) for kind, counters in stream.counters() if counters.sent]
        if not counted:
            continue  # there is no share of nothing
        frames[stream.direction, ""] = _Frames.of([counters for _, counters in counted])
        if len(counted) > 1:
            for kind, counters in counted:
                frames[stream.direction, kind] = _Frames.of([counters])
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


def silent_share(trial: TrialRecord, stream: StreamResult) -> float:
    """Returns the share of a stream's frames that a gateway, which nobody watches, lost in
    silences."""
    if is_watched(trial.result, trial.absence):
        return 0.0
    return stream.lost_in_silences / max(1, stream.sent)


def _by_silences(trial: TrialRecord, stream: StreamResult, frames: _Frames, loss: float) -> float:
    """Returns by how much silences may have made a loss too high, in %: it may be that of the time
    in which the gateway forwarded something."""
    silent = frames.sent * silent_share(trial, stream)
    if not silent:
        return 0.0
    lost = max(0.0, frames.sent - frames.received - silent)
    return loss - (100 * lost / (frames.sent - silent) if silent < frames.sent else 0.0)


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
