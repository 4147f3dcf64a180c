"""A device that delivers every frame wrongly has no rate at which it does right."""

from natxy.errors import MeasurementError
from natxy.model.trial_result import Misdelivered, StreamResult, TrialResult

FEWEST_FRAMES = 10  # fewer that are all wrong may be chance

ADVICE = {
    "malformed": (
        "it is no plain UDP packet of the IP version that is due, or it is cut into fragments; "
        "the IP versions and the MTU of the testbed and of the device are what to look at"
    ),
    "checksum": (
        "the IPv4 or UDP checksum is wrong; checksum offloads of the device's interfaces are what "
        "to look at (a UDP checksum of 0 is right over IPv4 alone, and not where "
        'traffic.udp_checksum is "required")'
    ),
    "number": "its number, direction or kind was never sent to that side",
    "length": "it is longer or shorter than what was sent; the frame size is what to look at",
    "address": (
        "its source or destination is another one; the testbed's real and virtual addresses and "
        "the device's translation are what to look at"
    ),
    "port": "its UDP ports are others; a device that translates ports needs [connections]",
    "hop_limit": (
        "its hop limit is another one than the testbed's traffic.hop_limit_drop asks for, or it "
        "changes from frame to frame"
    ),
    "traffic_class": (
        'its traffic class, TOS or flow label is not 0; traffic.dscp = "any" does not look at them'
    ),
}


def check_all_misdelivered(result: TrialResult) -> None:
    """MeasurementError where a direction's frames all came, and none of them was right."""
    for stream in result.streams:
        if check := failed_check(stream):
            raise MeasurementError(
                f"{stream.direction}: all of {stream.sent:,} frames were misdelivered, most of "
                f"them by the check of {check.replace('_', ' ')}: {ADVICE[check]} (expected "
                "frames that are what was sent)."
            )


def failed_check(stream: StreamResult) -> str | None:
    """The check that most of the frames failed; None where not all of them came wrong."""
    counts: dict[str, int] = dict.fromkeys(ADVICE, 0)
    for _, counters in stream.counters():
        for check in counts:
            counts[check] += _count(counters.misdelivered, check)
    every_one = stream.received == 0 and sum(counts.values()) >= stream.sent >= FEWEST_FRAMES
    return max(counts, key=counts.__getitem__) if every_one else None


def _count(of: Misdelivered, check: str) -> int:
    count: int = getattr(of, check)
    return count
