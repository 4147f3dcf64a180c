"""How far a delay may be from the truth because the tester was not there when a frame came or left.

A frame's delay ends when a poll finds it, and it may have come any time since the poll before; it
begins before the call that sends it, and the sender may be kept from its core within that call.
So a measured delay is too long by at most its poll gap and its step gap, never too short.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_result import Distribution, StreamResult, TrialResult
from natxy.model.trial_spec import Direction
from natxy.procedure.delays import Delays

# Of a figure: what its error may be at most. A figure beyond is the tester's, not the gateway's.
ERROR_SHARE = Fraction(9, 10)
# A round of polling takes microseconds, which are a part of every delay here; an absence is longer.
ABSENCE_NS = 100_000


@dataclass(frozen=True, kw_only=True)
class TimingErrors:
    """Of one direction's frames; `poll_gap` is empty where the port stamps arrivals itself."""

    poll_gap: Distribution
    step_gap: Distribution

    @classmethod
    def of(cls, stream: StreamResult, result: TrialResult) -> "TimingErrors":
        polled = stream.poll_gap.model_copy(
            update={} if result.delay_clock != "port" else {"buckets": (), "count": 0}
        )
        return cls(poll_gap=polled, step_gap=stream.step_gap)

    def percentile_ns(self, delays: Delays, share: Fraction) -> float:
        """How much smaller the percentile may be.

        Of all frames the share f has a gap longer than g. Without them the percentile p is not
        below that of p - f, and each other delay is right within twice g: the best g counts.
        """
        value_ns = delays.percentile_ns(share)
        least_ns = value_ns
        for gap_ns, beyond in self._steps():
            if beyond >= share:
                continue
            lower_ns = delays.percentile_ns(share - beyond) - 2 * gap_ns
            least_ns = min(least_ns, max(0.0, value_ns - lower_ns))
        return least_ns

    def _steps(self) -> Iterator[tuple[float, Fraction]]:
        """Each gap that occurs, and the share of frames that had a longer one."""
        buckets = [
            (upper_ns, frames)
            for of in (self.poll_gap, self.step_gap)
            for _, upper_ns, frames in of.buckets
        ]
        if not buckets:
            yield 0.0, Fraction(0)
        for gap_ns in sorted({upper_ns for upper_ns, _ in buckets}):
            longer = sum(frames for upper_ns, frames in buckets if upper_ns > gap_ns)
            yield gap_ns, Fraction(longer, max(self.poll_gap.count, self.step_gap.count, 1))


@dataclass(frozen=True, kw_only=True)
class DelayError:
    """A figure of one direction of a trial, and by how much it may be too long."""

    name: str
    direction: Direction
    value_ns: float
    error_ns: float


def doubts(errors: Sequence[DelayError]) -> tuple[str, ...]:
    """Returns a sentence for each figure whose error is too large a share of it."""
    return tuple(
        f"{e.direction}: {e.name} of {e.value_ns / 1000:.3g} µs may be {e.error_ns / 1000:.3g} µs "
        "too long, because the tester was away when frames came or left (expected at most "
        f"{float(ERROR_SHARE * 100):g} %)"
        for e in errors
        if e.error_ns > max(ABSENCE_NS, float(ERROR_SHARE) * e.value_ns)
    )


def error_remarks(trials: Sequence[Sequence[DelayError]]) -> tuple[str, ...]:
    """Returns what must stand beside the figures of the valid trials: the largest errors."""
    largest: dict[str, float] = {}
    for error in (error for errors in trials for error in errors):
        largest[error.name] = max(largest.get(error.name, 0.0), error.error_ns)
    said = [f"{name} by at most {error_ns / 1000:.3g} µs" for name, error_ns in largest.items()]
    if not said:
        return ()
    return (f"The tester's own polls can have made these longer: {', '.join(said)}.",)


def late_in_doubt(result: TrialResult, frame_timeout_ns: int) -> str | None:
    """Returns a sentence where every frame that was late may have been so by the tester's absence,
    and no other was lost."""
    late = 0
    for stream in result.streams:
        if stream.missing or stream.misdelivered:
            return None
        slow_steps = sum(
            frames
            for _, upper_ns, frames in stream.step_gap.buckets
            if upper_ns > frame_timeout_ns / 4
        )
        if stream.late > stream.uncertain_late + slow_steps:
            return None
        late += stream.late
    if not late:
        return None
    return (
        f"the tester was away when {late:,} frames came or left: they may have been in time "
        f"(frame timeout {frame_timeout_ns / 1e6:g} ms)"
    )
