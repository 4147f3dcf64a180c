"""Options that several commands take, and how their values are read."""

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from natxy.cli.command_line import changed
from natxy.cli.sentences import console_of
from natxy.doctor.finding import cpu_list
from natxy.errors import ConfigurationError
from natxy.exact import check
from natxy.measure.traffic_settings import (
    CONNECTIONS,
    DIRECTION,
    ESTABLISHMENT_RATE,
    FRAME_SIZE,
    TESTBEDS,
)
from natxy.model.testbed import MAX_CPU, ConnectionsSection, Testbed, TrafficSection
from natxy.records.extra import RECORDS
from natxy.setting import Setting, in_options
from natxy.trial.seeds import MAX_SEED, SEED, new_seed

MOST_LISTED = 1000


def option(setting: Setting, default: str = "") -> Any:
    """Returns the option that gives a setting; `default` replaces the words of its default."""
    words = in_options(default or setting.default)
    return typer.Option(
        setting.flag,
        help=f"{in_options(setting.help)}{f' [default: {words}]' if words else ''}.",
        metavar=setting.metavar,
        rich_help_panel=setting.panel,
    )


def adding(setting: Setting, text: str) -> Setting:
    """Returns a setting whose help also says how a command line gives it."""
    return replace(setting, help=(in_options(setting.help), text))


def only(condition: str, setting: Setting) -> Setting:
    """Returns a setting whose help begins with when it applies, such as "With --search mlr"."""
    said = in_options(setting.help)
    return replace(setting, help=f"{condition}: {said[0].lower()}{said[1:]}")


# Options under a heading of --help.
trials_option = partial(typer.Option, rich_help_panel="Trials")
traffic_option = partial(typer.Option, rich_help_panel="Traffic")
output_option = partial(typer.Option, rich_help_panel="Output")

TestbedArgument = Annotated[
    Path, typer.Argument(metavar="TESTBED", help="Testbed file; `natxy init` writes one.")
]
FrameSizeOption = Annotated[int | None, option(FRAME_SIZE)]
DirectionOption = Annotated[str | None, option(DIRECTION)]
SeedOption = Annotated[int | None, option(SEED)]
ConnectionsOption = Annotated[int | None, option(CONNECTIONS)]
EstablishmentRateOption = Annotated[int | None, option(ESTABLISHMENT_RATE, TESTBEDS)]
RecordsOption = Annotated[Path | None, option(RECORDS)]
CoresOption = Annotated[
    str,
    typer.Option(help="CPUs of the tester's workers, for example 2,3 or 2-5.", metavar="LIST"),
]
JsonOption = Annotated[
    bool,
    output_option("--json", help="Write JSON to standard output instead of tables."),
]


# Progress goes to standard error: standard output is the result and nothing else.
progress_console = console_of(stderr=True)
# A file or a pipe has no width of its own: wide enough for every table.
result_console = console_of(width=None if sys.stdout.isatty() else 120)


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
        if word in ("--seed", "--output"):
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
    if not all(re.fullmatch(r"\d{1,13}", word, re.ASCII) for word in words):
        raise ConfigurationError(
            setting, f': "{text}" is not a list of numbers (expected for example 1000,2000)'
        )
    numbers = tuple(int(word) for word in words)
    if 0 in numbers:
        raise ConfigurationError(setting, ": 0 is out of range (expected 1 or more)")
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
