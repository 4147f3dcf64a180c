"""The parameters of a search for a connection tracking table's capacity (RFC 9693)."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.search.bisection import SearchError

# A step needs only the order of magnitude of its rate.
COARSE = SearchError(fraction=Fraction(1, 20))
COARSEST = SearchError(fraction=Fraction(1, 5))

FIRST_CPS = 1000
MOST_CPS = 2**33  # the engine's limit


@dataclass(frozen=True, kw_only=True)
class CapacityGoal:
    """The parameters of a capacity search.

    The device must be able to hold `c0` connections. A step of the exponential search fails if the
    device does not pass at `beta` times the rate of the last step that passed (RS); a step of the
    final search fails below `gamma` times RS.
    """

    c0: int
    error: int = 1  # E, connections
    beta: Fraction = Fraction(1, 5)
    gamma: Fraction = Fraction(2, 5)
    most: int = 2**32  # highest number of connections that can be tested
    # Table entries as the device reports them. The search tries this number early, but does not
    # rely on it.
    told: int | None = None
    rate_error: SearchError = COARSE
    first_cps: int = FIRST_CPS  # first rate of the search for R0
    max_cps: int = MOST_CPS
    # A failure must be confirmed by another one. A full table holds the same number of connections
    # each time. If the numbers differ, frames were lost for other reasons; then the step fails
    # after this many failures.
    patience: int = 5
    invalid_repeats: int = 10  # repeats of an invalid trial before the search gives up

    def __post_init__(self) -> None:
        make_exact(self, beta="capacity: beta", gamma="capacity: gamma")
        if not 1 <= self.c0 <= self.most:
            raise ConfigurationError(
                f"capacity: C0: {self.c0} is out of range (expected 1 to {self.most})"
            )
        for option, rate_cps in (("--first-rate", self.first_cps), ("--max-rate", self.max_cps)):
            if not 1 <= rate_cps <= MOST_CPS:
                raise ConfigurationError(
                    f"capacity: {option}: {rate_cps} is out of range (expected 1 to {MOST_CPS} "
                    "connections a second)"
                )
        if self.error < 1:
            raise ConfigurationError(
                f"capacity: error: {self.error} is out of range (expected at least 1 connection)"
            )
        for name in ("beta", "gamma"):
            if not 0 < (share := getattr(self, name)) < 1:
                raise ConfigurationError(
                    f"capacity: {name}: {float(share):g} is out of range (expected more than 0, "
                    "less than 1)"
                )
