"""How long a gateway was away in all; natxy/verdict/losses.py has the times of its absences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from natxy.model.disturbance import Absence
from natxy.model.trial_result import TrialResult


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
