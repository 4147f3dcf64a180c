"""The failed trials that bound the result of a search, and whether they tell anything.

Losses that the rate does not explain have a pattern (docs/losses-and-absences.md).

The loss of a trial is that of the direction that lost the larger share.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Self

from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import WatchResult
from natxy.model.verdict import Limit, Pattern
from natxy.trial.connection_table import sample_is_right
from natxy.verdict.losses import Losses
from natxy.verdict.placement import bad_placement, by_the_best, is_badly_placed

HOLE = 4  # frames in a row, all of which are lost: by chance, single ones are
MOST = 1 / 2  # of the lost frames


@dataclass(frozen=True, kw_only=True)
class Bound:
    failures: tuple[TrialRecord, ...]  # at the lowest rate that failed; none: nothing failed
    seen: tuple[WatchResult, ...]  # the placements of the CPUs in all trials of the search

    def tells_nothing(self, later: Iterable["Bound"]) -> bool:
        """Returns whether a failure was placed badly by what this search and later ones know."""
        known = [*self.seen, *(watch for each in later for watch in each.seen)]
        return any(was_badly_placed(trial, known) for trial in self.failures)


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """The result of a search for a rate, and the reason why the search ended."""

    rate_fps: int  # of frames or of connections; the highest that passed, or 0 if none did
    limit: Limit
    lower_bound: bool  # the DUT can do at least this rate: something else ended the search
    # At Limit.TESTER: True if the reason for the INVALID trials grows with the rate, False if
    # noise lasted through all repeats, or the failures turned out to tell nothing.
    too_slow: bool
    bound: Bound
    error_fps: int = 0  # how far above the rate the failure is that bounds it
    is_wide: bool = False  # that is more than the search's error
    # What the gateway forwards if it is overloaded, if that is less than the rate.
    overloaded_fps: int | None = None
    passed_fps: int = 0  # trials passed at it, but none for long; 0: the result is what passed
    by_port: bool = False  # the tester's port refused frames in the failure that bounds the rate
    pattern: Pattern | None = None  # of losses above the rate that it does not explain
    overturned: int = 0  # failed trials at a rate that passed by loss verification
    revoked: int = 0  # failed trials whose CPUs were placed badly
    planned_s: Fraction = Fraction(0)  # the time of all trials, also of INVALID ones
    trials: tuple[TrialRecord, ...] = ()  # those of which figures are made

    def opened(self) -> Self:
        """Returns the result as a lower bound, limited by noise."""
        return replace(self, limit=Limit.TESTER, too_slow=False, lower_bound=True)


def without_disproved(found: Sequence[Bounded]) -> list[Bounded]:
    """Returns the results of all searches, as lower bounds where their bounds tell nothing."""
    nothing = disproved([one.bound for one in found])
    return [one.opened() if of_one else one for one, of_one in zip(found, nothing, strict=True)]


def disproved(bounds: Sequence[Bound]) -> list[bool]:
    """Returns for each search of a measurement, in order, whether its bound tells nothing.

    A search revokes such failures itself (docs/decisions/0026), but it knows only the trials up to
    its own end, and it revokes them only so often.
    """
    return [bound.tells_nothing(bounds[place + 1 :]) for place, bound in enumerate(bounds)]


def was_badly_placed(trial: TrialRecord, known: Iterable[WatchResult]) -> bool:
    """Returns whether a trial failed for its placement, by what is known of placements now.

    What was known at the time of the trial has been judged already.
    """
    if is_badly_placed(trial.result) or trial.lost_connections:
        return False
    forwarded = None
    if trial.fail_reason and trial.counted_fps is not None:  # by its rate; its loss was accepted
        forwarded = trial.counted_fps / trial.rate_fps
    elif not trial.result.lost:
        return False  # it failed in another phase
    return bad_placement(by_the_best(trial.result, known), forwarded=forwarded) is not None


def pattern_of(failures: Mapping[int, Sequence[Losses]]) -> Pattern | None:
    """Returns the pattern of the losses that count, by the rates of the trials; None: neither."""
    holes_ns: list[float] = []
    lost = in_holes = single = clean = 0
    clean_s = 0.0
    for rate_fps, trials in failures.items():
        for line in (line for trial in trials for line in trial.lines.values()):
            clean += line.clean
            clean_s += line.clean / rate_fps
            for _, span, of_run in line.counted_runs():
                lost += of_run
                if span == of_run >= HOLE:
                    in_holes += of_run
                    holes_ns.append(span * 1e9 / rate_fps)
                elif span < HOLE:
                    single += of_run
    if lost and in_holes >= MOST * lost:
        return Pattern(
            name="pauses",
            longest_ns=max(holes_ns),
            typical_ns=median(holes_ns),
            per_s=len(holes_ns) / clean_s,
        )
    if lost and single >= MOST * lost:
        return Pattern(name="chance", frames=clean / lost)
    return None


def worst_loss(trial: TrialRecord) -> tuple[int, int]:
    """Returns the frames that the worse direction sent, and how many of them count as lost
    (docs/decisions/0039).

    If a mapping changed, a reply was delivered to the wrong connection (also in the sample), or the
    gateway lost connections, all frames count as lost, which no tolerance allows.
    """
    result = trial.result
    off = {(each.phase, each.direction): each.not_counted for each in trial.counted}
    losses = (
        (s.sent, s.lost_or_wrong - min(off.get((s.phase, s.direction), 0), s.missing))
        for s in result.streams
    )
    sent, lost = max(losses, key=lambda loss: Fraction(loss[1], max(1, loss[0])), default=(0, 0))
    broken = result.changed or result.wrong or not sample_is_right(trial.sample)
    return sent, sent if broken or trial.lost_connections else lost
