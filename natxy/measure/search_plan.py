"""What searches for a rate by bisection share: their options, conditions and figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from natxy.measure.plan import Plan, check_members
from natxy.model.measurement import Figure, SearchConditions, Unit
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.loss_tolerance import LossTolerance, check_tolerance
from natxy.search.loss_verification import MOST_REPEATS
from natxy.trial.bound import Bounded
from natxy.trial.maximum import Maximum
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.timing import check


@dataclass(frozen=True, kw_only=True)
class SearchPlan(Plan):
    """The options of a search for a rate, checked when the plan is created."""

    error: SearchError = DEFAULT_ERROR
    loss: LossTolerance | None = None  # None: a trial that loses a frame is a FAIL
    loss_verifications: int = 0  # how often a FAIL is repeated before its rate fails
    early_end: bool = False  # a trial ends at its first certain loss, and is a FAIL
    invalid_repeats: int = INVALID_REPEATS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_members(self, error=SearchError)
        check_tolerance("--loss", self.loss)
        check("--verify-loss", self.loss_verifications, lowest=0, highest=MOST_REPEATS)

    def search_conditions(
        self, found: Sequence[Bounded], maximum: Maximum, unit: Unit = "fps", **own: Any
    ) -> SearchConditions:
        """Returns the conditions of the search; `own` are those that others do not have."""
        highest = max((each.rate_fps for each in found), default=None)
        return SearchConditions(
            error=self.error.shown(unit),
            error_fps=None if highest is None else self.error.at(highest),
            maximum_fps=maximum.rate_fps,
            maximum_origin=maximum.origin,
            loss_verifications=self.loss_verifications,
            **own,
        )


def rate_figure(name: str, unit: Unit, found: Sequence[Bounded]) -> Figure:
    """Returns the figure of the rates that searches found."""
    errors = tuple(float(each.error_fps) for each in found)
    return Figure(
        name=name,
        unit=unit,
        values=tuple(float(each.rate_fps) for each in found),
        lower_bound=tuple(each.lower_bound for each in found),
        errors=errors if any(each.is_wide for each in found) else (),
    )
