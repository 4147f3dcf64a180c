"""Whether a sender that is behind may pause, and how long it may do so in all."""

from fractions import Fraction

from natxy.model.testbed import TesterSection
from natxy.model.trial_result import TrialResult

# Of a trial: what its load falls short by where a figure is taken at a rate.
PAUSE_SHARE = Fraction(1, 50)
LATENESS_US = 10_000  # a sender that may pause makes up for less than this, or for fewer frames
LATENESS_WITHOUT_PAUSES_US = 1000


def lateness_tolerance_ns(tester: TesterSection, *, pauses: bool) -> int:
    """Returns the testbed's, or the default."""
    usual_us = LATENESS_US if pauses else LATENESS_WITHOUT_PAUSES_US
    return (tester.lateness_tolerance_us or usual_us) * 1000


def long_pauses(result: TrialResult, share: Fraction) -> str | None:
    """Returns a sentence where a direction's sender paused for more than this share of its time."""
    for stream in result.streams:
        paused_ns, sending_ns = stream.pauses.total_ns, stream.sending_ns
        if paused_ns > float(share) * (sending_ns - paused_ns):
            return (
                f"{stream.direction}: the tester's core was away or too slow: its sender paused "
                f"for {paused_ns / 1e6:.2f} ms of {sending_ns / 1e6:.1f} ms (expected at most "
                f"{float(share * 100):g} %)"
            )
    return None


def is_too_slow(result: TrialResult) -> bool:
    """Whether what went wrong grows with the rate; that the tester's core was away does not."""
    if any(
        port.rx_missed or port.rx_no_buffer or port.tx_errors or port.kernel_rx_dropped
        for port in result.ports
    ):
        return True
    short = any(stream.sent < stream.due for stream in result.streams) and not result.ended_early
    return short or result.paused_ns > 2 * result.off_core_ns
