"""Repeats an invalid test within one call.

A script does not repeat it: it tries a lower rate instead, and so reports the noise of the tester's
machine as the gateway's throughput.
"""

from collections.abc import Callable
from dataclasses import dataclass

from natxy.model.trial_result import TrialResult

SLOW_REPEATS = 1  # a tester that is too slow for the rate is so again


@dataclass(frozen=True, kw_only=True)
class Attempt:
    result: TrialResult
    reasons: tuple[str, ...]  # why it is invalid; none: it is valid
    too_slow: bool  # the tester, if it is invalid


def until_valid(make: Callable[[int], Attempt], most: int, say: Callable[[str], None]) -> Attempt:
    """Returns the last attempt. `make` takes the attempt's number, from 0.

    The lines about earlier attempts have none of the words that scripts search for.
    """
    slow = 0
    for number in range(most):
        attempt = make(number)
        slow += attempt.too_slow
        if not attempt.reasons or slow > SLOW_REPEATS:
            return attempt
        said = "; ".join(attempt.reasons)
        say(
            f"Info: Repeat {number + 1} of at most {most}, because the last test does not count: "
            f"{said}"
        )
    return make(most)
