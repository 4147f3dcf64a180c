"""Options that several commands take, and how their values are read."""

import math
import re
import shlex
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, overload

import typer

from natxy.cli.command_line import changed
from natxy.cli.sentences import console_of
from natxy.doctor.finding import cpu_list
from natxy.errors import ConfigurationError
from natxy.model.testbed import MAX_CPU, ConnectionsSection, Testbed, TrafficSection
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.loss_tolerance import LossTolerance
from natxy.trial.repeats import INVALID_REPEATS, MEASUREMENT_S, VALID_FACTOR
from natxy.trial.seeds import MAX_SEED, new_seed

MOST_LISTED = 1000
# A percentage is a number of at most so many digits: Python converts no more than 4,300.
PERCENT = r"(\d{1,9}(?:\.\d{1,30})?)\s*%"

# Options under a heading of --help.
trials_option = partial(typer.Option, rich_help_panel="Trials")
traffic_option = partial(typer.Option, rich_help_panel="Traffic")
output_option = partial(typer.Option, rich_help_panel="Output")


def max_rate_option(
    unit: str, *, what: str = "Highest rate to try", default: str = "the media's rate"
) -> Any:
    """Returns the option of the highest rate of a search; `unit` is that of the rate, in words."""
    return typer.Option(
        help=f"{what}, in {unit} [default: {default}].",
        metavar="FPS" if unit.startswith("frames") else "CPS",
    )


MaxRateOption = Annotated[int | None, max_rate_option("frames a second per direction")]
TestbedArgument = Annotated[
    Path, typer.Argument(metavar="TESTBED", help="Testbed file; `natxy init` writes one.")
]
RateOption = Annotated[
    int | None,
    typer.Option(
        help="Rate of the trials, in frames a second per direction [default: the throughput, which "
        "is searched for first].",
        metavar="FPS",
    ),
]
ThroughputOption = Annotated[
    int | None,
    typer.Option(
        help="Throughput that was measured before, in frames a second [default: it is searched for "
        "first].",
        metavar="FPS",
    ),
]
DurationOption = Annotated[
    float | None,
    trials_option(help="Seconds during which a trial sends frames [default: 1].", metavar="S"),
]
DrainOption = Annotated[
    float | None,
    trials_option(
        help="Seconds during which a trial still receives after its last frame [default: 0.2].",
        metavar="S",
    ),
]
SettleOption = Annotated[
    float | None,
    trials_option(help="Seconds between two trials.", metavar="S"),
]
RetryTimeOption = Annotated[
    float | None,
    trials_option(
        help="Limit in seconds for the invalid trials of a measurement, which is all repetitions "
        "at one frame size, mix, number of networks and burst length. Each invalid trial counts "
        "with its planned time, which is its duration plus its drain. With connections, duration "
        "and drain of phase 1 are added. When a limit that you set is used up, no invalid trial is "
        f"repeated. When the default limit is used up, there are {INVALID_REPEATS} repeats at each "
        "rate. If a command first searches for its rate, as latency does, the invalid trials "
        "of this search count, too "
        f"[default: {MEASUREMENT_S}, plus {VALID_FACTOR} times the time of the valid trials].",
        metavar="S",
    ),
]
FrameSizeOption = Annotated[
    int | None,
    traffic_option(
        help="Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20 octets fewer "
        "[default: the testbed's].",
        metavar="BYTES",
    ),
]
DirectionOption = Annotated[
    str | None,
    traffic_option(
        help="Direction of the traffic: both, forward (left to right) or reverse [default: the "
        "testbed's].",
        metavar="WHICH",
    ),
]
SeedOption = Annotated[
    int | None,
    trials_option(
        help="Seed of all pseudorandom choices; the same seed sends the same frames [default: a "
        "new one, which the result shows].",
        metavar="N",
    ),
]
LossOption = Annotated[
    str | None,
    typer.Option(
        help="Let a trial pass if each direction lost at most this share of its frames, for "
        "example 0.01% [default: no loss].",
        metavar="PERCENT",
    ),
]
EarlyEndOption = Annotated[
    bool,
    typer.Option(
        "--early-end",
        help="End a trial as failed as soon as one frame has not arrived within the frame "
        "timeout after it was sent. Without a frame timeout, the length of the drain takes its "
        "place (bisection only, not with --loss).",
    ),
]
VerifyLossOption = Annotated[
    int | None,
    typer.Option(
        help="Repeat a failed trial up to N times; its rate fails if all of them fail, or at once "
        "if a trial lost more than half of a direction's frames (bisection only) [default: 0; "
        "quick: 1].",
        metavar="N",
    ),
]
ConnectionsOption = Annotated[
    int | None,
    traffic_option(
        help="Connections that each trial first creates in a stateful gateway (phase 1) [default: "
        "the testbed's].",
        metavar="N",
    ),
]
EstablishmentRateOption = Annotated[
    int | None,
    traffic_option(
        help="Rate of phase 1, in connections a second [default: the testbed's].", metavar="CPS"
    ),
]
RecordsOption = Annotated[
    Path | None,
    output_option(
        help="New Parquet file for a record of every received frame, with its delay [default: "
        "none].",
        metavar="FILE",
    ),
]
CoresOption = Annotated[
    str,
    typer.Option(help="CPUs of the tester's workers, for example 2,3 or 2-5.", metavar="LIST"),
]
JsonOption = Annotated[
    bool,
    output_option("--json", help="Write JSON to standard output instead of tables."),
]


def error_option(number: str, *, ends: str = "End the search") -> Any:
    """Returns the option of the error at which a search ends; `number` says what 100 counts."""
    return typer.Option(
        help=f"{ends} when the rate is known to within this error: a share of the rate, or "
        f"{number} such as 100 [default: 0.1%].",
        metavar="ERROR",
    )


# Progress goes to standard error: standard output is the result and nothing else.
progress_console = console_of(stderr=True)
# A file or a pipe has no width of its own: wide enough for every table.
result_console = console_of(width=None if sys.stdout.isatty() else 120)


@overload
def seconds(option: str, value: float | None, default: Fraction) -> Fraction: ...


@overload
def seconds(option: str, value: float | None) -> Fraction | None: ...


def seconds(option: str, value: float | None, default: Fraction | None = None) -> Fraction | None:
    """Returns the option's value as an exact fraction: 0.2 is a fifth."""
    if value is None:
        return default
    if not math.isfinite(value):
        raise ConfigurationError(
            f"{option}: {value} is not a duration (expected a number of seconds, for example 0.2)"
        )
    return Fraction(str(value))


def seed_of(given: int | None) -> int:
    if given is None:
        return new_seed()
    if not 0 <= given <= MAX_SEED:
        raise ConfigurationError(f"--seed: {given} is out of range (expected 0 to {MAX_SEED})")
    return given


def search_error(text: str | None) -> SearchError:
    """Reads `0.1%` of the bracket's lower end, or `100` frames a second."""
    if text is None:
        return DEFAULT_ERROR
    percent = re.fullmatch(PERCENT, text.strip(), re.ASCII)
    if percent and 0 < Fraction(percent[1]) < 100:
        return SearchError(fraction=Fraction(percent[1]) / 100)
    if re.fullmatch(r"[1-9]\d{0,9}", text.strip()):
        return SearchError(rate_fps=int(text))
    raise ConfigurationError(
        f'--error: "{text}" is neither a share of the rate nor a number of frames a second '
        "(expected for example 0.1% or 100)"
    )


def loss_tolerance(text: str | None) -> LossTolerance | None:
    """Reads `0.01%` of the frames; returns None where no loss is accepted."""
    if text is None:
        return None
    percent = re.fullmatch(PERCENT, text.strip(), re.ASCII)
    if percent is None or not 0 < Fraction(percent[1]) < 100:
        raise ConfigurationError(
            f'--loss: "{text}" is not a percentage between 0% and 100% (expected for example 0.01%)'
        )
    return LossTolerance(fraction=Fraction(percent[1]) / 100)


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


def words_of(option: str, text: str) -> list[str]:
    """Returns the elements of a list; each may become a measurement."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > MOST_LISTED:
        raise ConfigurationError(
            f"{option}: has {len(words):,} values (expected at most {MOST_LISTED:,})"
        )
    return words


def numbers_of(option: str, text: str | None) -> tuple[int, ...]:
    """Reads whole numbers such as 1000,10000; returns none where the option is not given."""
    if text is None:
        return ()
    words = words_of(option, text)
    if not all(re.fullmatch(r"\d{1,13}", word, re.ASCII) for word in words):
        raise ConfigurationError(
            f'{option}: "{text}" is not a list of numbers (expected for example 1000,2000)'
        )
    numbers = tuple(int(word) for word in words)
    if 0 in numbers:
        raise ConfigurationError(f"{option}: 0 is out of range (expected 1 or more)")
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
