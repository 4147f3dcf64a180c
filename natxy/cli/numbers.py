"""Numbers as a person types them: 10k, 1.5M, 2G and 10_000 are whole numbers."""

import re
from collections.abc import Callable
from typing import Any

import click

from natxy.errors import ConfigurationError

WHOLE = re.compile(r"([+-]?\d+(?:_\d+)*)(?:\.(\d+))?([kKMG]?)", re.ASCII)
MOST_DIGITS = 4300  # Python converts no more
ZEROS = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9}
IN_HELP = "A count or a rate may be written as 10k, 1.5M, 2G or 10_000, in a list too."


def whole_number(text: str) -> int | None:
    """Reads a whole number; None: the text is none."""
    found = WHOLE.fullmatch(text.strip())
    if found is None:
        return None
    digits, decimals, suffix = found.groups()
    decimals = (decimals or "").rstrip("0")
    zeros = ZEROS[suffix] - len(decimals)
    if zeros < 0 or len(digits + decimals) + zeros > MOST_DIGITS:
        return None
    return int(digits + decimals + "0" * zeros)


def real_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class Number(click.ParamType[Any]):
    """The type of an option; `read` returns None for a text that is no such number."""

    def __init__(self, name: str, read: Callable[[str], Any], example: str) -> None:
        self.name = name
        self.read = read
        self.example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del ctx
        if not isinstance(value, str):
            return value
        if (number := self.read(value)) is None:
            where = "" if param is None else f"{param.opts[0]}: "
            raise ConfigurationError(
                f'{where}"{value}" is not a {self.name} (expected for example {self.example})'
            )
        return number


WHOLE_NUMBER = Number("whole number", whole_number, "5000, 5k or 1.5M")
REAL_NUMBER = Number("number", real_number, "0.5")
