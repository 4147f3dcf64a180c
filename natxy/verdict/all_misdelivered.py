"""Ends a measurement whose frames are all misdelivered, since no rate would pass."""

from collections.abc import Iterable

from natxy.errors import MeasurementError
from natxy.model.stream_result import StreamResult

FEWEST_FRAMES = 10  # fewer frames may all be wrong by chance

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


def check_all_misdelivered(streams: Iterable[StreamResult]) -> None:
    """Raises MeasurementError if all frames of a direction arrived, but all were misdelivered."""
    for stream in streams:
        if check := failed_check(stream):
            raise MeasurementError(
                f"{stream.direction}: all {stream.sent:,} frames were misdelivered, most of them "
                f'by the check "{check.replace("_", " ")}": {ADVICE[check]}.'
            )


def failed_check(stream: StreamResult) -> str | None:
    """Returns the check that most frames failed; None if not all frames were misdelivered."""
    counts: dict[str, int] = dict.fromkeys(ADVICE, 0)
    for _, counters in stream.counters():
        for check in counts:
            counts[check] += getattr(counters.misdelivered, check)
    every_one = stream.received == 0 and sum(counts.values()) >= stream.sent >= FEWEST_FRAMES
    return max(counts, key=counts.__getitem__) if every_one else None
