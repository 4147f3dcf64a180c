"""Options that several commands take, and how their values are read.

So are the lists of frame sizes, shares of foreground traffic and numbers of networks.
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Annotated, TypeVar

from natxy.cli.sentences import console_of
from natxy.doctor.finding import cpu_list
from natxy.errors import ConfigurationError
from natxy.exact import check
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES
from natxy.model.testbed import IPV6_SIZE, MAX_CPU
from natxy.model.traffic_spec import MAX_FRAME_SIZE_BYTES
from natxy.model.trial_spec import MAX_MIX_N, MIN_FRAME_SIZE_BYTES
from natxy.records.extra import RECORDS
from natxy.setting import Argument, Setting, in_options, whole_number
from natxy.trial.seeds import MAX_SEED, SEED, new_seed

MOST_LISTED = 1000
RFC8219 = "rfc8219"
MOST_NETWORKS = 256
Lists = tuple[tuple[int, ...] | None, tuple[Fraction, ...] | None, tuple[int, ...] | None]
Values = TypeVar("Values", bound=Sequence[int | Fraction])


def check_frame_size(size_bytes: int) -> None:
    """ConfigurationError if the size is too small, as 64 is, which is a size of IPv4 frames."""
    if size_bytes < MIN_FRAME_SIZE_BYTES:
        raise ConfigurationError(
            f"--frame-size: {size_bytes} is out of range (expected {MIN_FRAME_SIZE_BYTES} to "
            f"{MAX_FRAME_SIZE_BYTES}{IPV6_SIZE})"
        )


def adding(setting: Setting, text: str) -> Setting:
    """Returns a setting whose help also says how a command line gives it."""
    return replace(setting, help=(in_options(setting.help), text))


def only(condition: str, setting: Setting) -> Setting:
    """Returns a setting whose help begins with when it applies, such as "With --search mlr"."""
    said = in_options(setting.help)
    return replace(setting, help=f"{condition}: {said[0].lower()}{said[1:]}")


TestbedArgument = Annotated[
    Path, Argument("testbed", "Testbed file; `natxy init` writes one", "TESTBED")
]
SeedOption = Annotated[int | None, SEED]
RecordsOption = Annotated[Path | None, RECORDS]
CoresOption = Annotated[
    str, Setting("cores", "CPUs of the tester's workers, for example 2,3 or 2-5", "LIST")
]
JsonOption = Annotated[
    bool,
    Setting(
        "json_output",
        "Write JSON to standard output instead of text",
        option="json",
        panel="Output",
    ),
]
QuietOption = Annotated[
    bool,
    Setting("quiet", "Print the main figure alone, and no progress", panel="Output", letter="q"),
]
VerboseOption = Annotated[
    bool,
    Setting(
        "verbose",
        "Print all figures, counters, deviations and notes",
        panel="Output",
        letter="v",
    ),
]


# Progress goes to standard error: standard output is the result and nothing else.
progress_console = console_of(stderr=True)
# A file or a pipe has no width of its own: wide enough for every table, unless COLUMNS is set.
own_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
result_console = console_of(width=None if own_width else 120)


def check_detail(*, quiet: bool, verbose: bool) -> None:
    """Raises ConfigurationError if both less and more is to be printed."""
    if quiet and verbose:
        raise ConfigurationError("--quiet: is not possible with --verbose (expected one of them)")


def seed_of(given: int | None) -> int:
    if given is None:
        return new_seed()
    check(SEED, given, lowest=0, highest=MAX_SEED)
    return given


def repeat_command(seed: int, arguments: Sequence[str] | None = None) -> str:
    """Returns this command with the seed, without --output, whose folder is not written twice."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    kept: list[str] = []
    while words:
        word = words.pop(0)
        if short := re.fullmatch(r"-([qv]*)o(.*)", word, re.DOTALL):  # as in -vo DIR
            kept += [f"-{short[1]}"] if short[1] else []
            words = words if short[2] else words[1:]
        elif word in ("--seed", "--output"):
            words = words[1:]
        elif not word.startswith(("--seed=", "--output=")):
            kept.append(word)
    return shlex.join(["natxy", *kept, "--seed", str(seed)])


def words_of(setting: Setting | str, text: str) -> list[str]:
    """Returns the elements of a list; each may become a measurement."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > MOST_LISTED:
        raise ConfigurationError(
            setting, f": has {len(words):,} values (expected at most {MOST_LISTED:,})"
        )
    return words


def numbers_of(setting: Setting | str, text: str | None) -> tuple[int, ...]:
    """Reads whole numbers such as 1000,10000; returns none where the option is not given."""
    if text is None:
        return ()
    words = words_of(setting, text)
    read = map(whole_number, words)
    numbers = tuple(number for number in read if number is not None)
    if len(numbers) < len(words):
        raise ConfigurationError(
            setting, f': "{text}" is not a list of numbers (expected for example 500,1k,1.5M)'
        )
    if (least := min(numbers)) < 1:
        raise ConfigurationError(setting, f": {least} is out of range (expected 1 or more)")
    return numbers


def cpus_of(text: str) -> tuple[int, ...]:
    """Reads `0`, `2,3` or `2-5`."""
    words = words_of("--cores", text)
    parts = [re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word, re.ASCII) for word in words]
    ends = [(int(part[1]), int(part[2] or part[1])) for part in parts if part]
    if len(ends) < len(parts) or any(first > last for first, last in ends):
        raise ConfigurationError(
            f'--cores: "{text}" is not a list of CPUs (expected for example 0 or 2,3 or 2-5)'
        )
    if (last := max(last for _, last in ends)) > MAX_CPU:
        raise ConfigurationError(f"--cores: {last} is out of range (expected 0 to {MAX_CPU})")
    return tuple(dict.fromkeys(cpu_list(",".join(words))))


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
