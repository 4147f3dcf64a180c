"""The loss that is accepted: none by RFC 2544, a fraction for a partial drop rate."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact


@dataclass(frozen=True, kw_only=True)
class LossTolerance:
    """A figure that was found with a tolerance is shown with it, always."""

    fraction: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        make_exact(self, fraction="a loss tolerance")
        if not 0 <= self.fraction < 1:
            raise ConfigurationError(
                f"a loss tolerance: {float(self.fraction):g} is out of range, at least 0, less "
                "than 1 is right"
            )

    def accepts(self, *, sent: int, lost: int) -> bool:
        """Exact: a trial with just the tolerated loss is accepted."""
        return lost <= sent * self.fraction

    def __str__(self) -> str:
        return f"{float(self.fraction * 100):g} % loss" if self.fraction else "no loss"


NO_LOSS = LossTolerance()


def check_tolerance(option: str, loss: object) -> None:
    """A bare number could be a share as well as percent."""
    if not isinstance(loss, LossTolerance | None):
        raise ConfigurationError(
            f"{option}: {loss} is no LossTolerance, LossTolerance(fraction=0.01) is right for 1 %"
        )
