"""Rules for senders that are behind: how late they may be, and how long they may pause."""

from fractions import Fraction

from natxy.model.port_result import PortResult
from natxy.model.reason import Code, Reason
from natxy.model.testbed import TesterSection
from natxy.model.trial_result import TrialResult

# The longest pauses of a trial that measures a figure at a rate, as a share of its time.
PAUSE_SHARE = Fraction(1, 50)
# A sender that may pause does so when it is later than this, or owes more than the burst limit.
LATENESS_US = 10_000
LATENESS_WITHOUT_PAUSES_US = 1000
# A round of polling takes less, so a sender that is not later has not been kept from its CPU.
ROUND_NS = 10_000
AWAY_NS = 500_000  # a loop that is only busy takes less time for a round


def lateness_tolerance_ns(tester: TesterSection, *, pauses: bool) -> int:
    """Returns the lateness tolerance of the testbed, or the default."""
    usual_us = LATENESS_US if pauses else LATENESS_WITHOUT_PAUSES_US
    return (tester.lateness_tolerance_us or usual_us) * 1000


def long_pauses(result: TrialResult, share: Fraction) -> Reason | None:
    """Returns a reason if a direction's sender paused for more than this share of its time."""
    for stream in result.streams:
        paused_ns, sending_ns = stream.pauses.total_ns, stream.sending_ns
        if paused_ns > float(share) * (sending_ns - paused_ns):
            facts = {"paused_ns": paused_ns, "sending_ns": sending_ns, "limit_share": float(share)}
            return Reason.of(Code.PAUSED, stream.direction, **facts)
    return None


def is_too_slow(result: TrialResult, most_pauses: Fraction = PAUSE_SHARE) -> bool:
    """Returns whether the problem of an INVALID trial grows with the rate.

    Pauses that are no longer than the share `most_pauses` of the time do not matter.

    If the tester's core was away, it does not. A long round of a loop does not prove an absence,
    since the send call of a port that does the gateway's work may take as long. So absences are
    measured as the time in which the workers' threads did not run.
    """
    # A sender that stopped because of its pauses is judged by the pauses.
    refused = any(each.sent < each.due and each.refused_by_port for each in result.streams)
    if refused and not result.ended_early:
        return True
    if any(_drops_of_itself(port, result) for port in result.ports):
        return True
    if long_pauses(result, most_pauses) is None:
        return False
    return result.paused_ns > 2 * result.off_core_ns


def _drops_of_itself(port: PortResult, result: TrialResult) -> bool:
    """Returns whether a port dropped frames without an absence that explains it."""
    dropped = port.rx_missed or port.rx_no_buffer or port.kernel_rx_dropped
    gap_ns = port.worst_poll_gap_ns
    absent = gap_ns >= AWAY_NS and result.off_core_ns >= gap_ns / 2
    return bool(port.tx_errors or (dropped and not absent))
