"""Options that several commands take, and how their values are read.

An error about a value of a testbed that the command line gives names the option, not the key.
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

from natxy.cli.sentences import console_of
from natxy.doctor.finding import cpu_list
from natxy.errors import ConfigurationError
from natxy.exact import check
from natxy.model.base import Model
from natxy.model.source import Source
from natxy.model.testbed import IPV6_SIZE, MAX_CPU, ConnectionsSection, Testbed, TrafficSection
from natxy.model.traffic_spec import MAX_FRAME_SIZE_BYTES
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES
from natxy.records.extra import RECORDS
from natxy.setting import Argument, Setting, in_options, whole_number
from natxy.trial.seeds import MAX_SEED, SEED, new_seed

OPTIONS = {  # by the key in [traffic] or [connections] that the option replaces
    "frame_size_bytes": "--frame-size",
    "direction": "--direction",
    "left_networks": "--networks",
    "right_networks": "--networks",
    "n": "--foreground",
    "m": "--foreground",
    "count": "--connections",
    "rate_fps": "--establishment-rate",
}

Section = TypeVar("Section", bound=Model)
SECTIONS = ("traffic", "connections")
MOST_LISTED = 1000


def check_frame_size(size_bytes: int) -> None:
    """ConfigurationError if the size is too small, as 64 is, which is a size of IPv4 frames."""
    if size_bytes < MIN_FRAME_SIZE_BYTES:
        raise ConfigurationError(
            f"--frame-size: {size_bytes} is out of range (expected {MIN_FRAME_SIZE_BYTES} to "
            f"{MAX_FRAME_SIZE_BYTES}{IPV6_SIZE})"
        )


@dataclass(frozen=True, kw_only=True)
class CommandLine(Source):
    """A source of which some keys were given as options, by default all."""

    name: str | Setting = "command line"
    given: frozenset[str] = frozenset(OPTIONS)  # keys

    def refuse(self, path: tuple[str, ...], *sentence: str | Setting) -> NoReturn:
        section, key = ("", *path)[-2:]
        if section in ("", *SECTIONS) and key in self.given:
            raise ConfigurationError(f"{OPTIONS[key]}: ", *sentence)
        super().refuse(path, *sentence)


def beside_options(source: Source, **values: object) -> Source:
    """Returns the testbed's source, with errors of the given options' keys named by the option."""
    given = {key for key in OPTIONS if values.get(OPTIONS[key][2:].replace("-", "_")) is not None}
    return CommandLine(name=source.name, text=source.text, given=frozenset(given))


def changed(kind: type[Section], section: Section | None, **given: object) -> Section | None:
    """Returns a section of the testbed with values of options; None: the option is not given."""
    values = {key: value for key, value in given.items() if value is not None}
    if not values:
        return section
    written = {} if section is None else section.model_dump(mode="json")
    return CommandLine().validated(kind, written | values)


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


def with_connection_options(
    testbed: Testbed, *, connections: int | None, establishment_rate: int | None
) -> Testbed:
    """Returns the testbed with the command line's values for phase 1.

    A testbed without [connections] gets one if `--connections` is given.
    """
    if establishment_rate is not None and not testbed.connections and connections is None:
        raise ConfigurationError(
            "--establishment-rate: the testbed has no [connections] (expected --connections as "
            "well)"
        )
    section = changed(
        ConnectionsSection, testbed.connections, count=connections, rate_fps=establishment_rate
    )
    return testbed.model_copy(update={"connections": section})


def with_traffic_options(
    testbed: Testbed,
    *,
    frame_size: int | None,
    direction: str | None,
    networks: int | None = None,
) -> Testbed:
    """Returns the testbed with the command line's values for [traffic]."""
    section = changed(
        TrafficSection,
        testbed.traffic,
        frame_size_bytes=frame_size,
        direction=direction,
        left_networks=networks,
        right_networks=networks,
    )
    return testbed.model_copy(update={"traffic": section})


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
