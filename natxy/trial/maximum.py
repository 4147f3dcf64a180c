"""The highest rate that a search tries: the media's rate, or a given one."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.event import Hello
from natxy.model.measurement import MaximumOrigin
from natxy.model.traffic import TrafficPlan

# Ethernet: 8 octets of preamble and start of frame, 12 of gap between frames (RFC 2544 appendix B).
OVERHEAD_BYTES = 20


@dataclass(frozen=True, kw_only=True)
class Maximum:
    """The maximum; if `rate_fps` is None, it is unknown: the search goes up until a rate fails."""

    rate_fps: int | None
    origin: MaximumOrigin


def theoretical_fps(line_rate_bps: int, frame_size_bytes: int, *, grows_bytes: int = 0) -> Fraction:
    """Returns Ethernet's maximum frame rate (RFC 8219 appendix A).

    `grows_bytes` are the octets that translation, encapsulation or VLAN tags add: the link with the
    longer frames is the first to be full.
    """
    size_bits = (frame_size_bytes + grows_bytes + OVERHEAD_BYTES) * 8
    return Fraction(line_rate_bps, size_bits)


def maximum_of(hello: Hello, traffic: TrafficPlan, given_fps: int | None) -> Maximum:
    return _maximum(media_fps(hello, traffic), given_fps)


def maximum_of_connections(hello: Hello, traffic: TrafficPlan, given_cps: int | None) -> Maximum:
    """Returns the maximum rate of the frames that make or close connections."""
    return _maximum(media_fps(hello, traffic, traffic.sizes.connecting_bytes), given_cps)


def media_fps(
    hello: Hello, traffic: TrafficPlan, foreground_bytes: int | None = None
) -> int | None:
    """Returns the rate of the slower side; None if the link of a port has no speed.

    `foreground_bytes` is the IPv6 size of foreground frames; None: as in the testbed.
    """
    return min(map(int, _rates(hello, traffic, foreground_bytes)), default=None)


def media_beside(
    hello: Hello, traffic: TrafficPlan, given_fps: int, *, foreground_bytes: int, given_bytes: int
) -> int | None:
    """Returns the rate for which frames of another size, at a given rate, leave room."""
    rates = _rates(hello, traffic, foreground_bytes), _rates(hello, traffic, given_bytes)
    left = (alone * (1 - given_fps / of_given) for alone, of_given in zip(*rates, strict=True))
    return min(map(int, left), default=None)


def _maximum(of_media_fps: int | None, given_fps: int | None) -> Maximum:
    if given_fps is not None and (of_media_fps is None or given_fps < of_media_fps):
        return Maximum(rate_fps=given_fps, origin="given")
    return Maximum(rate_fps=of_media_fps, origin="none" if of_media_fps is None else "media")


def _rates(hello: Hello, traffic: TrafficPlan, foreground_bytes: int | None) -> list[Fraction]:
    """Returns the rates of both sides; [] if the link of a port has no speed."""
    sizes = traffic.sizes
    if any(port.link_speed_mbps == 0 for port in hello.ports):
        return []
    return [
        theoretical_fps(
            port.link_speed_mbps * 10**6,
            sizes.on(port.side, foreground_bytes),
            grows_bytes=sizes.tags_on(port.side),
        )
        for port in hello.ports
    ]
