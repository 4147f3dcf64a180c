"""Rules for senders that are behind: how late they may be, and how long they may pause.

A burst must have been sent at its rate (RFC 9004 section 6).
"""

from fractions import Fraction

from natxy.model.port_result import PortResult
from natxy.model.reason import Code, Reason
from natxy.model.stream_result import StreamResult
from natxy.model.testbed import TesterSection
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult

# The longest pauses of a trial that measures a figure at a rate, as a share of its time.
PAUSE_SHARE = Fraction(1, 50)
# A sender that may pause does so when it is later than this, or owes more than the burst limit.
LATENESS_US = 10_000
LATENESS_WITHOUT_PAUSES_US = 1000
# A round of polling takes less, so a sender that is not later has not been kept from its CPU.
ROUND_NS = 10_000
AWAY_NS = 500_000  # a loop that is only busy takes less time for a round
# Of its frames, a sender that is too slow for a rate is late with more; noise lets it catch up.
MOST_LATE = Fraction(3, 4)


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


def with_late_counted(result: TrialResult) -> TrialResult:
    """Returns the result with the number of frames of each stream that left late."""
    streams = tuple(
        stream.model_copy(
            update={
                "left_late": sum(
                    (last - first) // stream.senders + 1 for first, last in stream.late_runs
                )
            }
        )
        for stream in result.streams
    )
    return result.model_copy(update={"streams": streams})


def late_throughout(result: TrialResult) -> Reason | None:
    """Returns a reason if a sender paused for long and was late nearly all the time: the rate is
    why, and no absence beside it excuses a loss."""
    late = (s for s in result.streams if s.left_late > MOST_LATE * s.due)
    return long_pauses(result.model_copy(update={"streams": tuple(late)}), PAUSE_SHARE)


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


class Pace:
    """Judges whether bursts were sent at their rate; `most_ns` is the longest excess allowed."""

    def __init__(self, rate_fps: int, most_ns: float) -> None:
        self._rate_fps = rate_fps
        self._most_ns = most_ns
        self.worst_excess_ns = 0.0  # of the bursts that were fast enough

    def judge(self, result: TrialResult) -> tuple[Reason, ...]:
        reasons = (self._too_slow(stream) for stream in result.streams)
        return tuple(reason for reason in reasons if reason)

    def _too_slow(self, stream: StreamResult) -> Reason | None:
        due_ns = _due_ns(stream, self._rate_fps)
        excess_ns = stream.sending_ns - due_ns
        if excess_ns > self._most_ns:
            facts = {"excess_ns": excess_ns, "due_ns": due_ns, "limit_ns": self._most_ns}
            return Reason.of(Code.BURST_SLOW, stream.direction, **facts)
        self.worst_excess_ns = max(self.worst_excess_ns, excess_ns)
        return None


def takes_too_long(trial: TrialRecord, rate_fps: int, most_ns: float) -> bool:
    """Returns whether the tester is too slow for a burst, without having been kept from its core.

    The sender of a burst does not pause, so that its delay shows in the time of the burst. A long
    step alone does not prove an absence (see pacing).
    """
    return trial.too_slow or any(
        stream.sending_ns - _due_ns(stream, rate_fps) > max(most_ns, 2 * trial.result.off_core_ns)
        for stream in trial.result.streams
    )


def _due_ns(stream: StreamResult, rate_fps: int) -> float:
    """Returns the time from the first frame of a burst to its last, as its rate says."""
    return (stream.due - 1) * 10**9 / rate_fps
