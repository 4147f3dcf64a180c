"""Checks numbers of a plan, and converts them to fractions, exactly as they were written."""

from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.setting import Setting, kind_of, settings_of


def exact(setting: Setting | str, value: Fraction | float | str) -> Fraction:
    """Returns the value as a fraction: 0.1 is a tenth. ConfigurationError if it is not finite."""
    try:
        return Fraction(value if isinstance(value, int | Fraction) else str(value))
    except (ValueError, ZeroDivisionError):
        raise ConfigurationError(
            setting, f": {value} is not valid (expected a finite number)"
        ) from None


def check_settings(plan: object) -> None:
    """Makes the fractions of a frozen dataclass exact, and refuses what is out of its range."""
    for field, setting in settings_of(plan):
        value = getattr(plan, field.name)
        if value is None:
            continue
        if kind_of(field) is Fraction:
            object.__setattr__(plan, field.name, value := exact(setting, value))
        if setting.lowest is not None and setting.highest is not None:
            check(setting, value, lowest=setting.lowest, highest=setting.highest)


def check(
    setting: Setting | str,
    value: Fraction | int,
    *,
    lowest: Fraction | int,
    highest: Fraction | int,
) -> None:
    if not lowest <= value <= highest:
        expected = f"(expected {_text(lowest)} to {_text(highest)})"
        raise ConfigurationError(setting, f": {_text(value)} is out of range {expected}")


def _text(value: Fraction | int) -> str:
    return str(value) if value == int(value) else f"{float(value):g}"
