"""Deviations and remarks of searches."""

from collections.abc import Iterable, Iterator, Sequence

from natxy.measure.search_plan import SearchPlan
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.measurement import Figure, Unit
from natxy.model.remark import Remark, Remarks, Topic, applying
from natxy.model.verdict import Limit, Pattern
from natxy.search.bisection import DEFAULT_ERROR
from natxy.trial.bound import Bounded
from natxy.trial.bursts import Bursts
from natxy.trial.session import Session
from natxy.trial.trials import Trials

THROUGHPUT = "RFC 2544 section 26.1"
ESTABLISHMENT = "RFC 9693 section 4.5"
TEAR_DOWN = "RFC 3511 section 5.4.3"


def bound_remarks(limits: Iterable[tuple[Limit, bool]]) -> Remarks:
    """Returns why rates are lower bounds.

    Each search that found a lower bound has its limit and, for Limit.TESTER, whether the reason for
    the INVALID trials grows with the rate; otherwise noise lasted through all repeats.
    """
    ended = set(limits)
    reasons = {limit for limit, _ in ended}
    return applying(
        {
            Topic.BOUND_BY_TESTER: (Limit.TESTER, True) in ended,
            Topic.BOUND_BY_NOISE: (Limit.TESTER, False) in ended,
            Topic.BOUND_UNEXPLAINED: Limit.UNEXPLAINED in reasons,
            Topic.BOUND_VARIES: Limit.VARIES in reasons,
            Topic.BOUND_BY_MAXIMUM: Limit.MAXIMUM in reasons,
        }
    )


def rate_remarks(found: Sequence[Bounded], unit: Unit) -> Iterator[Remark]:
    """Yields why rates are lower bounds, and what the failures say that bound the others."""
    yield from bound_remarks((each.limit, each.too_slow) for each in found if each.lower_bound)
    passed = [each.passed_fps for each in found if each.lower_bound and each.passed_fps]
    if passed:
        yield Remark.of(Topic.PASSED_ABOVE, rate=max(passed), unit=unit)
    yield from _pattern_remarks([each.pattern for each in found if each.pattern])
    exact = [each for each in found if each.limit is Limit.DUT]
    wide = [each.error_fps / each.rate_fps for each in exact if each.is_wide]
    slower = [each.overloaded_fps for each in exact if each.overloaded_fps is not None]
    if wide:
        yield Remark.of(Topic.TOO_LOW, error_percent=max(wide) * 100)
    if any(each.by_port for each in exact):
        yield Remark.of(Topic.PORT_REFUSED)
    if slower:
        yield Remark.of(Topic.OVERLOAD_SLOWS, rate=min(slower), unit=unit)


def _pattern_remarks(patterns: Sequence[Pattern]) -> Iterator[Remark]:
    """Yields what the losses look like that the rate does not explain."""
    pauses = [each for each in patterns if each.name == "pauses"]
    chance = [each.frames for each in patterns if each.name == "chance"]
    if pauses:
        yield Remark.of(
            Topic.PAUSES,
            typical_ns=max(each.typical_ns for each in pauses),
            longest_ns=max(each.longest_ns for each in pauses),
            often_hz=max(each.per_s for each in pauses),
        )
    if chance:
        yield Remark.of(Topic.CHANCE, frames=min(chance))


def cut_remarks(asked: int, done: int, trials: Trials) -> Remarks:
    """Returns how many repetitions are lacking, and which limit ended the measurement."""
    by_time = trials.retry_time.is_over
    code = Topic.LACKING_BY_RETRY_TIME if by_time else Topic.LACKING_BY_PATIENCE
    return (Remark.of(code, lacking=asked - done, asked=asked),) if done < asked else ()


def lacking_remarks(asked: int, points: Iterable[Figure]) -> Remarks:
    """Returns how many repetitions are lacking at each point of a series."""
    return tuple(
        Remark.of(Topic.LACKING, point.at, lacking=asked - len(point.values), asked=asked)
        for point in points
        if len(point.values) < asked
    )


def zero_remarks(rates: Iterable[float], why: Remark) -> Remarks:
    """Returns what a rate of 0 means, if there is one."""
    return () if all(rates) else (why,)


def all_lost(found: Iterable[Bounded], what: str) -> Remarks:
    """Returns what a rate of 0 means, if there is one: all rates lost some of `what`."""
    why = Remark.of(Topic.LOST_AT_EVERY_RATE, what=what)
    return zero_remarks((each.rate_fps for each in found), why)


def burst_remarks(bursts: Bursts | None, session: Session) -> Iterator[Remark]:
    """Yields how bursts were sent; nothing for steady traffic."""
    if bursts is None:
        return
    yield Remark.of(Topic.BURSTS, frames=bursts.frames, rate_fps=bursts.rate_of(session))
    ring = min((port.rx_ring_frames for port in session.hello.ports), default=0)
    if bursts.frames > ring > 0:
        yield Remark.of(Topic.BURST_FILLS_RING, frames=bursts.frames, ring=ring)


def no_burst_passed(bursts: Bursts, least_fps: int) -> Remark:
    every_ns = bursts.frames / least_fps * 1e9
    return Remark.of(Topic.LOWEST_RATE_OF_BURSTS, least_fps=least_fps, every_ns=every_ns)


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
