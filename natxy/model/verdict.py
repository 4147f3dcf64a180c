"""How a trial ends (docs/decisions/0003-validity-verdicts.md)."""

from enum import StrEnum


class Verdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"  # the DUT lost frames
    INVALID = "INVALID"  # the tester, or the DUT's lab, could not do what was asked
