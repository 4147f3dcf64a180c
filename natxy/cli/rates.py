"""Reads series of rates from the command line."""

import re

from natxy.errors import ConfigurationError

MOST_RATES = 10_000


def rates_of(text: str | None) -> tuple[int, ...]:
    """Reads `1000,2000` or `1000:10000:1000`, LAST included; returns none if there is no text."""
    if text is None:
        return ()
    if re.fullmatch(r"[1-9]\d{0,9}(,[1-9]\d{0,9})*", text):
        return tuple(int(rate) for rate in text.split(","))
    match = re.fullmatch(r"([1-9]\d{0,9}):([1-9]\d{0,9}):([1-9]\d{0,9})", text)
    if match:
        first, last, step = (int(rate) for rate in match.groups())
        rates = range(first, last + 1, step)
        if 0 < len(rates) <= MOST_RATES:
            return tuple(rates)
    raise ConfigurationError(
        f'--rates: "{text}" is not a series of rates (expected for example 1000,2000 or '
        "1000:10000:1000)"
    )
