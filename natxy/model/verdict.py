"""Verdicts of trials and limits of searches (docs/decisions/0003-validity-verdicts.md)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


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


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Losses that the rate does not explain: pauses are holes, about as long in time at each
    rate; chance takes single frames."""

    name: Literal["pauses", "chance"]
    longest_ns: float = 0.0  # of the holes
    typical_ns: float = 0.0
    per_s: float = 0.0  # holes in clean time
    frames: float = 0.0  # of which one is lost by chance
