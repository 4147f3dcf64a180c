"""Checks numbers of a plan, and converts them to fractions, exactly as they were written."""

from fractions import Fraction
from operator import index
from typing import Any, get_args, get_origin

from natxy.errors import ConfigurationError
from natxy.setting import Setting, kind_of, settings_of

EXPECTED: dict[type, str] = {bool: "True or False", float: "a number"}


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
        object.__setattr__(plan, field.name, value := _typed(setting, kind_of(field), value))
        if setting.lowest is not None and setting.highest is not None:
            check(setting, value, lowest=setting.lowest, highest=setting.highest)


def _typed(setting: Setting, kind: Any, value: Any) -> Any:
    """Returns the value as its field has it; ConfigurationError if it is of another type."""
    if kind is Fraction:
        return exact(setting, value)
    if kind is int:
        return _whole(setting, value)
    if get_origin(kind) is tuple and isinstance(value, tuple):
        return tuple(_typed(setting, get_args(kind)[0], each) for each in value)
    if get_origin(kind) is tuple:
        raise _other(setting, value, "several values")
    allowed = (int, float, Fraction) if kind is float else kind
    if isinstance(kind, type) and not isinstance(value, allowed):
        by_kind = EXPECTED.get(kind, f"natxy.{kind.__name__}")
        raise _other(setting, value, getattr(kind, "EXPECTED", by_kind))
    return value


def _whole(setting: Setting, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    raise _other(setting, value, "a whole number")


def _other(setting: Setting, value: object, expected: str) -> ConfigurationError:
    return ConfigurationError(setting, f": {value!r} is not valid (expected {expected})")


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
