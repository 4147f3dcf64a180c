"""Values of a testbed that the command line gives: errors name the option, not the key."""

from dataclasses import dataclass
from typing import NoReturn

from natxy.errors import ConfigurationError
from natxy.model.source import Source

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


@dataclass(frozen=True, kw_only=True)
class CommandLine(Source):
    """A source without a text, whose keys were given as options."""

    name: str = "command line"

    def refuse(self, path: tuple[str, ...], sentence: str) -> NoReturn:
        if len(path) == 1 and path[0] in OPTIONS:
            raise ConfigurationError(f"{OPTIONS[path[0]]}: {sentence}")
        super().refuse(path, sentence)
