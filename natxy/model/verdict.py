"""Verdicts of trials and limits of searches (docs/decisions/0003-validity-verdicts.md)."""

from enum import StrEnum


class Verdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"  # the DUT lost frames
    INVALID = "INVALID"  # the tester did not do what it was asked, or an absence excuses the loss


class Limit(StrEnum):
    DUT = "dut"  # a slightly higher rate failed
    TESTER = "tester"  # trials at a slightly higher rate stayed INVALID
    MAXIMUM = "maximum"  # the highest rate that the search may try passed


def ceiling(*, too_slow: bool) -> str:
    """Returns what limits the lower bound of a search that ended at Limit.TESTER.

    `too_slow` is that of the last trial above the bound: the reason that made it INVALID grows
    with the rate.
    """
    if too_slow:
        return (
            "limited by the tester: trials above this rate were invalid, so the gateway can do at "
            "least this rate"
        )
    return (
        "limited by noise: trials above this rate stayed invalid for reasons that do not grow with "
        "the rate, such as a core that was away; the gateway can do at least this rate"
    )
