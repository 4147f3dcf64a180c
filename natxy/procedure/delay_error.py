"""How far a delay may be from the truth because somebody was not there when a frame came or left.

A frame's delay ends when a poll finds it, and it may have come any time since the poll before; it
begins before the call that sends it, and the sender may be kept from its core within that call.
So a measured delay is too long by at most its poll gap and its step gap, never too short; and the
difference of two delays is wrong by as much, either way.

While a watched gateway is away frames wait, and when it is back those behind them do. That is no
error of the tester's, and spoils no trial; but no other gateway may be held against such a figure,
so that it is in the error that stands beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.model.disturbance import Disturbance
from natxy.model.trial_result import Distribution, StreamResult, TagCounters, TrialResult
from natxy.model.trial_spec import Direction
from natxy.procedure.delays import Delays

# Of a figure: what its error may be at most. A figure beyond is the tester's, not the gateway's.
ERROR_SHARE = Fraction(9, 10)
# A round of polling takes microseconds, which are a part of every delay here; an absence is longer.
ABSENCE_NS = 100_000
QUIET = Disturbance()


@dataclass(frozen=True, kw_only=True)
class TimingErrors:
    """Of one direction's frames, or of its tagged ones; `poll_gap` is empty where the port stamps
    arrivals itself."""

    poll_gap: Distribution
    step_gap: Distribution
    waiting_ns: float = 0.0  # the longest that a frame may have waited for an absent gateway
    absence_ns: float = 0.0  # its longest, by which two frames' waits differ at most
    waiting_share: Fraction = Fraction(0)  # of the frames, so many came while it was away

    @classmethod
    def of(
        cls,
        frames: StreamResult | TagCounters,
        result: TrialResult,
        noise: Disturbance = QUIET,
    ) -> "TimingErrors":
        polled = frames.poll_gap.model_copy(
            update={} if result.delay_clock != "port" else {"buckets": (), "count": 0}
        )
        share = min(1.0, noise.away_ns / noise.sending_ns) if noise.sending_ns else 1.0
        return cls(
            poll_gap=polled,
            step_gap=frames.step_gap,
            waiting_ns=noise.away_ns,
            absence_ns=noise.longest_away_ns,
            waiting_share=Fraction(share) if noise.away_ns else Fraction(0),
        )

    def percentile_ns(self, delays: Delays, share: Fraction) -> float:
        """How much smaller the percentile may be.

        So many frames have a gap longer than g that they are at most the share f of these delays.
        Without them the percentile p is not below that of p - f, and each other delay is right
        within twice g: the best g counts.
        A gateway near its limit needs long to make up for an absence, so that any share of the
        frames may have waited for it: each by at most all its absences, and for less than what it
        took longer than the fastest.
        """
        value_ns = delays.percentile_ns(share)
        least_ns = value_ns
        for gap_ns, beyond in self._steps(delays.count):
            if beyond >= share:
                continue
            lower_ns = delays.percentile_ns(share - beyond) - 2 * gap_ns
            least_ns = min(least_ns, max(0.0, value_ns - lower_ns))
        return min(value_ns, least_ns + min(self.waiting_ns, value_ns - delays.minimum_ns))

    def variation_ns(self, variations: Delays, share: Fraction) -> float:
        """How far the percentile of the differences of consecutive delays may be off, either way.

        A frame with a long gap spoils two differences; each other is right within twice g. So does
        one that came while the gateway was away, and the first one after.
        """
        value_ns = variations.percentile_ns(share)
        least_ns = self.longest_ns
        for gap_ns, beyond in self._steps(variations.count):
            spoilt = 2 * (beyond + self.waiting_share)
            below, above = share - spoilt, share + spoilt
            if below <= 0 or above > 1:
                continue
            apart_ns = max(
                value_ns - variations.percentile_ns(below),
                variations.percentile_ns(above) - value_ns,
            )
            least_ns = min(least_ns, apart_ns + 2 * gap_ns)
        return least_ns

    @property
    def longest_ns(self) -> float:
        """By how much the difference of two consecutive frames' delays may be wrong at most."""
        gaps = sum(of.max_ns for of in (self.poll_gap, self.step_gap) if of.count)
        return gaps + self.absence_ns

    def _steps(self, values: int) -> Iterator[tuple[float, Fraction]]:
        """Each gap that occurs, and the share of so many values that may have had a longer one: of
        each of its frames, or more, the gaps are known."""
        buckets = [
            (upper_ns, frames)
            for of in (self.poll_gap, self.step_gap)
            for _, upper_ns, frames in of.buckets
        ]
        gaps = {upper_ns for upper_ns, _ in buckets} or {0.0}
        for gap_ns in sorted(gaps):
            longer = sum(frames for upper_ns, frames in buckets if upper_ns > gap_ns)
            yield gap_ns, min(Fraction(1), Fraction(longer, max(1, values)))


@dataclass(frozen=True, kw_only=True)
class DelayError:
    """A figure of one direction of a trial, and how far it may be from the truth."""

    name: str
    direction: Direction
    value_ns: float
    error_ns: float
    either_way: bool = False  # it may be too small as well as too large; else only too long


def doubts(errors: Sequence[DelayError]) -> tuple[str, ...]:
    """Returns a sentence for each figure whose error is too large a share of it.

    A difference of delays may rightly be 0, of which no error is a share: its own is only stated.
    """
    return tuple(
        f"{e.direction}: {e.name} of {_time(e.value_ns)} may be {_time(e.error_ns)} "
        "too long, because the tester was away when frames came or left (expected at most "
        f"{float(ERROR_SHARE * 100):g} %)"
        for e in errors
        if not e.either_way and e.error_ns > max(ABSENCE_NS, float(ERROR_SHARE) * e.value_ns)
    )


def error_remarks(trials: Sequence[Sequence[DelayError]]) -> tuple[str, ...]:
    """Returns what must stand beside the figures of the valid trials: the largest errors."""
    all_errors = [error for errors in trials for error in errors]
    kinds = {
        "made these longer": [error for error in all_errors if not error.either_way],
        "made these larger or smaller": [error for error in all_errors if error.either_way],
    }
    return tuple(
        f"The tester's polls, and time that a core was away, can have {done}: {_largest(errors)}."
        for done, errors in kinds.items()
        if errors
    )


def _largest(errors: Sequence[DelayError]) -> str:
    largest: dict[str, float] = {}
    for error in errors:
        largest[error.name] = max(largest.get(error.name, 0.0), error.error_ns)
    return ", ".join(f"{name} by at most {_time(ns)}" for name, ns in largest.items())


def _time(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1000:.3g} µs"


def late_by_tester(stream: StreamResult, frame_timeout_ns: int) -> bool:
    """Whether the tester's absence may have made every late frame late."""
    slow_steps = sum(
        frames for _, upper_ns, frames in stream.step_gap.buckets if upper_ns > frame_timeout_ns / 4
    )
    return stream.late <= stream.uncertain_late + slow_steps


def late_in_doubt(result: TrialResult, frame_timeout_ns: int) -> str | None:
    """Returns a sentence where every frame that was late may have been so by the tester's absence,
    and no other was lost."""
    if any(stream.missing or stream.misdelivered for stream in result.streams):
        return None
    late = sum(stream.late for stream in result.streams)
    if not late or not all(late_by_tester(each, frame_timeout_ns) for each in result.streams):
        return None
    return (
        f"the tester was away when {late:,} frames came or left: they may have been in time "
        f"(frame timeout {frame_timeout_ns / 1e6:g} ms)"
    )
