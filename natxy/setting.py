"""Settings: each declares a field of a plan, and the option that gives it, in one place.

A field carries its setting as `Annotated[int, Setting(...)]`. The command line makes the option of
it, docs/reference/plans.md the row, and an error names it as the reader knows it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import Field, dataclass, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from fractions import Fraction  # `natxy --help` does without its module

WHOLE = re.compile(r"([+-]?\d+(?:_\d+)*)(?:\.(\d+))?([kKMG]?)", re.ASCII)
MOST_DIGITS = 4300  # Python converts no more
ZEROS = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9}
UNITS = ("_fps", "_cps", "_s", "_frames", "_bytes")  # a field has its unit in its name


@dataclass(frozen=True)
class Setting:
    """`help` has no full stop at its end; it may consist of texts and of settings, whose names
    stand there. `default` is what holds in place of None, in words. `short` is the line of `-h`,
    which lists the options that people use; without it, only `--help` lists the option."""

    name: str  # of the field
    help: "str | tuple[str | Setting, ...]" = ""
    metavar: str | None = None
    option: str = ""  # without hyphens; empty: the name without its unit
    default: "str | tuple[str | Setting, ...]" = ""
    lowest: "Fraction | int | None" = None  # None: the plan checks the range, which varies
    highest: "Fraction | int | None" = None
    panel: str | None = None  # heading in --help
    of_profile: bool = False  # the default is that of the profile
    short: str = ""
    letter: str = ""  # of an option that can be given as -o, too

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        unit = next((unit for unit in UNITS if self.name.endswith(unit)), "")
        return "--" + (self.option or self.name.removesuffix(unit).replace("_", "-"))

    def __str__(self) -> str:
        return self.name


class Argument(Setting):
    """A setting that a command line gives by its place, as `metavar` shows it."""

    @property
    def flag(self) -> str:
        return self.metavar or self.name.upper()


def in_options(parts: "str | Iterable[object]") -> str:
    """Returns a sentence with the options' names of its settings."""
    if isinstance(parts, str):
        return parts
    return "".join(part.flag if isinstance(part, Setting) else str(part) for part in parts)


def in_python(parts: "str | Iterable[object]") -> str:
    """Returns a sentence with the names of its settings' fields."""
    return parts if isinstance(parts, str) else "".join(map(str, parts))


def settings_of(plan: Any) -> Iterator[tuple[Field[Any], Setting]]:
    """Yields the fields of a plan, or of its class, that have settings."""
    for field in fields(plan):
        for each in getattr(field.type, "__metadata__", ()):
            yield field, each


def kind_of(field: Field[Any]) -> Any:
    """Returns the type of a field with a setting, without None."""
    kind = get_args(field.type)[0]
    return get_args(kind)[0] if isinstance(kind, UnionType) else kind


def setting_of(plan: Any, name: str) -> Setting:
    return next(setting for field, setting in settings_of(plan) if field.name == name)


def whole_number(text: str) -> int | None:
    """Reads a whole number as a person types it, such as 10k; None: the text is none."""
    found = WHOLE.fullmatch(text.strip())
    if found is None:
        return None
    digits, decimals, suffix = found.groups()
    decimals = (decimals or "").rstrip("0")
    zeros = ZEROS[suffix] - len(decimals)
    if zeros < 0 or len(digits + decimals) + zeros > MOST_DIGITS:
        return None
    return int(digits + decimals + "0" * zeros)
