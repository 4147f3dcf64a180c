"""Series of frame sizes, traffic mixes and numbers of networks: a session for each of them."""

import re
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TypeVar

from natxy.cli.options import MOST_LISTED, changed, check_frame_size, numbers_of, words_of
from natxy.errors import ConfigurationError
from natxy.measure import traffic_settings
from natxy.measure.traffic_settings import changes, series_of
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES
from natxy.model.testbed import TrafficSection
from natxy.model.trial_spec import MAX_MIX_N
from natxy.trial.session import Session

RFC8219 = "rfc8219"
MOST_NETWORKS = 256
Lists = tuple[tuple[int, ...] | None, tuple[Fraction, ...] | None, tuple[int, ...] | None]
Values = TypeVar("Values", bound=Sequence[int | Fraction])


def sizes_of(text: str | None) -> tuple[int, ...] | None:
    """Returns the frame sizes; None stands for the testbed's."""
    if text is None:
        return None
    if text.lower() == RFC8219:
        return RFC8219_SIZES_BYTES
    if not re.fullmatch(r"\d{1,5}(,\d{1,5})*", text):
        raise ConfigurationError(
            f'--frame-size: "{text}" is not a list of sizes (expected for example 84 or '
            f"84,512,1518 or {RFC8219})"
        )
    sizes = tuple(int(size) for size in words_of("--frame-size", text))
    for size in sizes:
        check_frame_size(size)
    return once("--frame-size", sizes)


def foregrounds_of(text: str | None) -> tuple[Fraction, ...] | None:
    """Returns the shares of foreground traffic; None stands for the testbed's."""
    if text is None:
        return None
    words = words_of("--foreground", text)
    if not all(re.fullmatch(r"\d{1,9}(\.\d{1,9})?", word, re.ASCII) for word in words):
        raise ConfigurationError(
            f'--foreground: "{text}" is not a list of percentages (expected for example 100 or '
            "100,90,50,10)"
        )
    shares = tuple(map(_share_of, words))
    once("--foreground", [share * 100 for share in shares])
    return shares


def _share_of(percent: str) -> Fraction:
    share = Fraction(percent) / 100
    if not 0 <= share <= 1:
        raise ConfigurationError(f"--foreground: {percent} is out of range (expected 0 to 100)")
    if share.denominator > MAX_MIX_N:
        nearest = share.limit_denominator(100)
        raise ConfigurationError(
            f"--foreground: {percent} repeats only after {share.denominator:,} frames (expected a "
            f"share that repeats after at most {MAX_MIX_N:,}, for example {percent[:5]}; for "
            f"{nearest} of the frames, set n = {nearest.denominator} and m = {nearest.numerator} "
            "in [traffic])"
        )
    return share


def networks_in(text: str | None) -> tuple[int, ...] | None:
    """Returns the numbers of networks; None stands for the testbed's."""
    if text is None:
        return None
    listed = numbers_of("--networks", text)
    for networks in listed:
        if networks > MOST_NETWORKS:
            raise ConfigurationError(
                f"--networks: {networks} is out of range (expected 1 to {MOST_NETWORKS})"
            )
    return once("--networks", listed)


def once(option: str, values: Values) -> Values:
    """Returns the values; refuses one that is given twice: nobody could tell the results apart."""
    shown = [f"{float(value):g}" for value in values]
    for value in shown:
        if shown.count(value) > 1:
            raise ConfigurationError(f"{option}: {value} is given twice (expected it once)")
    return values


def check_lists(*lists: tuple[object, ...] | None) -> None:
    """Refuses lists that make too many measurements together."""
    count = prod(len(each or (None,)) for each in lists)
    if count > MOST_LISTED:
        raise ConfigurationError(
            f"--frame-size, --foreground and --networks: make {count:,} measurements (expected at "
            f"most {MOST_LISTED:,})"
        )


def places(
    session: Session,
    sizes: tuple[int, ...] | None,
    foregrounds: tuple[Fraction, ...] | None,
    networks: tuple[int, ...] | None = None,
) -> list[Session]:
    """Returns a session for each size with each mix and number of networks.

    An error names the option that is wrong.
    """
    traffic = session.testbed.traffic
    for share, size in series_of(traffic, sizes, foregrounds):
        changed(TrafficSection, traffic, **changes(share, size))
    return traffic_settings.places(session, sizes, foregrounds, networks)
