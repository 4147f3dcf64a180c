"""Whether a sender that is behind may pause, and how long it may do so in all."""

from fractions import Fraction

from natxy.model.testbed import TesterSection
from natxy.model.trial_result import PortResult, TrialResult

# Of a trial: what its load falls short by where a figure is taken at a rate.
PAUSE_SHARE = Fraction(1, 50)
LATENESS_US = 10_000  # a sender that may pause makes up for less than this, or for fewer frames
LATENESS_WITHOUT_PAUSES_US = 1000
AWAY_NS = 500_000  # a loop that is busy and nothing else comes round in less


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
    """Whether what went wrong grows with the rate; that the tester's core was away does not.

    A gap of a loop alone says nothing: the send call of a port that does the gateway's work may
    take as long. So an absence is what the workers' threads were kept from their cores.
    """
    # A sender that gave up for its pauses is judged by them.
    refused = any(each.sent < each.due and each.refused_by_port for each in result.streams)
    if refused and not result.ended_early:
        return True
    if any(_drops_of_itself(port, result) for port in result.ports):
        return True
    return result.paused_ns > 2 * result.off_core_ns


def _drops_of_itself(port: PortResult, result: TrialResult) -> bool:
    """Whether no absence explains that the port's ring was full."""
    dropped = port.rx_missed or port.rx_no_buffer or port.kernel_rx_dropped
    gap_ns = port.worst_poll_gap_ns
    absent = gap_ns >= AWAY_NS and result.off_core_ns >= gap_ns / 2
    return bool(port.tx_errors or (dropped and not absent))
