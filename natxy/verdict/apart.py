"""Decides whether a loss may come from cores that a host moved apart (docs/decisions/0026).

The host of a virtual machine may move its CPUs at any time to cores that share no cache. A gateway
on this machine then forwards less, because each of its frames comes from the tester's CPU.
"""

from natxy.dut.base import Absence
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.verdict.away import away_in

# Cores that share no cache take this much longer than the shortest round trip that is known. Cores
# that share one take less than FAR_NS, even where the shortest is that of a core's two threads.
FAR = 2
FAR_NS = 150
# Far apart, a gateway forwards at least this share of what it forwards otherwise. The kernel's
# router, NAT44 and tayga forward 0.73 to 0.8 of it.
LEAST_SHARE = 2 / 3


def far_watch(result: TrialResult) -> WatchResult | None:
    """Returns the watched CPU that was farthest from the tester; None if all were near."""
    far = [
        watch
        for watch in result.watched
        if watch.nearest_ns and watch.round_trip_ns > max(FAR_NS, FAR * watch.nearest_ns)
    ]
    return max(far, key=lambda watch: watch.round_trip_ns, default=None)


def far_apart(result: TrialResult, absence: Absence | None = None) -> str | None:
    """Returns a sentence if the distance of the cores, together with absences of the gateway, can
    have caused what is missing in a trial.

    Returns None if the cores were near, if a distance is unknown, if the gateway forwarded less
    than LEAST_SHARE of what was sent while it was there, or if something else than a loss is wrong.
    """
    if result.misdelivered or result.changed or result.wrong:
        return None
    watch = far_watch(result)
    phases = {stream.phase for stream in result.streams}
    if watch is None or any(_lost_more(result, phase, absence) for phase in phases):
        return None
    return (
        "the host had moved the cores of the tester and of the gateway apart: a round trip of a "
        f"cache line took {watch.round_trip_ns:.0f} ns, where {watch.nearest_ns:.0f} ns is possible"
    )


def _lost_more(result: TrialResult, phase: str, absence: Absence | None) -> bool:
    of_phase = [stream for stream in result.streams if stream.phase == phase]
    sent = sum(stream.sent for stream in of_phase)
    sending_ns = max(stream.sending_ns for stream in of_phase)
    away_ns = away_in(result, phase, absence).total_s * 1e9
    there = max(0.0, 1 - away_ns / sending_ns) if sending_ns else 1.0
    return sum(stream.lost for stream in of_phase) > sent * (1 - LEAST_SHARE * there)
