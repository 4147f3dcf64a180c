"""What an MLRsearch looks for (RFC 9971): goals are data."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.exact import make_exact
from natxy.search.loss_tolerance import LossTolerance, check_tolerance

NO_LOSS = LossTolerance()
RFC2544_TRIAL_S = Fraction(60)  # RFC 2544 section 24


@dataclass(frozen=True, kw_only=True)
class MlrGoal:
    """A load is good enough if trials of `final_duration_s` lose no more than is tolerated.

    Of `duration_sum_s` of such trials, `exceed_ratio` may lose more. Shorter trials, from
    `initial_duration_s`, lead there; their losses count against a load, their successes never
    make it a lower bound.
    """

    name: str
    tolerance: LossTolerance = NO_LOSS
    exceed_ratio: Fraction = Fraction(0)
    width: Fraction = Fraction(1, 1000)  # between the bounds, of the upper one
    initial_duration_s: Fraction = Fraction(1)
    final_duration_s: Fraction = RFC2544_TRIAL_S
    duration_sum_s: Fraction | None = None  # None: one final trial

    def __post_init__(self) -> None:
        check_tolerance(self.name, self.tolerance)
        make_exact(
            self,
            exceed_ratio=f"{self.name}, exceed ratio",
            width=f"{self.name}, width",
            initial_duration_s=f"{self.name}, initial duration",
            final_duration_s=f"{self.name}, final duration",
            duration_sum_s=f"{self.name}, duration sum",
        )


def rfc2544_goal(
    *, final_duration_s: Fraction = RFC2544_TRIAL_S, width: Fraction = Fraction(1, 1000)
) -> MlrGoal:
    """Zero loss, one trial of the full duration: the non-drop rate, NDR."""
    initial_s = min(Fraction(1), final_duration_s)
    return MlrGoal(
        name="NDR", width=width, final_duration_s=final_duration_s, initial_duration_s=initial_s
    )


def pdr_goal(
    tolerance: LossTolerance,
    *,
    final_duration_s: Fraction = RFC2544_TRIAL_S,
    width: Fraction = Fraction(1, 1000),
) -> MlrGoal:
    """The partial drop rate: the same trials, but some loss is tolerated."""
    initial_s = min(Fraction(1), final_duration_s)
    return MlrGoal(
        name=f"PDR ({tolerance})",
        tolerance=tolerance,
        width=width,
        final_duration_s=final_duration_s,
        initial_duration_s=initial_s,
    )
