"""Loss of the direction that lost the larger share: each has to stay within what is accepted."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import StreamResult
from natxy.procedure.connection_table import sample_is_right


@dataclass(frozen=True, kw_only=True)
class Loss:
    sent: int
    lost: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.lost, self.sent) if self.sent else Fraction(0)


def worst_loss(trial: TrialRecord) -> Loss:
    """A mapping that changed, a reply to the wrong connection, of the sample too, and connections
    that the gateway lost are beyond every tolerance: all frames count as lost."""
    result = trial.result
    losses = (_loss(stream) for stream in result.streams)
    worst = max(losses, key=lambda loss: loss.share, default=Loss(sent=0, lost=0))
    broken = result.changed or result.wrong or not sample_is_right(trial.sample)
    gone = broken or trial.lost_connections
    return Loss(sent=worst.sent, lost=worst.sent) if gone else worst


def lost_share(trial: TrialRecord) -> Fraction | None:
    """None: nobody knows. A trial that ended early left frames on their way (decision 0011)."""
    return None if trial.result.ended_early else worst_loss(trial).share


def _loss(stream: StreamResult) -> Loss:
    return Loss(sent=stream.sent, lost=stream.sent - stream.received)
