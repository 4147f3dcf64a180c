"""The trials of a search for a capacity: what it asks for, and what it is told."""

from dataclasses import dataclass
from enum import Enum

from natxy.model.verdict import Verdict


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
