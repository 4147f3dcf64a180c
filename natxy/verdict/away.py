"""How long a gateway was away, at most; natxy/verdict/losses.py has the times of its absences.

The largest time counts that a watched CPU or the gateway's own record has.
"""

from collections.abc import Iterable

from natxy.model.disturbance import Absence
from natxy.model.trial_result import TrialResult


def away_s(result: TrialResult, phase: str, absence: Absence | None) -> float:
    """Returns the sum of the absences in a phase."""
    watched_s = [watch.away_ns / 1e9 for watch in result.watched if watch.phase == phase]
    return max([*watched_s, *(() if absence is None else (absence.total_s,))], default=0.0)


def longest_away_s(result: TrialResult, phase: str, absence: Absence | None) -> float:
    """Returns the longest absence in a phase, which may be another CPU's than their sum."""
    watched_s = [watch.longest_away_ns / 1e9 for watch in result.watched if watch.phase == phase]
    return max([*watched_s, *(() if absence is None else (absence.longest_s,))], default=0.0)


def away_during(
    result: TrialResult, phases: Iterable[str], absence: Absence | None
) -> tuple[float, float]:
    """Returns the sum of the absences in all of these phases, and the longest one, in seconds; the
    gateway's own record has no phases."""
    names = list(phases)
    watched_s = (
        sum(away_s(result, phase, None) for phase in names),
        max((longest_away_s(result, phase, None) for phase in names), default=0.0),
    )
    own_s = (0.0, 0.0) if absence is None else (absence.total_s, absence.longest_s)
    return max(watched_s, own_s, key=lambda each: each[0])
