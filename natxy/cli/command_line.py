"""Values of a testbed that the command line gives: errors name the option, not the key."""

from dataclasses import dataclass
from typing import NoReturn

from natxy.errors import ConfigurationError
from natxy.model.frame_sizes import IPV4_SAVES_BYTES
from natxy.model.source import Source
from natxy.model.traffic_spec import MAX_FRAME_SIZE_BYTES
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES

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


def check_frame_size(size_bytes: int) -> None:
    """ConfigurationError if the size is too small, as 64 is, which is a size of IPv4 frames."""
    if size_bytes < MIN_FRAME_SIZE_BYTES:
        raise ConfigurationError(
            f"--frame-size: {size_bytes} is out of range (expected {MIN_FRAME_SIZE_BYTES} to "
            f"{MAX_FRAME_SIZE_BYTES}, the size of the IPv6 frame: {MIN_FRAME_SIZE_BYTES} is "
            f"{MIN_FRAME_SIZE_BYTES - IPV4_SAVES_BYTES} as IPv4)"
        )


@dataclass(frozen=True, kw_only=True)
class CommandLine(Source):
    """A source without a text, whose keys were given as options."""

    name: str = "command line"

    def refuse(self, path: tuple[str, ...], sentence: str) -> NoReturn:
        if len(path) == 1 and path[0] in OPTIONS:
            raise ConfigurationError(f"{OPTIONS[path[0]]}: {sentence}")
        super().refuse(path, sentence)
