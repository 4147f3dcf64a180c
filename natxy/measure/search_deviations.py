"""Deviations of searches for a rate."""

from collections.abc import Sequence

from natxy.measure.search_plan import SearchPlan
from natxy.model.deviation import Deviation, Deviations
from natxy.search.bisection import DEFAULT_ERROR
from natxy.trial.bound import Bounded

THROUGHPUT = "RFC 2544 section 26.1"
ESTABLISHMENT = "RFC 9693 section 4.5"
TEAR_DOWN = "RFC 3511 section 5.4.3"


def lower_bound(clause: str) -> Deviation:
    return Deviation(clause=clause, has="a lower bound", asked="the highest rate")


def search_deviations(plan: SearchPlan, clause: str) -> Deviations:
    """Returns what the options of a search make differ from its clause."""
    said = []
    if plan.loss is not None:
        said.append(Deviation(clause=clause, has=f"{plan.loss} accepted"))
    if plan.early_end:
        ends = "trials that end at their first certain loss"
        said.append(Deviation(clause="RFC 2544 section 24", has=ends))
    if plan.loss_verifications:
        said.append(
            Deviation(
                clause=f"{clause}; ETSI GS NFV-TST 009 section 12.3.3",
                has="loss verification: a rate fails after "
                f"{plan.loss_verifications + 1} trials with a loss",
                asked="1",
            )
        )
    return tuple(said)


def is_coarse(error: float, found: float) -> bool:
    """Returns whether a result has a larger error than a search has by default."""
    return error > DEFAULT_ERROR.at(int(found))


def found_deviations(plan: SearchPlan, found: Sequence[Bounded], clause: str) -> Deviations:
    """Returns by what the rates that were found are not the highest ones.

    Every search ends with an error. That of the default is not named.
    """
    lowest_fps = min((each.rate_fps for each in found), default=0)
    said = []
    if is_coarse(plan.error.at(lowest_fps), lowest_fps):
        has = f"a search error of {plan.error}"
        said.append(Deviation(clause=clause, has=has, asked="the highest rate"))
    if any(each.lower_bound for each in found):
        said.append(lower_bound(clause))
    return tuple(said)
