"""Decides whether a loss may come from how a host had placed the CPUs (docs/decisions/0026).

The host of a virtual machine may move its CPUs at any time: those of the tester and the gateway to
cores that share no cache, or to the two threads of one core, or beside the work of others. Then a
gateway on this machine forwards less.
"""

from collections.abc import Iterable

from natxy.model.disturbance import FAR_NS, Absence
from natxy.model.reason import Code, Reason
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.model.trial_spec import TEST, Phase, TrialSpec
from natxy.verdict.away import away_s

# Cores that share no cache take this much longer than the shortest round trip that is known, and
# more than FAR_NS, even where the shortest is that of a core's two threads.
FAR = 2
# A core whose other thread works as well takes up to twice the shortest time that the clock allows,
# depending on that work.
SHARED = 1.15
# Placed badly, a gateway forwards at least this share of what it forwards otherwise. The kernel's
# router, NAT44 and tayga forward 0.73 to 0.8 of it over cores that are far apart, and 0.58 to 0.98
# of it on a core that is shared.
LEAST_IF_FAR = 2 / 3
LEAST_IF_SHARED = 1 / 2
# A gateway that loses frames because its core is slow has no rest: it works for at least this share
# of the time, which is found by samples.
LEAST_BUSY = 3 / 4


def is_badly_placed(result: TrialResult) -> bool:
    return any(_is_far(watch) or _is_shared(watch) for watch in result.watched)


def by_the_best(result: TrialResult, others: Iterable[WatchResult]) -> TrialResult:
    """Returns the result with the best placement that it or other trials know.

    What is known of a machine grows: the first trials may all have been placed badly.
    """
    known = [*result.watched, *others]

    def best(watch: WatchResult) -> WatchResult:
        of_cpu = [each for each in known if each.cpu == watch.cpu]
        nearest_ns = min((each.nearest_ns for each in of_cpu if each.nearest_ns), default=0.0)
        chains = (each.fastest_ns / each.chain_ns for each in of_cpu if each.chain_ns)
        fewest = min((count for count in chains if count), default=0.0)
        return watch.model_copy(
            update={"nearest_ns": nearest_ns, "fastest_ns": fewest * watch.chain_ns}
        )

    return result.model_copy(update={"watched": tuple(map(best, result.watched))})


def bad_placement(
    result: TrialResult,
    absence: Absence | None = None,
    forwarded: float | None = None,
    spec: TrialSpec | None = None,
    *,
    measures_loss: bool = False,
) -> Reason | None:
    """Returns a reason if the placement of the CPUs, together with absences of the gateway, can
    be why a trial failed.

    `forwarded` is the share of the trial's rate at which the gateway forwarded, if it only took too
    long and lost nothing. `spec` is the trial's, if it is known. `measures_loss`: how much was lost
    of the measured phase is the figure, so that a part of it matters.

    Returns None if the placement was good or is unknown, if the gateway forwarded less of what was
    sent while it was there than such a placement explains, if it had too little to do to lose so
    much by being slow, or if something else than a loss is wrong. A slow gateway forwards something
    in each direction.
    """
    if result.misdelivered or result.changed or result.wrong:
        return None
    phases = {stream.phase for stream in result.streams if stream.lost}
    watched = [watch for watch in result.watched if not phases or watch.phase in phases]
    if forwarded is not None and forwarded < least_forwarded(watched):
        return None
    for phase in phases:
        measured = measures_loss and phase == TEST
        if _lost_all(result, phase) if measured else _lost_more(result, phase, absence):
            return None
    if spec and any(_had_a_rest(result, phase, absence) for phase in spec.phases):
        return None
    for watch in watched:
        if _is_far(watch):
            facts = {"took_ns": watch.round_trip_ns, "possible_ns": watch.nearest_ns}
            return Reason.of(Code.CORES_APART, **facts)
        if _is_shared(watch):
            facts = {"took_ns": watch.work_ns, "possible_ns": watch.fastest_ns}
            return Reason.of(Code.CORE_SHARED, **facts)
    return None


def _is_far(watch: WatchResult) -> bool:
    nearest_ns = watch.nearest_ns
    return bool(nearest_ns) and watch.round_trip_ns > max(FAR_NS, FAR * nearest_ns)


def _is_shared(watch: WatchResult) -> bool:
    return bool(watch.fastest_ns) and watch.work_ns > SHARED * watch.fastest_ns


def least_forwarded(watched: Iterable[WatchResult]) -> float:
    """Returns the share that a gateway forwards at least, of what it forwards if placed well."""
    of_phase = list(watched)
    if_far = LEAST_IF_FAR if any(map(_is_far, of_phase)) else 1.0
    return if_far * (LEAST_IF_SHARED if any(map(_is_shared, of_phase)) else 1.0)


def _lost_more(result: TrialResult, phase: str, absence: Absence | None) -> bool:
    of_phase = [stream for stream in result.streams if stream.phase == phase]
    sent = sum(stream.sent for stream in of_phase)
    sending_ns = max(stream.sending_ns for stream in of_phase)
    least = least_forwarded(watch for watch in result.watched if watch.phase == phase)
    away_ns = away_s(result, absence, phase) * 1e9
    there = max(0.0, 1 - away_ns / sending_ns) if sending_ns else 1.0
    return sum(stream.lost for stream in of_phase) > sent * (1 - least * there)


def _lost_all(result: TrialResult, phase: str) -> bool:
    of_phase = (stream for stream in result.streams if stream.phase == phase)
    return any(stream.lost and not stream.received for stream in of_phase)


def _had_a_rest(result: TrialResult, phase: Phase, absence: Absence | None) -> bool:
    """Returns whether the gateway worked for too short a time to lose so much by being slow.

    A slow core loses at most the share 1 - least of the frames that come while it is busy. So it is
    busy for at least the time in which lost / (1 - least) frames come, at the phase's highest rate,
    or in which all of them come: it may lose more, but cannot work for longer.
    Under steady traffic, which fills it when it is slow, it is busy for the share `least` at best.
    """
    watched = [watch for watch in result.watched if watch.phase == phase.name]
    looks = [watch.busy_samples for watch in watched if watch.samples]
    least = least_forwarded(watched)
    most_lost = 1 - least
    if not most_lost or not looks or None in looks:
        return False
    busy_ns = sum(watch.period_ns * (watch.busy_samples or 0) for watch in watched)
    rates = [max(each.highest_rate_fps for each in stream.segments) for stream in phase.streams]
    of_phase = [stream for stream in result.streams if stream.phase == phase.name]
    away_ns = away_s(result, absence, phase.name) * 1e9
    lost_ns = sum(stream.lost for stream in of_phase) / sum(rates) * 1e9 - away_ns
    sent_ns = sum(stream.sent for stream in of_phase) / sum(rates) * 1e9 - away_ns
    slow_ns = min(lost_ns / most_lost, sent_ns)
    return busy_ns < LEAST_BUSY * max(slow_ns, least * (_steady_ns(phase) - away_ns))


def _steady_ns(phase: Phase) -> float:
    """Returns for how long frames come evenly, at the highest rate of their direction."""
    all_ns = []
    for stream in phase.streams:
        highest_fps = max(each.rate_fps for each in stream.segments)
        steady = (each for each in stream.segments if each.rate_fps == highest_fps)
        all_ns.append(sum(each.frames * 1e9 / highest_fps for each in steady))
        if any(each.burst_frames > 1 for each in stream.segments):
            return 0.0
    return max(all_ns, default=0.0)
