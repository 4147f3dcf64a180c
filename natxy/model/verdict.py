"""Verdicts of trials and limits of searches (docs/decisions/0003-validity-verdicts.md)."""

from enum import StrEnum


class Verdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"  # the DUT lost frames
    INVALID = "INVALID"  # the tester did not do what it was asked, or an absence excuses the loss


class Limit(StrEnum):
    DUT = "dut"  # a slightly higher rate failed
    UNEXPLAINED = "unexplained"  # losses that the rate does not explain: pauses, or chance
    VARIES = "varies"  # a trial failed in which the DUT forwarded more than the result
    TESTER = "tester"  # trials at a slightly higher rate stayed INVALID
    MAXIMUM = "maximum"  # the highest rate that the search may try passed
