"""A search for a connection tracking table's capacity (RFC 9693).

These are its parameters, the trials that it asks for, and what it is told.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check, check_settings
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.model.verdict import Verdict
from natxy.search.bisection import SearchError
from natxy.search.settings import max_rate_of
from natxy.setting import Setting

# A step needs only the order of magnitude of its rate.
COARSE = SearchError(fraction=Fraction(1, 20))
COARSEST = SearchError(fraction=Fraction(1, 5))

FIRST_CPS = 1000

C0 = Setting(
    "c0",
    "C0: connections that the table certainly holds, with which the search begins",
    "N",
    default="count in the testbed's [connections]",
    short="Connections that the table certainly holds",
)
ERROR = Setting(
    "error", "E: end the search when the capacity is bounded to within N connections", "N"
)
BETA = Setting(
    "beta",
    "Fail a step of the exponential search if its establishment rate falls below RATIO times the "
    "previous step's",
    "RATIO",
)
GAMMA = Setting(
    "gamma",
    "Fail a step of the final search if its establishment rate falls below RATIO times that of the "
    "last step that passed in the exponential search",
    "RATIO",
)
MOST = Setting(
    "most",
    "Largest number of connections to try",
    "N",
    default=str(MAX_CONNECTIONS),
    lowest=1,
    highest=MAX_CONNECTIONS,
    short="Largest number of connections to try",
)
RATE_ERROR = Setting(
    "rate_error",
    "End the search for a step's establishment rate when this rate is known to within this error: "
    "a share of the rate, or connections a second",
    "ERROR",
    of_profile=True,
)
FIRST_RATE = Setting(
    "first_cps",
    "First rate of the search for R0, in connections a second",
    "CPS",
    option="first-rate",
    default=f"rate_fps in the testbed's [connections], or {FIRST_CPS}",
    lowest=1,
    highest=MAX_RATE_FPS,
)
MAX_RATE = max_rate_of("max_cps", "connections a second", default="no limit")


@dataclass(frozen=True, kw_only=True)
class CapacityGoal:
    """The parameters of a capacity search.

    The gateway must be able to hold `c0` connections. A step of the exponential search fails if the
    gateway does not pass at `beta` times the rate of the last step that passed (RS); a step of the
    final search fails below `gamma` times RS.
    """

    c0: Annotated[int, C0]
    error: Annotated[int, ERROR] = 1
    beta: Annotated[Fraction, BETA] = Fraction(1, 5)
    gamma: Annotated[Fraction, GAMMA] = Fraction(2, 5)
    most: Annotated[int, MOST] = MAX_CONNECTIONS
    # Table entries as the gateway reports them. The search tries this number early, but does not
    # rely on it.
    told: int | None = None
    rate_error: Annotated[SearchError, RATE_ERROR] = COARSE
    first_cps: Annotated[int, FIRST_RATE] = FIRST_CPS
    max_cps: Annotated[int, MAX_RATE] = MAX_RATE_FPS
    # A failure must be confirmed by another one. A full table holds the same number of connections
    # each time. If the numbers differ, frames were lost for other reasons; then the step fails
    # after this many failures.
    patience: int = 5
    invalid_repeats: int = 10  # repeats of an invalid trial before the search gives up

    def __post_init__(self) -> None:
        check_settings(self)
        check(C0, self.c0, lowest=1, highest=self.most)
        check(ERROR, self.error, lowest=1, highest=self.most)
        for setting, share in ((BETA, self.beta), (GAMMA, self.gamma)):
            if not 0 < share < 1:
                raise ConfigurationError(
                    setting,
                    f": {float(share):g} is out of range (expected more than 0, less than 1)",
                )


class Answer(Enum):
    """The outcome of a validated trial."""

    PASS = "pass"
    FAIL = "fail"
    TOO_SLOW = "too slow"  # the tester was too slow for the rate: says nothing about the gateway
    INVALID = "invalid"  # all repeats were INVALID for another reason
    COLLAPSE = "collapse"  # the gateway is gone, or does not answer any more

    @property
    def verdict(self) -> Verdict:
        if self is Answer.PASS:
            return Verdict.PASS
        return Verdict.FAIL if self in (Answer.FAIL, Answer.COLLAPSE) else Verdict.INVALID


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a trial; `held` counts the connections that the table had, None if unknown."""

    answer: Answer
    held: int | None = None
    may_repeat: bool = True  # whether time is left to repeat an INVALID trial


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The next validated trial: its number of connections and its rate."""

    connections: int
    rate_cps: int
    safe: int  # the current CS and CT, for display only
    tested: int
