"""The goals of an MLRsearch (RFC 9971)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check_settings
from natxy.search.settings import LOSS, NO_LOSS, LossTolerance
from natxy.setting import Setting

RFC2544_TRIAL_S = Fraction(60)  # RFC 2544 section 24

TOLERANCE = Setting(
    "tolerance", "Share of the frames of each direction that may be lost", option="loss"
)
EXCEED_RATIO = Setting(
    "exceed_ratio",
    (
        "A rate passes if trials with too much loss took at most this share of the time of all its "
        "trials. For the NDR, one lost frame is too much; for a PDR, more than its ",
        LOSS,
    ),
    "RATIO",
    default="0",
    panel="Search",
)
DURATION_SUM = Setting(
    "duration_sum_s",
    "Total seconds of the full-length trials that decide about a rate",
    "S",
    default="the duration",
    panel="Search",
)
INITIAL_DURATION = Setting(
    "initial_duration_s",
    "Seconds of the first, shortest trials",
    "S",
    default="1, or the duration if that is shorter",
    panel="Search",
)
WIDTH = Setting(
    "width", "Distance of the bounds at which the search ends, as a share of the upper one"
)
FINAL_DURATION = Setting("final_duration_s", "Duration of the trials that decide")


@dataclass(frozen=True, kw_only=True)
class MlrGoal:
    """One goal: the highest load at which full-length trials lose no more than is accepted.

    Trials of `final_duration_s`, in total `duration_sum_s`, decide about a load. A share
    `exceed_ratio` of them, by duration, may lose more. The search starts with shorter trials, of
    `initial_duration_s`. A short trial that fails counts against its load, but one that succeeds
    never makes the load a lower bound.
    """

    name: str
    tolerance: Annotated[LossTolerance, TOLERANCE] = NO_LOSS
    exceed_ratio: Annotated[Fraction, EXCEED_RATIO] = Fraction(0)
    width: Annotated[Fraction, WIDTH] = Fraction(1, 1000)
    initial_duration_s: Annotated[Fraction, INITIAL_DURATION] = Fraction(1)
    final_duration_s: Annotated[Fraction, FINAL_DURATION] = RFC2544_TRIAL_S
    duration_sum_s: Annotated[Fraction | None, DURATION_SUM] = None  # None: one final trial

    def __post_init__(self) -> None:
        check_settings(self)
        self._check_exceed_ratio()
        self._check_durations()

    @property
    def total_s(self) -> Fraction:
        """Total duration of the full-length trials that decide about a load."""
        return self.final_duration_s if self.duration_sum_s is None else self.duration_sum_s

    def _check_exceed_ratio(self) -> None:
        if not 0 <= self.exceed_ratio < 1:
            raise ConfigurationError(
                EXCEED_RATIO,
                f": {float(self.exceed_ratio):g} is out of range (expected at least 0, less than "
                "1)",
            )

    def _check_durations(self) -> None:
        final_s = float(self.final_duration_s)
        if not 0 < self.initial_duration_s <= self.final_duration_s:
            raise ConfigurationError(
                INITIAL_DURATION,
                f": {float(self.initial_duration_s):g} s is out of range (expected more than 0, at "
                f"most the longest trials' {final_s:g} s)",
            )
        if self.total_s < self.final_duration_s:
            raise ConfigurationError(
                DURATION_SUM,
                f": {float(self.total_s):g} s is out of range (expected at least the longest "
                f"trials' {final_s:g} s)",
            )


def rfc2544_goal(
    *, final_duration_s: Fraction = RFC2544_TRIAL_S, width: Fraction = Fraction(1, 1000)
) -> MlrGoal:
    """Returns the goal of the non-drop rate (NDR): zero loss in one trial of full duration."""
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
    """Returns the goal of a partial drop rate (PDR): as NDR, but some loss is accepted."""
    initial_s = min(Fraction(1), final_duration_s)
    return MlrGoal(
        name=f"PDR ({tolerance})",
        tolerance=tolerance,
        width=width,
        final_duration_s=final_duration_s,
        initial_duration_s=initial_s,
    )
