"""Numbers of a plan exactly as they were written, since times and shares are exact arithmetic."""

from fractions import Fraction

from natxy.errors import ConfigurationError


def exact(name: str, value: Fraction | float | str) -> Fraction:
    """0.1 is a tenth, not the binary number next to it. ConfigurationError if it is no number."""
    try:
        return Fraction(value if isinstance(value, int | Fraction) else str(value))
    except (ValueError, ZeroDivisionError):
        raise ConfigurationError(
            f"{name}: {value} is not valid (expected a finite number)"
        ) from None


def make_exact(plan: object, **names: str) -> None:
    """These members of a frozen dataclass, with the names that errors call them by."""
    for member, name in names.items():
        if (value := getattr(plan, member)) is not None:
            object.__setattr__(plan, member, exact(name, value))
