"""Decides whether connections failed for another reason than the rate, such as a full table."""

from collections.abc import Sequence
from fractions import Fraction

from natxy.model.phase_names import CLOSE, VALIDATE
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict

STEADY_S = Fraction(1, 4)
QUARTER = 3.9  # nearly 4, since rates are rounded down
MORE = 1.01  # if the rate limits the connections, a lower rate creates more by this factor


def is_stuck(done: Sequence[TrialRecord], frames: int) -> bool:
    """Returns whether trials failed for another reason than their rate.

    This is so if a trial at a quarter of the rate got no more connections than a faster one that
    was long in comparison to what a queue holds.
    """
    last = done[-1]
    if last.verdict is not Verdict.FAIL:
        return False
    faster = (
        trial
        for trial in done
        if trial.verdict is Verdict.FAIL
        and trial.rate_fps > last.rate_fps * QUARTER
        and frames >= trial.rate_fps * STEADY_S
    )
    return any(_came_through(last) <= _came_through(trial) * MORE for trial in faster)


def _came_through(trial: TrialRecord) -> int:
    """Returns how many connections were created or, after a complete phase 1, answered; in a
    tear-down, how many were closed."""
    if closed := trial.result.stream_of(CLOSE):
        return closed.sent - closed.lost
    validated = trial.result.stream_of(VALIDATE)
    if validated is not None:
        return validated.sent - validated.lost
    return trial.result.connections.stored if trial.result.connections else 0
