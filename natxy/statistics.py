"""Figures of repetitions, as RFC 2330 section 11.3 defines them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

P1 = Fraction(1, 100)
P99 = Fraction(99, 100)
MIN_REPETITIONS_FOR_PERCENTILES = 100
# A dispersion is a share of the median. Of a median that is hardly more than 0, such as an IPDV's,
# it would be an accidental number of many thousand percent.
LARGEST_DISPERSION_PERCENT = 10_000


def percentile(values: Sequence[float], share: Fraction) -> float:
    """The smallest value v of which F(v) >= share: one of the values, none in between."""
    if not values or not 0 <= share <= 1:
        raise ValueError("a percentile needs values, and a share from 0 to 1")
    rank = max(1, math.ceil(share * len(values)))
    return sorted(values)[rank - 1]


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number the mean of the middle two."""
    if not values:
        raise ValueError("a median needs values")
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


@dataclass(frozen=True, kw_only=True)
class Summary:
    n: int
    median: float
    minimum: float
    maximum: float
    mean: float
    standard_deviation: float  # of the sample (n - 1); 0 for a single value
    p1: float
    p99: float

    @property
    def dispersion_percent(self) -> float | None:
        """(P99 - P1) / |median|; None where the median is 0, or near 0 beside the difference."""
        difference = (self.p99 - self.p1) * 100
        if difference > LARGEST_DISPERSION_PERCENT * abs(self.median) or not self.median:
            return None
        return difference / abs(self.median)

    @property
    def percentiles_are_extremes(self) -> bool:
        return self.n < MIN_REPETITIONS_FOR_PERCENTILES


def summary(values: Sequence[float]) -> Summary:
    mean = math.fsum(values) / len(values) if values else math.nan
    return Summary(
        n=len(values),
        median=median(values),
        minimum=min(values),
        maximum=max(values),
        mean=mean,
        standard_deviation=_standard_deviation(values, mean),
        p1=percentile(values, P1),
        p99=percentile(values, P99),
    )


def _standard_deviation(values: Sequence[float], mean: float) -> float:
    if len(values) < 2:
        return 0.0
    squares = math.fsum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / (len(values) - 1))


def student_p(t: float, freedom: int) -> float:
    """Returns the probability that Student's t is at least as far from 0 (two-sided).

    The sums are exact for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    odd = freedom % 2
    angle = math.atan(abs(t) / math.sqrt(freedom))
    term = total = math.cos(angle) if odd else 1.0
    for k in range(2 + odd, freedom, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    inside = math.sin(angle) * total
    if odd:
        inside = 2 / math.pi * (angle + (inside if freedom > 1 else 0.0))
    return min(1.0, max(0.0, 1 - inside))


def student_t(p: float, freedom: int) -> float:
    """Returns the t that Student's t exceeds, in either direction, with this probability."""
    low, high = 0.0, 1.0
    while student_p(high, freedom) > p:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > p else (low, middle)
    return high


def holm_levels(p_values: Sequence[float], level: float) -> list[float]:
    """Returns the level at which each p is tested, so that all tests together err at `level`.

    Holm's method: the smallest of m values is tested at level / m, the next at level / (m - 1), and
    so on. From the first one that is not significant on, the level stays.
    """
    levels = [0.0] * len(p_values)
    left = len(p_values)
    for place in sorted(range(len(p_values)), key=p_values.__getitem__):
        levels[place] = level / left
        if p_values[place] < levels[place]:
            left -= 1
    return levels
