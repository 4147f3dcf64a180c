"""Converts numbers of a plan to fractions, exactly as they were written."""

from fractions import Fraction

from natxy.errors import ConfigurationError


def exact(name: str, value: Fraction | float | str) -> Fraction:
    """Returns the value as a fraction: 0.1 is a tenth. ConfigurationError if it is not finite."""
    try:
        return Fraction(value if isinstance(value, int | Fraction) else str(value))
    except (ValueError, ZeroDivisionError):
        raise ConfigurationError(
            f"{name}: {value} is not valid (expected a finite number)"
        ) from None


def make_exact(plan: object, **names: str) -> None:
    """Converts members of a frozen dataclass; `names` maps each to its name in errors."""
    for member, name in names.items():
        if (value := getattr(plan, member)) is not None:
            object.__setattr__(plan, member, exact(name, value))
