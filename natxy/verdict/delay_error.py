"""The largest error of a delay, caused by a tester or a gateway that was away when a frame was sent
or arrived.

A frame's delay ends when a poll finds the frame, which may have arrived at any time since the
previous poll. It begins before the call that sends the frame, and the sender may be kept from its
core during that call. So a measured delay may be too long by at most its poll gap and its step gap,
but never too short. The difference of two delays may be wrong by as much in either direction.

While a watched gateway is away, frames wait; after it is back, the frames behind them wait. A
sender that was late sends frames closer together, and they wait for each other in the gateway: a
queue that serves in turn is never further behind than the sender was. Neither makes a trial
INVALID. But such a figure cannot be compared with those of other gateways, so the stated error
includes this time. Tagged frames that waited are left out (clean_tags.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.model.distribution import Delays, Distribution
from natxy.model.disturbance import Disturbance
from natxy.model.reason import Code, Reason
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction

# The largest error that is allowed, as a share of the figure. A smaller error is printed beside the
# figure, so that the reader decides; with a larger one, the figure shows the tester and not the
# gateway.
ERROR_SHARE = Fraction(9, 10)
# A round of polling takes microseconds, which are a part of every delay. An absence is longer.
ABSENCE_NS = 100_000
QUIET = Disturbance()


@dataclass(frozen=True, kw_only=True)
class TimingErrors:
    """The sources of timing errors for one direction's frames.

    `poll_gap` is empty if the port itself stamps arrivals.
    """

    poll_gap: Distribution
    step_gap: Distribution
    # Longest time that a frame may have waited for an absent gateway, or behind frames that came
    # late.
    waiting_ns: float = 0.0
    absence_ns: float = 0.0  # by which the waits of two frames differ at most
    waiting_share: Fraction = Fraction(0)  # share of the frames that came during an absence

    @classmethod
    def of(
        cls,
        frames: StreamResult,
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
            waiting_ns=noise.away_ns + noise.longest_late_ns,
            absence_ns=noise.longest_away_ns + noise.longest_late_ns,
            waiting_share=Fraction(share) if noise.away_ns else Fraction(0),
        )

    def percentile_ns(self, delays: Delays, share: Fraction) -> float:
        """Returns by how much the percentile of a share p may be too large.

        Let f be the largest share of the delays whose frames have a gap longer than g. Without
        these frames, the percentile of p is not below that of p - f, and every other delay has an
        error of at most 2 g. The method takes the g with the smallest error.

        A gateway near its limit needs a long time to catch up after an absence, so any share of the
        frames may have waited for it. Each waited at most for the sum of the absences, and less
        than its delay exceeds the smallest delay.
        """
        value_ns = delays.percentile_ns(share)
        least_ns = value_ns
        for gap_ns, beyond in self._steps(delays.count):
            if beyond >= share:
                continue
            lower_ns = delays.percentile_ns(share - beyond) - 2 * gap_ns
            least_ns = min(least_ns, max(0.0, value_ns - lower_ns))
        return min(value_ns, least_ns + min(self.waiting_ns, value_ns - delays.minimum_ns))

    def maximum_ns(self, delays: Delays) -> float:
        """Returns by how much the largest delay of the frames that arrived may be too large."""
        of_arrived_ns = self.percentile_ns(replace(delays, lost=0), Fraction(1))
        return min(of_arrived_ns, self._longest_gaps_ns + self.waiting_ns)

    def minimum_ns(self, delays: Delays) -> float:
        """Returns by how much the smallest delay may be too large.

        Many frames have nearly this delay, so one of them has met gaps that are not longer than the
        median ones, and has waited for no absent gateway.
        """
        gaps_ns = sum(of.p50_ns for of in (self.poll_gap, self.step_gap) if of.count)
        return min(delays.minimum_ns, gaps_ns)

    def variation_ns(self, variations: Delays, share: Fraction) -> float:
        """Returns the error of a percentile of the differences of consecutive delays, either way.

        A frame with a gap longer than g affects two differences; every other difference has an
        error of at most 2 g. A frame that came while the gateway was away, and the first one after
        it, affect two differences as well.
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
        """The largest error of the difference of two consecutive delays."""
        return self._longest_gaps_ns + self.absence_ns

    @property
    def _longest_gaps_ns(self) -> float:
        return sum(of.max_ns for of in (self.poll_gap, self.step_gap) if of.count)

    def _steps(self, values: int) -> Iterator[tuple[float, Fraction]]:
        """Yields each gap that occurs, and the share of the values that may have a longer gap.

        `values` is the number of values; the gaps of at least as many frames are known.
        """
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
    """A figure of one direction of a trial, with its largest error."""

    name: str
    direction: Direction
    value_ns: float
    error_ns: float
    either_way: bool = False  # True: the figure may be too small or too large; False: too large
    judged: bool = True  # False: the error makes no trial INVALID


def doubts(errors: Sequence[DelayError]) -> tuple[Reason, ...]:
    """Returns a reason for each figure whose error is too large in proportion to it.

    A difference of delays may really be 0, so that no proportion exists: its error is only stated.
    So is that of a figure that is reported in addition to a procedure's main ones.
    """
    return tuple(
        Reason.of(
            Code.DELAY_IN_DOUBT,
            f"{e.direction}: the {e.name}",
            value_ns=e.value_ns,
            error_ns=e.error_ns,
            limit_share=ERROR_SHARE,
        )
        for e in errors
        if e.judged
        and not e.either_way
        and e.error_ns > max(ABSENCE_NS, float(ERROR_SHARE) * e.value_ns)
    )


def error_remarks(trials: Sequence[Sequence[DelayError]]) -> Remarks:
    """Returns the remarks on the largest errors of the valid trials' figures."""
    all_errors = [error for errors in trials for error in errors]
    kinds = {
        Topic.TOO_LONG: [error for error in all_errors if not error.either_way],
        Topic.WRONG_EITHER_WAY: [error for error in all_errors if error.either_way],
    }
    return tuple(
        Remark.of(code, errors_ns=_largest(errors)) for code, errors in kinds.items() if errors
    )


def _largest(errors: Sequence[DelayError]) -> dict[str, float]:
    largest: dict[str, float] = {}
    for error in errors:
        largest[error.name] = max(largest.get(error.name, 0.0), error.error_ns)
    return largest


def late_by_tester(stream: StreamResult, frame_timeout_ns: int) -> bool:
    """Returns whether an absence of the tester may be why every late frame was late."""
    slow_steps = sum(
        frames for _, upper_ns, frames in stream.step_gap.buckets if upper_ns > frame_timeout_ns / 4
    )
    return stream.late <= stream.uncertain_late + slow_steps
