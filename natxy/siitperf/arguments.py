"""The positional arguments of siitperf's three commands, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from natxy.errors import ConfigurationError
from natxy.model.testbed import TrafficSection
from natxy.model.trial_spec import MAX_MIX_N, MAX_RATE_FPS
from natxy.siitperf.configuration import Configuration, Warn
from natxy.siitperf.keys import Key, Wrong, whole

# An IPv4 frame is 20 octets smaller: 1538 is a frame of 1518 as IPv4, which fits an MTU of 1500.
LARGEST_IPV6_BYTES = 1518
LARGEST_BYTES = 1538
MAX_COUNT = 2**32 - 1
MAX_DURATION_S = 3600
MAX_TIMEOUT_MS = 60_000
LONGEST_DELAY_MS = 1000 * MAX_DURATION_S + MAX_TIMEOUT_MS
COMMON = (
    Key("IPv6 frame size", "frame_size_bytes", whole(84, LARGEST_BYTES)),
    Key("frame rate", "rate_fps", whole(1, MAX_RATE_FPS)),
    Key("duration", "duration_s", whole(1, MAX_DURATION_S)),
    Key("global timeout", "timeout_ms", whole(0, MAX_TIMEOUT_MS)),
    Key("n", "n", whole(2, MAX_MIX_N)),
    Key("m", "m", whole(0, MAX_COUNT)),
)
STATEFUL = (
    Key("N", "preliminary_frames", whole(1, MAX_COUNT)),
    Key("M", "table_entries", whole(1, MAX_COUNT)),
    Key("R", "preliminary_rate_fps", whole(1, MAX_RATE_FPS)),
    Key("T", "preliminary_timeout_ms", whole(1, 2000)),
    Key("D", "preliminary_delay_ms", whole(1, 100_000_000)),
)
LAST: Mapping[str, tuple[Key, ...]] = {
    "tp": (),
    "lat": (
        Key("delay", "tags_after_s", whole(0, MAX_DURATION_S)),
        Key("timestamps", "tags", whole(1, 50_000)),
    ),
    "pdv": (Key("frame timeout", "frame_timeout_ms", whole(0, LONGEST_DELAY_MS)),),
}


@dataclass(frozen=True, kw_only=True)
class Preliminary:
    """The arguments of a stateful test's preliminary phase."""

    preliminary_frames: int
    table_entries: int
    preliminary_rate_fps: int
    preliminary_timeout_ms: int
    preliminary_delay_ms: int

    def foreground_frames(self, n: int, m: int) -> int:
        return self.preliminary_frames - self.preliminary_frames * (n - min(m, n)) // n

    @property
    def shortest_delay_ms(self) -> Fraction:
        sending_ms = Fraction(1000 * self.preliminary_frames, self.preliminary_rate_fps)
        return self.preliminary_timeout_ms + sending_ms


@dataclass(frozen=True, kw_only=True)
class Arguments:
    command: str  # tp, lat or pdv
    frame_size_bytes: int
    rate_fps: int
    duration_s: int
    timeout_ms: int
    n: int
    m: int
    preliminary: Preliminary | None = None
    last: Mapping[str, int] = field(default_factory=dict)

    @property
    def timeout_s(self) -> Fraction:
        return Fraction(self.timeout_ms, 1000)

    @property
    def frame_timeout_ms(self) -> int:
        return self.last.get("frame_timeout_ms", 0)

    def traffic(self, written: TrafficSection) -> TrafficSection:
        """Returns the traffic with these arguments; m > n means foreground only."""
        mix = {"n": self.n, "m": min(self.m, self.n)}
        return written.model_copy(update=mix | {"frame_size_bytes": self.frame_size_bytes})


def read_arguments(
    command: str, words: Sequence[str], configuration: Configuration, warn: Warn
) -> Arguments:
    stateful = STATEFUL if configuration.stateful else ()
    table = (*COMMON, *stateful, *LAST[command])
    if len(words) < len(table):
        _refuse_number(command, len(words), table)
    if extra := words[len(table) :]:
        warn(
            f'siitperf-{command}: "{" ".join(extra)}" is ignored (expected {len(table)} arguments)'
        )
    values = {a.field: _value(a, word) for a, word in zip(table, words, strict=False)}
    arguments = Arguments(
        command=command,
        **{a.field: values[a.field] for a in COMMON},
        preliminary=Preliminary(**{a.field: values[a.field] for a in stateful})
        if stateful
        else None,
        last={a.field: values[a.field] for a in LAST[command]},
    )
    _check(arguments, configuration)
    return arguments


def _refuse_number(command: str, given: int, table: Sequence[Key]) -> NoReturn:
    names = " ".join(f"<{argument.name}>" for argument in table)
    raise ConfigurationError(
        f"siitperf-{command}: {given} arguments are too few (expected {len(table)}: {names})"
    )


def _value(argument: Key, word: str) -> Any:
    try:
        return argument.read(word)
    except Wrong as wrong:
        raise ConfigurationError(f'{argument.name}: "{word}" {wrong}') from None


def _check(arguments: Arguments, configuration: Configuration) -> None:
    only_ipv4 = configuration.is_pure_ipv4 and arguments.m >= arguments.n
    if arguments.frame_size_bytes > LARGEST_IPV6_BYTES and not only_ipv4:
        raise ConfigurationError(
            f"IPv6 frame size: {arguments.frame_size_bytes} is possible only where all traffic is "
            f"IPv4 (expected 84 to {LARGEST_IPV6_BYTES})"
        )
    _check_background(arguments, configuration)
    if arguments.command == "lat":
        _check_tags(arguments)
    _check_frame_timeout(arguments)
    if arguments.preliminary is not None:
        _check_preliminary(arguments, arguments.preliminary, configuration)


def _check_tags(arguments: Arguments) -> None:
    after_s, tags = arguments.last["tags_after_s"], arguments.last["tags"]
    if after_s >= arguments.duration_s:
        raise ConfigurationError(
            f"delay: {after_s} is not before the end of the test (expected 0 to "
            f"{arguments.duration_s - 1})"
        )
    frames = arguments.rate_fps * (arguments.duration_s - after_s)
    if tags > frames:
        raise ConfigurationError(
            f"timestamps: {tags} is more than the {frames} frames after the delay (expected 1 to "
            f"{frames})"
        )


def _check_frame_timeout(arguments: Arguments) -> None:
    longest_ms = 1000 * arguments.duration_s + arguments.timeout_ms
    if arguments.frame_timeout_ms >= longest_ms:
        raise ConfigurationError(
            f"frame timeout: {arguments.frame_timeout_ms} is not less than the duration plus the "
            f"global timeout (expected 0 to {longest_ms - 1})"
        )


def _check_background(arguments: Arguments, configuration: Configuration) -> None:
    """Refuses background traffic, which is IPv6, where an IPv6 offset is missing."""
    if arguments.m >= arguments.n:
        return
    for letter, side in (("L", configuration.left), ("R", configuration.right)):
        if side.varying and side.ipv6_offset is None:
            configuration.entries.refuse(
                f"IPv6-{letter}-offset",
                f"is missing, and IP-{letter}-var is not 0 with background traffic (expected 6 to "
                "14)",
            )


def _check_preliminary(
    arguments: Arguments, asked: Preliminary, configuration: Configuration
) -> None:
    least_ms = int(asked.shortest_delay_ms)  # whole milliseconds, as siitperf calculates
    if asked.preliminary_delay_ms < least_ms:
        raise ConfigurationError(
            f"D: {asked.preliminary_delay_ms} is less than 1000 N / R + T (expected {least_ms} or "
            "more)"
        )
    foreground = asked.foreground_frames(arguments.n, arguments.m)
    if foreground < asked.table_entries:
        raise ConfigurationError(
            f"M: {asked.table_entries} is more than the {foreground} foreground frames of N "
            f"(expected 1 to {foreground})"
        )
    if asked.table_entries == 1 and configuration.responder_tuples:
        configuration.entries.refuse(
            "Responder-tuples", "is not 0, but M is 1 (expected 0, or a larger M)"
        )
