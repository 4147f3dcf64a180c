"""Makes MLRsearch's goals from the options of `natxy throughput --search mlr`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from natxy.cli.options import loss_tolerance, seconds, words_of
from natxy.errors import ConfigurationError
from natxy.search.bisection import SearchError
from natxy.search.loss_tolerance import LossTolerance
from natxy.search.mlr_goal import MlrGoal, pdr_goal, rfc2544_goal
from natxy.trial.timing import Timing


@dataclass(frozen=True, kw_only=True)
class GoalOptions:
    """Attributes of all goals (RFC 9971); None stands for the RFC 2544 goal's value."""

    exceed_ratio: float | None
    duration_sum: float | None
    initial_duration: float | None

    def refuse(self) -> None:
        """ConfigurationError if an option is given, for searches other than MLRsearch."""
        for name, value in vars(self).items():
            if value is not None:
                option = f"--{name.replace('_', '-')}"
                raise ConfigurationError(
                    f"{option}: is an option of MLRsearch (expected --search mlr)"
                )

    def of(self, goal: MlrGoal) -> MlrGoal:
        asked: dict[str, Any] = {
            "exceed_ratio": self.exceed_ratio,
            "duration_sum_s": seconds("--duration-sum", self.duration_sum),
            "initial_duration_s": seconds("--initial-duration", self.initial_duration),
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return replace(goal, **given)


def goals_of(
    options: GoalOptions, loss: str | None, timing: Timing, error: SearchError
) -> tuple[MlrGoal, ...]:
    """Returns a goal for the non-drop rate, and one for each partial drop rate in `loss`."""
    if error.rate_fps is not None:
        raise ConfigurationError(
            f"--error: {error.rate_fps} is a number of frames a second, which MLRsearch does not "
            "take (expected a share of the rate, for example 0.1%)"
        )
    width, longest_s = error.fraction, timing.duration_s
    goals = (
        rfc2544_goal(final_duration_s=longest_s, width=width),
        *(
            pdr_goal(tolerance, final_duration_s=longest_s, width=width)
            for tolerance in _tolerances(loss)
        ),
    )
    return tuple(options.of(goal) for goal in goals)


def _tolerances(text: str | None) -> Iterable[LossTolerance]:
    listed = [] if text is None else words_of("--loss", text)
    return dict.fromkeys(found for share in listed if (found := loss_tolerance(share)))
