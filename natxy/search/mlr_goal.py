"""The goals of an MLRsearch (RFC 9971)."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance, check_tolerance

RFC2544_TRIAL_S = Fraction(60)  # RFC 2544 section 24


@dataclass(frozen=True, kw_only=True)
class MlrGoal:
    """One goal: the highest load at which full-length trials lose no more than is accepted.

    Trials of `final_duration_s`, in total `duration_sum_s`, decide about a load. A share
    `exceed_ratio` of them, by duration, may lose more. The search starts with shorter trials, of
    `initial_duration_s`. A short trial that fails counts against its load, but one that succeeds
    never makes the load a lower bound.
    """

    name: str
    tolerance: LossTolerance = NO_LOSS
    exceed_ratio: Fraction = Fraction(0)
    width: Fraction = Fraction(1, 1000)  # distance of the bounds, as a share of the upper one
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
        """Total duration of the full-length trials that decide about a load."""
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
