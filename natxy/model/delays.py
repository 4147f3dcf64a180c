"""The delays of one direction's frames, in which a lost frame counts with its longest delay."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import DutError
from natxy.model.distribution import Distribution

P999 = Fraction(999, 1000)


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
