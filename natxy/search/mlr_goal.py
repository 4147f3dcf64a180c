"""What an MLRsearch looks for (RFC 9971): goals are data."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance, check_tolerance

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
            exceed_ratio="--exceed-ratio",
            width=f"{self.name}, width",
            initial_duration_s="--initial-duration",
            final_duration_s=f"{self.name}, final duration",
            duration_sum_s="--duration-sum",
        )
        self._check_exceed_ratio()
        self._check_durations()

    @property
    def total_s(self) -> Fraction:
        """Trials of the final duration that decide about a load, added up."""
        return self.final_duration_s if self.duration_sum_s is None else self.duration_sum_s

    def _check_exceed_ratio(self) -> None:
        if not 0 <= self.exceed_ratio < 1:
            raise ConfigurationError(
                f"--exceed-ratio: {float(self.exceed_ratio):g} is out of range (expected at least "
                "0, less than 1)"
            )

    def _check_durations(self) -> None:
        final_s = float(self.final_duration_s)
        if not 0 < self.initial_duration_s <= self.final_duration_s:
            raise ConfigurationError(
                f"--initial-duration: {float(self.initial_duration_s):g} s is out of range "
                f"(expected more than 0, at most the longest trials' {final_s:g} s)"
            )
        if self.total_s < self.final_duration_s:
            raise ConfigurationError(
                f"--duration-sum: {float(self.total_s):g} s is out of range (expected at least the "
                f"longest trials' {final_s:g} s)"
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
