"""Lists of whole numbers on a command line: 1000,10000,100000."""

import re

from natxy.errors import ConfigurationError


def numbers_of(option: str, text: str | None) -> tuple[int, ...]:
    """Returns the numbers, none where the option is not given."""
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,12}", word) for word in words):
        raise ConfigurationError(
            f'{option}: "{text}" is not a list of numbers (expected for example 1000,2000)'
        )
    return tuple(int(word) for word in words)
