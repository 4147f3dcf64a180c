"""Profiles, which are sets of options, and deviations from the RFCs (docs/decisions/0002)."""

from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.search.bisection import SearchError
from natxy.search.capacity_goal import COARSE
from natxy.trial.timing import Timing


@dataclass(frozen=True, kw_only=True)
class Profile:
    timing: Timing
    repetitions: int
    buffer_frames: int | None = None  # see ThroughputPlan; half of a veth's ring
    # The source that requires trials of this duration; empty: no RFC does.
    duration_of: str = "RFC 2544 section 24"
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
OF_CONNECTIONS = replace(RFC, duration_of="")
PROFILES = {"rfc": RFC, "quick": QUICK}


def profiles(
    *,
    durations_s: tuple[Fraction, Fraction] = (RFC.timing.duration_s, QUICK.timing.duration_s),
    repetitions: tuple[int, int] = (RFC.repetitions, QUICK.repetitions),
    duration_of: str = RFC.duration_of,
) -> dict[str, Profile]:
    """Returns the two profiles of a measurement that does not search for its own rate."""
    rfc, quick = (
        Profile(
            timing=replace(of.timing, duration_s=duration_s),
            repetitions=times,
            duration_of=duration_of,
        )
        for of, duration_s, times in zip((RFC, QUICK), durations_s, repetitions, strict=True)
    )
    return {"rfc": rfc, "quick": quick}


def deviations(
    timing: Timing, right: Profile = RFC, *, repetitions: int | None = None
) -> tuple[str, ...]:
    """Returns the deviations of a measurement from its RFC, one per value."""
    asked = (
        ("trials", timing.duration_s, right.timing.duration_s, right.duration_of),
        ("a drain", timing.drain_s, right.timing.drain_s, "RFC 2544 section 23 d"),
        ("a settle time", timing.settle_s, right.timing.settle_s, "RFC 2544 section 23 e"),
    )
    said = [
        f"{what} of {float(has_s):g} s, not {float(right_s):g} s ({source})"
        for what, has_s, right_s, source in asked
        if source and has_s < right_s
    ]
    if repetitions is not None and repetitions < right.repetitions:
        said.append(f"{repetitions} repetitions, not {right.repetitions}")
    return tuple(said)
