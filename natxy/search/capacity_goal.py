"""The parameters of a search for a connection tracking table's capacity (RFC 9693)."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.search.bisection import SearchError

# A step needs only the order of magnitude of its rate.
COARSE = SearchError(fraction=Fraction(1, 20))
COARSEST = SearchError(fraction=Fraction(1, 5))

FIRST_CPS = 1000


@dataclass(frozen=True, kw_only=True)
class CapacityGoal:
    """The parameters of a capacity search.

    The gateway must be able to hold `c0` connections. A step of the exponential search fails if the
    gateway does not pass at `beta` times the rate of the last step that passed (RS); a step of the
    final search fails below `gamma` times RS.
    """

    c0: int
    error: int = 1  # E, connections
    beta: Fraction = Fraction(1, 5)
    gamma: Fraction = Fraction(2, 5)
    most: int = MAX_CONNECTIONS  # highest number of connections that can be tested
    # Table entries as the gateway reports them. The search tries this number early, but does not
    # rely on it.
    told: int | None = None
    rate_error: SearchError = COARSE
    first_cps: int = FIRST_CPS  # first rate of the search for R0
    max_cps: int = MAX_RATE_FPS
    # A failure must be confirmed by another one. A full table holds the same number of connections
    # each time. If the numbers differ, frames were lost for other reasons; then the step fails
    # after this many failures.
    patience: int = 5
    invalid_repeats: int = 10  # repeats of an invalid trial before the search gives up

    def __post_init__(self) -> None:
        make_exact(self, beta="--beta", gamma="--gamma")
        for option, value, highest in (
            ("--most", self.most, MAX_CONNECTIONS),
            ("--c0", self.c0, self.most),
            ("--error", self.error, self.most),
            ("--first-rate", self.first_cps, MAX_RATE_FPS),
            ("--max-rate", self.max_cps, MAX_RATE_FPS),
        ):
            if not 1 <= value <= highest:
                raise ConfigurationError(
                    f"{option}: {value} is out of range (expected 1 to {highest})"
                )
        for option, share in (("--beta", self.beta), ("--gamma", self.gamma)):
            if not 0 < share < 1:
                raise ConfigurationError(
                    f"{option}: {float(share):g} is out of range (expected more than 0, less than "
                    "1)"
                )
