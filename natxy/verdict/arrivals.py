"""What has arrived in each direction since a measurement began.

If nothing ever did, a rate of 0 or a loss of 100 % is no figure of the gateway: it forwards in this
direction at no rate.

A measurement whose frames are all misdelivered ends as well, since no rate would pass.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from natxy.errors import MeasurementError
from natxy.model.port_result import IcmpError, icmp_list, merged
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Direction

FEWEST_FRAMES = 10  # fewer frames may all be lost, or wrong, by chance

ADVICE = {
    "malformed": (
        "they are not plain UDP or TCP packets of the expected IP version, or they are fragments, "
        "or have other headers than the testbed asks for; check the IP versions and the MTU of the "
        "testbed and of the gateway, and VLAN tags, softwires and extension headers if any"
    ),
    "checksum": (
        "the checksum of IPv4, UDP or TCP is wrong; check the checksum offloads of the gateway's "
        "interfaces (a UDP checksum of 0 is allowed only over IPv4, and only if "
        'traffic.udp_checksum is not "required")'
    ),
    "number": "their number, direction or kind was never sent to that side",
    "length": "they are longer or shorter than they were sent; check the frame size",
    "tunnel": (
        "the outer header has another source, destination or protocol, its hop limit differs from "
        "frame to frame, its checksum is wrong, or it is a fragment; check the tunnel's addresses "
        "in the testbed, and the gateway's binding table and MTU"
    ),
    "address": (
        "they have another source or destination; check the testbed's real and virtual addresses "
        "and the gateway's translation"
    ),
    "port": "they have other ports; a gateway that translates ports needs [connections]",
    "sequence": (
        "their sequence or acknowledgement number is not the one that was sent; a gateway that "
        "rewrites the numbers of TCP cannot be measured"
    ),
    "hop_limit": (
        "their hop limit is not the one that follows from traffic.hop_limit_drop, or it differs "
        "from frame to frame"
    ),
    "traffic_class": (
        "their traffic class, TOS or flow label is not the one that was sent; set traffic.dscp = "
        '"any" to allow it'
    ),
    "header": (
        "a VLAN tag or an extension header of IPv6 is another one than the testbed asks for "
        "(tester.left.vlans, tester.right.vlans, traffic.extension_headers), or flags, window or "
        "options of TCP are others than were sent"
    ),
}
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


def _wrong(stream: StreamResult) -> Counter[str]:
    """Returns the frames that failed each check, if there are any."""
    total: Counter[str] = Counter()
    for _, counters in stream.counters():
        for check in ADVICE:
            if frames := getattr(counters.misdelivered, check):
                total[check] += frames
    return total


def check_all_misdelivered(streams: Iterable[StreamResult]) -> None:
    """Raises MeasurementError if all frames of a direction arrived, but all were misdelivered."""
    for stream in streams:
        wrong = _wrong(stream)
        if stream.received == 0 and wrong.total() >= stream.sent >= FEWEST_FRAMES:
            check = max(ADVICE, key=wrong.__getitem__)
            raise MeasurementError(
                f"{stream.direction}: all {stream.sent:,} frames were misdelivered, most of them "
                f'by the check "{check.replace("_", " ")}": {ADVICE[check]}.'
            )
