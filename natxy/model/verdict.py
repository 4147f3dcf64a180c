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
