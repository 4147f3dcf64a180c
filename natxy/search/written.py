"""Reads search errors and accepted losses as a person writes them, such as 0.1%."""

import re
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.search.bisection import SearchError
from natxy.search.loss_tolerance import LossTolerance
from natxy.setting import Setting, whole_number

MOST_ERROR_FPS = 10**10
# A percentage is a number of at most so many digits: Python converts no more than 4,300.
PERCENT = r"(\d{1,9}(?:\.\d{1,30})?)\s*%"


def search_error(setting: Setting, text: str) -> SearchError:
    """Reads `0.1%` of the bracket's lower end, or `100` frames a second."""
    percent = re.fullmatch(PERCENT, text.strip(), re.ASCII)
    if percent and 0 < Fraction(percent[1]) < 100:
        return SearchError(fraction=Fraction(percent[1]) / 100)
    if (rate_fps := whole_number(text)) is not None and 0 < rate_fps < MOST_ERROR_FPS:
        return SearchError(rate_fps=rate_fps)
    raise ConfigurationError(
        setting,
        f': "{text}" is neither a share of the rate nor a number of frames a second (expected for '
        "example 0.1% or 100)",
    )


def loss_tolerance(setting: Setting, text: str) -> LossTolerance:
    """Reads `0.01%` of the frames."""
    percent = re.fullmatch(PERCENT, text.strip(), re.ASCII)
    if percent is None or not 0 < Fraction(percent[1]) < 100:
        raise ConfigurationError(
            setting,
            f': "{text}" is not a percentage between 0% and 100% (expected for example 0.01%)',
        )
    return LossTolerance(fraction=Fraction(percent[1]) / 100)
