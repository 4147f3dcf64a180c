"""Settings that several searches have, also as a person writes them, such as an error of 0.1%.

The loss that is accepted is none by RFC 2544, a share of the frames for a partial drop rate.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from natxy.errors import ConfigurationError
from natxy.exact import exact
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.search.bisection import SearchError
from natxy.setting import Setting, whole_number

LOSS = Setting(
    "loss",
    "Let a trial pass if each direction lost at most this share of its frames, for example 0.01%",
    "PERCENT",
    default="no loss",
)
MOST_ERROR_FPS = 10**10
# A percentage is a number of at most so many digits: Python converts no more than 4,300.
PERCENT = r"(\d{1,9}(?:\.\d{1,30})?)\s*%"


@dataclass(frozen=True, kw_only=True)
class LossTolerance:
    """An accepted share of lost frames; a figure is always shown with its tolerance."""

    EXPECTED: ClassVar = "for example LossTolerance(fraction=0.01) for 1 %"  # not a bare number

    fraction: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fraction", exact("a loss tolerance", self.fraction))
        if not 0 <= self.fraction < 1:
            raise ConfigurationError(
                f"a loss tolerance: {float(self.fraction):g} is out of range (expected at least 0, "
                "less than 1)"
            )

    def accepts(self, *, sent: int, lost: int) -> bool:
        """Returns whether the loss is accepted; the comparison is exact and includes the limit."""
        return lost <= sent * self.fraction

    def __str__(self) -> str:
        return f"{float(self.fraction * 100):g} % loss" if self.fraction else "no loss"


NO_LOSS = LossTolerance()


def error_of(number: str, *, ends: str = "End the search") -> Setting:
    """Returns the setting of the error at which a search ends; `number` says what 100 counts."""
    return Setting(
        "error",
        f"{ends} when the rate is known to within this error: a share of the rate, or {number} "
        "such as 100",
        "ERROR",
        default="0.1%",
    )


def max_rate_of(
    name: str, unit: str, *, what: str = "Highest rate to try", default: str = "the media's rate"
) -> Setting:
    """Returns the setting of the highest rate of a search; `unit` is that of the rate, in words."""
    is_fps = unit.startswith("frames")  # its range depends on the duration of a trial
    return Setting(
        name,
        f"{what}, in {unit}",
        "FPS" if is_fps else "CPS",
        option="max-rate",
        default=default,
        lowest=None if is_fps else 1,
        highest=None if is_fps else MAX_RATE_FPS,
        short="Highest rate to try",
    )


MAX_RATE = max_rate_of("max_rate_fps", "frames a second per direction")


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
