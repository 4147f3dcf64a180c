"""The distribution of durations, such as delays, in a trial's result.

Among the delays of one direction's frames, a lost frame counts with its longest delay.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from natxy.errors import DutError
from natxy.model.base import Count, Model
from natxy.statistics import percentile

P999 = Fraction(999, 1000)


class Distribution(Model):
    """A histogram of durations."""

    count: Count
    """Number of durations."""
    min_ns: float
    """The smallest one, exact to a tick of the clock; 0 if there are none, as the others."""
    max_ns: float
    """The largest one, exact to a tick of the clock."""
    mean_ns: float
    """Their mean."""
    p50_ns: float
    """Their median."""
    p90_ns: float
    """The 90th percentile."""
    p99_ns: float
    """The 99th percentile."""
    p999_ns: float
    """The 99.9th percentile."""
    buckets: tuple[tuple[float, float, Count], ...]
    """`[lower_ns, upper_ns, count]` of each bucket that is not empty, in ascending order, with both
    bounds included. The width of a delay's bucket is at most 2^-10 of the delay's distance from the
    smallest delay, or one tick of the clock (decision 0010). In a journal, the buckets that no
    report reads are wider (decision 0029)."""

    @classmethod
    def of(cls, values_ns: Sequence[float]) -> Self:
        """Returns the distribution of known values: each bucket is one value."""
        values_ns = sorted(values_ns)
        if not values_ns:
            return cls(**NOTHING.model_dump())
        at = {
            name: float(percentile(values_ns, share))
            for name, share in (
                ("p50_ns", Fraction(1, 2)),
                ("p90_ns", Fraction(9, 10)),
                ("p99_ns", Fraction(99, 100)),
                ("p999_ns", Fraction(999, 1000)),
            )
        }
        return cls(
            count=len(values_ns),
            min_ns=float(values_ns[0]),
            max_ns=float(values_ns[-1]),
            mean_ns=sum(values_ns) / len(values_ns),
            **at,
            buckets=tuple(
                (float(value), float(value), count) for value, count in Counter(values_ns).items()
            ),
        )


NOTHING = Distribution(
    count=0,
    min_ns=0.0,
    max_ns=0.0,
    mean_ns=0.0,
    p50_ns=0.0,
    p90_ns=0.0,
    p99_ns=0.0,
    p999_ns=0.0,
    buckets=(),
)


@dataclass(frozen=True, kw_only=True)
class Delays:
    """Delays of frames; `lost_ns` is that of a lost frame (siitperf's design paper, sections 3.3.3
    and 3.3.4).

    Minimum and maximum are exact. Every other value is the middle between the lower and the upper
    bound at its rank. These differ by less than 0.1 % of the value's distance from the minimum, or
    by a tick of the clock. (docs/decisions/0010 names an exception: delays that have fallen by more
    than 64 times 25 us since the first frame.)
    """

    distributions: tuple[Distribution, ...]  # of the kinds of traffic
    lost: int = 0
    lost_ns: float = 0.0

    @property
    def count(self) -> int:
        return sum(d.count for d in self.distributions) + self.lost

    @property
    def minimum_ns(self) -> float:
        """The smallest delay of the frames that arrived."""
        return min(d.min_ns for d in self._arrived())

    @property
    def maximum_ns(self) -> float:
        """The largest delay of the frames that arrived."""
        return max(d.max_ns for d in self._arrived())

    @property
    def median_ns(self) -> float:
        """The middle value, or the mean of the middle two (RFC 2330 section 11.3)."""
        lower, upper = (self.count + 1) // 2, self.count // 2 + 1
        return (self._ranked(lower) + self._ranked(upper)) / 2

    def percentile_ns(self, share: Fraction) -> float:
        """Returns the smallest value v with F(v) >= share (RFC 2330 section 11.3)."""
        return self._ranked(max(1, math.ceil(share * self.count)))

    def _ranked(self, rank: int) -> float:
        """Returns the value at this rank in ascending order; ranks start at 1."""
        lowest = _at(rank, [(lower_ns, count) for lower_ns, _, count in self._buckets()])
        highest = _at(rank, [(upper_ns, count) for _, upper_ns, count in self._buckets()])
        return (lowest + highest) / 2

    def _buckets(self) -> list[tuple[float, float, int]]:
        lost = [(self.lost_ns, self.lost_ns, self.lost)] if self.lost else []
        return [bucket for d in self.distributions for bucket in _within_extremes(d)] + lost

    def _arrived(self) -> list[Distribution]:
        arrived = [d for d in self.distributions if d.count]
        if not arrived:
            raise DutError(
                "No frame arrived, so there is no delay; use `natxy throughput` to find a rate at "
                "which frames arrive."
            )
        return arrived


def _within_extremes(of: Distribution) -> list[tuple[float, float, int]]:
    """Returns the buckets, limited to the range between minimum and maximum.

    Minimum and maximum get buckets of their own.
    """
    buckets = [
        (max(lower_ns, of.min_ns), min(upper_ns, of.max_ns), count)
        for lower_ns, upper_ns, count in of.buckets
    ]
    for extreme_ns in (of.min_ns, of.max_ns)[: of.count]:
        # Buckets of two epochs may overlap: the narrowest that contains the extreme holds it.
        held = [b for b in buckets if b[0] <= extreme_ns <= b[1] and b[0] < b[1] and b[2]]
        if held:
            lower_ns, upper_ns, count = narrowest = min(held, key=lambda b: b[1] - b[0])
            buckets.remove(narrowest)
            buckets += [(lower_ns, upper_ns, count - 1), (extreme_ns, extreme_ns, 1)]
    return buckets


def _at(rank: int, values: Sequence[tuple[float, int]]) -> float:
    """Returns the value at a rank; `values` are pairs of a value and its count."""
    seen = 0
    for value, count in sorted(values):
        seen += count
        if seen >= rank:
            return value
    raise DutError("No frame was sent, so there is no delay; use a higher rate or a longer trial.")
