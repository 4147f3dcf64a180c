"""Notes under the figures about the effect of noise on the trials."""

from collections.abc import Iterator

from natxy.model.disturbance import Disturbance
from natxy.model.measurement import TrialCounts
from natxy.report.numbers import duration


def noise_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields notes about invalid trials, absences of the gateway and pauses of senders."""
    if counts.invalid_trials:
        share = counts.invalid_trials / counts.trials * 100
        yield (
            f"{counts.invalid_trials:,} of {counts.trials:,} trials ({share:.0f} %) were invalid. "
            "They were repeated or left out."
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
    if of.away_ns:
        yield (
            f"In valid trials, the gateway's CPU was away for "
            f"{of.away_ns / of.sending_ns * 100:.2g} % of the time; the longest absence was "
            f"{duration(of.longest_away_ns)}."
        )
    if of.paused_ns:
        yield (
            "In valid trials, the tester's senders paused for "
            f"{of.paused_ns / of.sending_ns * 100:.2g} % of the time."
        )
