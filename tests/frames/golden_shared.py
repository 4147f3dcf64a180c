"""What tests of golden share with others."""

from typing import Any

from tests.frames.golden import Number, departure
from tests.frames.tool import sent

FRAMES = 9


def expect_golden(trial: dict[str, Any], frames: int = FRAMES, first: int = 0) -> None:
    streams = {
        (phase["name"], stream["direction"]): (index, stream)
        for index, phase in enumerate(trial["phases"])
        for stream in phase["streams"]
    }
    seen = sent(trial, frames, first)
    assert len(seen) == frames * len(streams)
    for frame in seen:
        index, its_stream = streams[frame.phase, frame.direction]
        number = Number(spec=trial, phase=index, stream=its_stream, number=frame.number)
        assert (frame.kind, frame.ordinal) == (number.kind, number.ordinal)
        assert frame.frame.hex() == departure(number).hex(), f"{frame.direction} {frame.number}"


SPOILT = {4: "192.0.2.9", 6: "2001:2::9"}  # the wrong source of a tunnel
