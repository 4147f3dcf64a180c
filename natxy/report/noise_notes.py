"""What noise did to the trials, in sentences beneath the figures."""

from collections.abc import Iterator

from natxy.model.disturbance import Disturbance
from natxy.model.measurement import TrialCounts
from natxy.report.numbers import duration


def noise_notes(counts: TrialCounts) -> Iterator[str]:
    """Nothing where no trial was invalid, the gateway was there and no sender paused."""
    if counts.invalid_trials:
        share = counts.invalid_trials / counts.trials * 100
        yield (
            f"{counts.invalid_trials:,} of {counts.trials:,} trials were invalid ({share:.0f} %) "
            "and were repeated or left out."
        )
    yield from disturbance_notes(counts.disturbance)


def disturbance_notes(of: Disturbance) -> Iterator[str]:
    """Nothing where the gateway was there and no sender paused."""
    if not of.sending_ns:
        return
    if of.unwatched_reason:
        yield (
            f"The gateway's CPU could not be watched ({of.unwatched_reason}): frames that were "
            "lost while it was away count as the gateway's own loss."
        )
    if of.away_ns:
        yield (
            f"In the valid trials the gateway's CPU was away for "
            f"{of.away_ns / of.sending_ns * 100:.2g} % of the time, at most "
            f"{duration(of.longest_away_ns)} in one."
        )
    if of.paused_ns:
        yield (
            "In the valid trials the tester's senders paused for "
            f"{of.paused_ns / of.sending_ns * 100:.2g} % of the time."
        )
