"""What tests of degradation share with others."""

from fractions import Fraction

from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
ESTABLISHMENT = EstablishmentPlan(
    timing=TIMING, seed=7, repetitions=1, error=SearchError(rate_fps=1)
)
THROUGHPUT = ThroughputPlan(
    timing=TIMING, seed=7, repetitions=1, error=SearchError(rate_fps=1), max_rate_fps=200_000
)
