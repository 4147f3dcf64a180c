"""Profiles, which are sets of options, and deviations from the RFCs (docs/decisions/0002)."""

from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.search.bisection import SearchError
from natxy.search.capacity_goal import COARSE
from natxy.trial.timing import Timing

SEVERAL = 2  # repetitions, where a document asks for several and names no number


@dataclass(frozen=True, kw_only=True)
class Profile:
    timing: Timing
    repetitions: int
    buffer_frames: int | None = None  # see ThroughputPlan; half of a veth's ring
    # The source that requires trials of this duration; empty: no RFC does.
    duration_of: str = "RFC 2544 section 24"
    # The fewest repetitions that a document asks for, and the source.
    least_repetitions: int = SEVERAL
    repetitions_of: str = "RFC 8219 section 12"
    loss_verifications: int = 0  # in a search for a rate
    rate_error: SearchError = COARSE  # error of the rates in a search for a capacity


RFC = Profile(
    timing=Timing(duration_s=Fraction(60), drain_s=Fraction(2), settle_s=Fraction(5)),
    repetitions=10,
)
QUICK = Profile(
    timing=Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20), settle_s=Fraction(0)),
    repetitions=3,
    buffer_frames=128,
    loss_verifications=1,
)
# No RFC says how long a trial of phase 1 lasts: that follows from the connections and the rate.
OF_CONNECTIONS = replace(RFC, duration_of="", repetitions_of="RFC 9693 section 6")
PROFILES = {"rfc": RFC, "quick": QUICK}


def profiles(
    *,
    durations_s: tuple[Fraction, Fraction] = (RFC.timing.duration_s, QUICK.timing.duration_s),
    repetitions: tuple[int, int] = (RFC.repetitions, QUICK.repetitions),
    least_repetitions: int = RFC.least_repetitions,
    duration_of: str = RFC.duration_of,
    repetitions_of: str = RFC.repetitions_of,
) -> dict[str, Profile]:
    """Returns the two profiles of a measurement that does not search for its own rate."""
    rfc, quick = (
        Profile(
            timing=replace(of.timing, duration_s=duration_s),
            repetitions=times,
            least_repetitions=least_repetitions,
            duration_of=duration_of,
            repetitions_of=repetitions_of,
        )
        for of, duration_s, times in zip((RFC, QUICK), durations_s, repetitions, strict=True)
    )
    return {"rfc": rfc, "quick": quick}


def deviations(
    timing: Timing,
    right: Profile = RFC,
    *,
    shortest_s: Fraction | None = None,
    repetitions: int | None = None,
) -> Deviations:
    """Returns the deviations of a measurement from its RFC, one per value.

    `shortest_s`: the duration of the shortest trials, if they do not all have the same;
    `repetitions`: None if no document asks for more than one.
    """
    lasts = Differs.DURATION if shortest_s is None else Differs.DURATIONS
    own: dict[str, Fraction] = {} if shortest_s is None else {"shortest_s": shortest_s}
    wanted = right.timing
    no: dict[str, Fraction] = {}
    asked = (
        (lasts, right.duration_of, timing.duration_s, wanted.duration_s, own),
        (Differs.DRAIN, "RFC 2544 section 23 d", timing.drain_s, wanted.drain_s, no),
        (Differs.SETTLE, "RFC 2544 section 23 e", timing.settle_s, wanted.settle_s, no),
    )
    said = (
        Deviation.of(code, clause, has_s=has_s, asked_s=right_s, **facts)
        for code, clause, has_s, right_s, facts in asked
        if clause and has_s < right_s
    )
    return (*said, *(() if repetitions is None else few_repetitions(repetitions, right)))


def few_repetitions(done: int, right: Profile) -> Deviations:
    """Returns the deviation of a measurement with fewer repetitions than its document asks for."""
    least = right.least_repetitions
    if done >= least:
        return ()
    asked = "several" if least == SEVERAL else least
    return (Deviation.of(Differs.REPETITIONS, right.repetitions_of, done=done, asked=asked),)
