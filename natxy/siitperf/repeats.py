"""An invalid test is made again within the one call: scripts do not ask again, and one that goes to
a lower rate instead prints the noise of the tester's machine under the gateway's name."""

from collections.abc import Callable
from dataclasses import dataclass

from natxy.model.trial_result import TrialResult
from natxy.procedure.pacing import is_too_slow

SLOW_REPEATS = 1  # what grows with the rate comes again


@dataclass(frozen=True, kw_only=True)
class Attempt:
    result: TrialResult
    reasons: tuple[str, ...]  # why it is invalid; none: it is valid


def until_valid(make: Callable[[int], Attempt], most: int, say: Callable[[str], None]) -> Attempt:
    """Returns the last attempt. `make` takes the attempt's number, from 0.

    What is said of those before has none of the words that scripts look for.
    """
    slow = 0
    for number in range(most):
        attempt = make(number)
        slow += is_too_slow(attempt.result)
        if not attempt.reasons or slow > SLOW_REPEATS:
            return attempt
        said = "; ".join(attempt.reasons)
        say(
            f"Info: Repeat {number + 1} of at most {most}, because the last test does not count: "
            f"{said}"
        )
    return make(most)
