"""The distribution of durations, such as delays, in a trial's result."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

from natxy.model.base import Count, Model
from natxy.statistics import percentile


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
