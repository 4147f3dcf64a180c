"""The distribution of durations, such as delays, in a trial's result."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

from natxy.model.base import Count, Model
from natxy.statistics import percentile


class Distribution(Model):
    """A histogram of durations; a bucket is (lower_ns, upper_ns, count), both bounds included.

    Minimum and maximum are exact. The bucket of a delay is not wider than 2^-10 of the delay's
    distance from the minimum, or than one tick of the clock if that is more. In a journal, the
    buckets that no report reads are wider (docs/decisions/0029).
    """

    count: Count
    min_ns: float
    max_ns: float
    mean_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p999_ns: float
    buckets: tuple[tuple[float, float, Count], ...]

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
