"""What has arrived in each direction since a measurement began.

If nothing ever did, a rate of 0 or a loss of 100 % is no figure of the gateway: it forwards in this
direction at no rate.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from natxy.errors import MeasurementError
from natxy.model.icmp_words import icmp_list, merged
from natxy.model.port_result import IcmpError
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction
from natxy.verdict.all_misdelivered import ADVICE

FEWEST_FRAMES = 10  # fewer frames may all be lost by chance
SLOW_FPS = 1000  # a gateway that forwards at all gets something through at this rate
RECEIVER: dict[Direction, str] = {"forward": "right", "reverse": "left"}


@dataclass
class Arrivals:
    """Frames by direction: how many were sent, whether any arrived, and how others were wrong."""

    _sent: Counter[Direction] = field(default_factory=Counter)
    _came: set[Direction] = field(default_factory=set)
    _wrong: dict[Direction, Counter[str]] = field(default_factory=dict)
    _icmp_errors: list[IcmpError] = field(default_factory=list)

    def add(self, result: TrialResult, *, valid: bool) -> None:
        """Adds a trial. What an invalid one did not receive may be the tester's fault."""
        for stream in result.streams:
            if stream.received or stream.late:
                self._came.add(stream.direction)
            if valid:
                self._sent[stream.direction] += stream.sent
                self._wrong.setdefault(stream.direction, Counter()).update(_wrong(stream))
        self._icmp_errors = [*merged((*self._icmp_errors, *result.icmp_errors))]

    @property
    def silent(self) -> list[Direction]:
        """Directions in which frames were sent, and none ever arrived as it should."""
        return [
            direction
            for direction, sent in self._sent.items()
            if sent >= FEWEST_FRAMES and direction not in self._came
        ]

    def check(self) -> None:
        """Raises MeasurementError if nothing ever arrived in a direction."""
        for direction in self.silent:
            raise MeasurementError(
                f"{direction}: none of {self._sent[direction]:,} frames came to the tester's "
                f"{RECEIVER[direction]} port as it should, in no trial, so there is no figure"
                f"{self._said(direction)}."
            )

    def _said(self, direction: Direction) -> str:
        if wrong := self._wrong[direction].most_common(1):
            ((check, frames),) = wrong
            words = check.replace("_", " ")
            return f'; {frames:,} were misdelivered by the check "{words}": {ADVICE[check]}'
        errors = icmp_list(self._icmp_errors)
        came = f"; these errors came: {errors}" if errors else ""
        return (
            f"{came}; check, at the gateway, its neighbour there (ARP, Neighbour Discovery), "
            "routes, rules and mappings, and the addresses of the testbed"
        )


def _wrong(stream: StreamResult) -> dict[str, int]:
    counts: Iterable[tuple[str, int]] = (
        (check, getattr(counters.misdelivered, check))
        for _, counters in stream.counters()
        for check in ADVICE
    )
    total: Counter[str] = Counter()
    for check, frames in counts:
        if frames:
            total[check] += frames
    return total
