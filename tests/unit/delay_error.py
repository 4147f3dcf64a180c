"""What tests of delay error share with others."""

from natxy.model.distribution import Distribution

US = 1000.0


def spread(*buckets: tuple[float, int]) -> Distribution:
    """Values in microseconds and how often each occurs."""
    return Distribution(
        count=sum(count for _, count in buckets),
        min_ns=min((us for us, _ in buckets), default=0.0) * US,
        max_ns=max((us for us, _ in buckets), default=0.0) * US,
        **dict.fromkeys(("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns"), 0.0),
        buckets=tuple((us * US, us * US, count) for us, count in buckets),
    )
