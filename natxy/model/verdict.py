"""How a trial ends, and what a search ends against (docs/decisions/0003-validity-verdicts.md)."""

from enum import StrEnum


class Verdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"  # the DUT lost frames
    INVALID = "INVALID"  # the tester, or the DUT's lab, could not do what was asked


class Limit(StrEnum):
    DUT = "dut"  # a rate a little higher failed
    TESTER = "tester"  # a rate a little higher was invalid, however often it was tried
    MAXIMUM = "maximum"  # the highest rate that was to be tried passed


def ceiling(*, too_slow: bool) -> str:
    """Returns what limits a bound that a search against Limit.TESTER has found; `too_slow` is what
    the last trial above it says: whether what made it INVALID grows with the rate."""
    if too_slow:
        return (
            "limited by the tester: above it, trials were invalid, so the gateway does at least "
            "that"
        )
    return (
        "limited by noise: above it, trials stayed invalid for reasons that do not grow with the "
        "rate, such as a core that was away; the gateway does at least that"
    )
