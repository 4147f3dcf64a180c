"""The loss of the direction that lost the larger share."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.trial.connection_table import sample_is_right


@dataclass(frozen=True, kw_only=True)
class Loss:
    sent: int
    lost: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.lost, self.sent) if self.sent else Fraction(0)


def worst_loss(trial: TrialRecord) -> Loss:
    """Returns the loss of the worse direction, of what counts (docs/decisions/0039).

    If a mapping changed, a reply was delivered to the wrong connection (also in the sample), or the
    gateway lost connections, all frames count as lost, which no tolerance allows.
    """
    result = trial.result
    off = {(each.phase, each.direction): each.not_counted for each in trial.counted}
    losses = (
        _loss(stream, off.get((stream.phase, stream.direction), 0)) for stream in result.streams
    )
    worst = max(losses, key=lambda loss: loss.share, default=Loss(sent=0, lost=0))
    broken = result.changed or result.wrong or not sample_is_right(trial.sample)
    gone = broken or trial.lost_connections
    return Loss(sent=worst.sent, lost=worst.sent) if gone else worst


def lost_share(trial: TrialRecord) -> Fraction | None:
    """Returns the lost share; None if a trial ended early and it is unknown (decision 0011)."""
    return None if trial.result.ended_early else worst_loss(trial).share


def _loss(stream: StreamResult, not_counted: int) -> Loss:
    return Loss(sent=stream.sent, lost=stream.lost_or_wrong - min(not_counted, stream.missing))
