"""How long a gateway was away, at most; natxy/verdict/losses.py has the times of its absences.

The largest time counts that a watched CPU or the gateway's own record has, which knows no phases.
"""

from natxy.model.disturbance import Absence
from natxy.model.trial_result import TrialResult


def away_s(result: TrialResult, absence: Absence | None, *phases: str) -> float:
    """Returns the sum of the absences in these phases."""
    by_cpu = ([w.away_ns / 1e9 for w in result.watched if w.phase == phase] for phase in phases)
    watched_s = sum(max(times_s, default=0.0) for times_s in by_cpu)
    return watched_s if absence is None else max(watched_s, absence.total_s)


def longest_away_s(result: TrialResult, absence: Absence | None, *phases: str) -> float:
    """Returns the longest absence in these phases, which may be another CPU's than their sum."""
    watched_s = [watch.longest_away_ns / 1e9 for watch in result.watched if watch.phase in phases]
    return max([*watched_s, 0.0 if absence is None else absence.longest_s])
