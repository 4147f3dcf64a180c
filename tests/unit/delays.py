"""What tests of delays share with others."""

import math
from collections import Counter
from collections.abc import Sequence

from natxy.model.distribution import Distribution

ERROR = 2**-10  # of a bucket's distance from the minimum: what the engine promises
TICK_NS = 1.0
LOST_NS = 2e12


def distribution(delays: Sequence[float]) -> Distribution:
    """As the engine tells it: a bucket a step of a thousandth above the smallest, or of a tick."""
    lowest = min(delays, default=0.0)

    def bounds(delay: float) -> tuple[float, float]:
        above = delay - lowest
        if above < TICK_NS:
            return lowest, lowest + TICK_NS
        octave = 2.0 ** math.floor(math.log2(above))
        step = max(TICK_NS, octave * ERROR)
        begin = octave + (above - octave) // step * step
        return lowest + begin, lowest + begin + step

    counts = Counter(bounds(delay) for delay in delays)
    middle = dict.fromkeys(("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns"), 0.0)
    return Distribution(
        count=len(delays),
        min_ns=lowest,
        max_ns=max(delays, default=0.0),
        buckets=tuple((*bounds, count) for bounds, count in sorted(counts.items())),
        **middle,
    )
