"""Notes under the figures about the effect of noise on the trials."""

from collections.abc import Iterator

from natxy.model.disturbance import FAR_NS, Disturbance
from natxy.model.measurement import TrialCounts
from natxy.report.numbers import duration

SHARED_SHOWN = 3


def noise_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields notes about trials that do not count, absences of the gateway and pauses."""
    if counts.invalid_trials:
        yield f"{counts.invalid_share} were invalid. They were repeated or left out."
    if counts.revoked:
        trials = "trial does" if counts.revoked == 1 else "trials do"
        yield (
            f"{counts.revoked:,} failed {trials} not count: later trials showed that the host had "
            "placed their CPUs badly."
        )
    yield from disturbance_notes(counts.disturbance)


def disturbance_notes(of: Disturbance) -> Iterator[str]:
    """Yields notes about absences of the gateway and pauses of senders."""
    if not of.sending_ns:
        return
    if of.unwatched_reason:
        yield (
            f"The gateway's CPU could not be watched ({of.unwatched_reason}). Frames that were "
            "lost while it was away count as losses of the gateway."
        )
    if of.shared_cpus:
        shown = "; ".join(of.shared_cpus[:SHARED_SHOWN])
        left_out = len(of.shared_cpus) - SHARED_SHOWN
        more = f"; and {left_out} more" if left_out > 0 else ""
        yield f"In valid trials, {shown}{more}. This can lower the figures."
    if of.nearest_ns > FAR_NS:
        yield (
            "In each valid trial, a cache line took "
            f"{duration(of.nearest_ns)} or more between the cores of tester and gateway and back. "
            f"Cores that share a cache take less than {duration(FAR_NS)}: with such cores the "
            "gateway may be faster."
        )
    if of.away_ns:
        yield (
            "In valid trials, the gateway did not have its CPU for "
            f"{of.away_ns / of.sending_ns * 100:.2g} % of the time: "
            f"{duration(of.away_ns)} in all, at most {duration(of.longest_away_ns)} at once."
        )
    if of.paused_ns:
        yield (
            "In valid trials, the tester's senders paused for "
            f"{of.paused_ns / of.sending_ns * 100:.2g} % of the time."
        )
