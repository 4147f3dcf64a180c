"""Deviations of searches for a rate."""

from collections.abc import Sequence

from natxy.measure.search_plan import SearchPlan
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.search.bisection import DEFAULT_ERROR
from natxy.trial.bound import Bounded

THROUGHPUT = "RFC 2544 section 26.1"
ESTABLISHMENT = "RFC 9693 section 4.5"
TEAR_DOWN = "RFC 3511 section 5.4.3"


def lower_bound(clause: str) -> Deviation:
    return Deviation.of(Differs.LOWER_BOUND, clause)


def search_deviations(plan: SearchPlan, clause: str) -> Deviations:
    """Returns what the options of a search make differ from its clause."""
    said = []
    if plan.loss is not None:
        share = plan.loss.fraction
        said.append(Deviation.of(Differs.LOSS_ACCEPTED, clause, accepted_share=share))
    if plan.early_end:
        said.append(Deviation.of(Differs.EARLY_END, "RFC 2544 section 24"))
    if plan.loss_verifications:
        both, trials = f"{clause}; ETSI GS NFV-TST 009 section 12.3.3", plan.loss_verifications + 1
        said.append(Deviation.of(Differs.LOSS_VERIFIED, both, trials=trials))
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
        said.append(Deviation.of(Differs.SEARCH_ERROR, clause, error=str(plan.error)))
    if any(each.lower_bound for each in found):
        said.append(lower_bound(clause))
    return tuple(said)
