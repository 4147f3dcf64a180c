"""Errors about an option whose value must be one of a few words."""

import difflib
from collections.abc import Iterable

from natxy.errors import ConfigurationError


def unknown_value(option: str, value: str, known: Iterable[str]) -> ConfigurationError:
    """Returns the error, with the known word that is nearest to the value if one is near."""
    words = list(known)
    near = difflib.get_close_matches(value.lower(), words, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return ConfigurationError(f'{option}: unknown value "{value}" (expected {listed(words)}{hint})')


def listed(words: Iterable[str]) -> str:
    """Returns the words as a person lists them: `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
