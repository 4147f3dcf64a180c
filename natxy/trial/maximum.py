"""The highest rate that a search tries: the media's rate, or a given one."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.event import Hello
from natxy.model.search_conditions import MaximumOrigin
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
    media_fps = _media_rate(hello, traffic)
    if given_fps is not None and (media_fps is None or given_fps < media_fps):
        return Maximum(rate_fps=given_fps, origin="given")
    return Maximum(rate_fps=media_fps, origin="none" if media_fps is None else "media")


def _media_rate(hello: Hello, traffic: TrafficPlan) -> int | None:
    """Returns the rate of the slower side; None if the link of a port has no speed."""
    rates = []
    for port in hello.ports:
        if port.link_speed_mbps == 0:
            return None
        line_rate_bps = port.link_speed_mbps * 10**6
        size_bytes, tag_bytes = traffic.sizes.on(port.side), traffic.sizes.tags_on(port.side)
        rates.append(int(theoretical_fps(line_rate_bps, size_bytes, grows_bytes=tag_bytes)))
    return min(rates, default=None)
