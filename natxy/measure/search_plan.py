"""What searches for a rate by bisection share: their options, conditions and figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from natxy.measure.plan import Plan
from natxy.model.measurement import Figure, SearchConditions, TrialCounts, Unit
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.loss_verification import MOST_REPEATS
from natxy.search.settings import LOSS, LossTolerance, error_of
from natxy.setting import Setting
from natxy.trial.bound import Bounded
from natxy.trial.maximum import Maximum
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.timing import RETRY_TIME
from natxy.trial.trials import Trials

EARLY_END = Setting(
    "early_end",
    (
        "End a trial as failed as soon as one frame has not arrived within the frame timeout after "
        "it was sent. Without a frame timeout, the length of the drain takes its place (bisection "
        "only, not with ",
        LOSS,
        ")",
    ),
)
PATIENCE = Setting(
    "patience_s",
    (
        "Time limit in seconds for each combination of frame size, mix, number of networks and ",
        *(
            "burst length. When the planned times (see ",
            RETRY_TIME,
            ") of all its trials, invalid ",
        ),
        "ones included, add up to this limit, no further repetition starts (bisection only)",
    ),
    "S",
    default="no limit",
    lowest=0,
    highest=86400,
)
VERIFY_LOSS = Setting(
    "loss_verifications",
    "Repeat a failed trial up to N times; its rate fails if all of them fail, or at once if a "
    "trial lost more than half of a direction's frames (bisection only)",
    "N",
    option="verify-loss",
    lowest=0,
    highest=MOST_REPEATS,
    of_profile=True,
)


@dataclass(frozen=True, kw_only=True)
class SearchPlan(Plan):
    """The options of a search for a rate, checked when the plan is created."""

    error: Annotated[SearchError, error_of("frames a second")] = DEFAULT_ERROR
    loss: Annotated[LossTolerance | None, LOSS] = None
    loss_verifications: Annotated[int, VERIFY_LOSS] = 0
    early_end: Annotated[bool, EARLY_END] = False
    invalid_repeats: int = INVALID_REPEATS

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


def searched(trials: Trials, found: Sequence[Bounded]) -> TrialCounts:
    """Returns the counts of all trials, with what the searches decided about failed ones."""
    decided = ("overturned", "revoked")
    sums = {name: sum(getattr(each, name) for each in found) for name in decided}
    return trials.counts.model_copy(update=sums)


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
