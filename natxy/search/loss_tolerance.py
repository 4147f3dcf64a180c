"""The loss that is accepted: none by RFC 2544, a fraction for a partial drop rate."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class LossTolerance:
    """A figure that was found with a tolerance is shown with it, always."""

    fraction: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not 0 <= self.fraction < 1:
            raise ValueError(
                f"a loss tolerance of {self.fraction}: at least 0, less than 1 is right"
            )

    def accepts(self, *, sent: int, lost: int) -> bool:
        """Exact: a trial with just the tolerated loss is accepted."""
        return lost <= sent * self.fraction

    def __str__(self) -> str:
        return f"{float(self.fraction * 100):g} % loss" if self.fraction else "no loss"
