"""Values of a testbed that the command line gives: errors name the option, not the key."""

from dataclasses import dataclass
from typing import NoReturn, TypeVar

from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.source import Source
from natxy.model.testbed import IPV6_SIZE
from natxy.model.traffic_spec import MAX_FRAME_SIZE_BYTES
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES
from natxy.setting import Setting

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
