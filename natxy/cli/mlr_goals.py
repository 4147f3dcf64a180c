"""Makes MLRsearch's goals from the options of `natxy throughput --search mlr`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from natxy.cli.options import words_of
from natxy.errors import ConfigurationError
from natxy.search.bisection import SearchError
from natxy.search.loss_tolerance import LOSS, LossTolerance
from natxy.search.mlr_goal import MlrGoal, pdr_goal, rfc2544_goal
from natxy.search.written import loss_tolerance


def goals_of(
    of_goals: Mapping[str, Any], loss: str | None, longest_s: Fraction, error: SearchError
) -> tuple[MlrGoal, ...]:
    """Returns a goal for the non-drop rate, and one for each partial drop rate in `loss`.

    `of_goals` has the fields of all goals that are given (RFC 9971).
    """
    if error.rate_fps is not None:
        raise ConfigurationError(
            f"--error: {error.rate_fps} is a number of frames a second, which MLRsearch does not "
            "take (expected a share of the rate, for example 0.1%)"
        )
    width = error.fraction
    goals = (
        rfc2544_goal(final_duration_s=longest_s, width=width),
        *(
            pdr_goal(tolerance, final_duration_s=longest_s, width=width)
            for tolerance in _tolerances(loss)
        ),
    )
    return tuple(replace(goal, **of_goals) for goal in goals)


def _tolerances(text: str | None) -> Iterable[LossTolerance]:
    shares = [] if text is None else words_of(LOSS, text)
    return dict.fromkeys(loss_tolerance(LOSS, share) for share in shares)
