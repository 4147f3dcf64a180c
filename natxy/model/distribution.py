"""The distribution of durations, such as delays, in a trial's result."""

from natxy.model.base import Count, Model


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
