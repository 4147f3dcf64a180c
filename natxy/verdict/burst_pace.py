"""Judges whether a burst was sent at its rate (RFC 9004 section 6)."""

from natxy.model.reason import Code, Reason
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult


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
