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
