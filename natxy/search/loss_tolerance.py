"""The loss that is accepted: none by RFC 2544, a share of the frames for a partial drop rate."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.setting import Setting

LOSS = Setting(
    "loss",
    "Let a trial pass if each direction lost at most this share of its frames, for example 0.01%",
    "PERCENT",
    default="no loss",
)


@dataclass(frozen=True, kw_only=True)
class LossTolerance:
    """An accepted share of lost frames; a figure is always shown with its tolerance."""

    EXPECTED: ClassVar = "for example LossTolerance(fraction=0.01) for 1 %"  # not a bare number

    fraction: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fraction", exact("a loss tolerance", self.fraction))
        if not 0 <= self.fraction < 1:
            raise ConfigurationError(
                f"a loss tolerance: {float(self.fraction):g} is out of range (expected at least 0, "
                "less than 1)"
            )

    def accepts(self, *, sent: int, lost: int) -> bool:
        """Returns whether the loss is accepted; the comparison is exact and includes the limit."""
        return lost <= sent * self.fraction

    def __str__(self) -> str:
        return f"{float(self.fraction * 100):g} % loss" if self.fraction else "no loss"


NO_LOSS = LossTolerance()
