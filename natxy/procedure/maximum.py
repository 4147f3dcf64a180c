"""The highest rate that a search tries: the media's, where it has one, or as given."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.event import Hello
from natxy.model.throughput_result import MaximumOrigin
from natxy.model.traffic import TrafficPlan

# Ethernet: preamble and start of frame 8 octets, gap between frames 12 (RFC 2544 appendix B).
OVERHEAD_BYTES = 20


@dataclass(frozen=True, kw_only=True)
class Maximum:
    """`rate_fps` None: nobody knows one, the search goes up until a rate does not pass."""

    rate_fps: int | None
    origin: MaximumOrigin


def theoretical_fps(line_rate_bps: int, frame_size_bytes: int, *, grows_bytes: int = 0) -> Fraction:
    """Ethernet's maximum frame rate (RFC 8219 appendix A): the link where a frame is longer, by
    what translation or encapsulation adds to it, is the one that fills first."""
    size_bits = (frame_size_bytes + grows_bytes + OVERHEAD_BYTES) * 8
    return Fraction(line_rate_bps, size_bits)


def maximum_of(hello: Hello, traffic: TrafficPlan, given_fps: int | None) -> Maximum:
    media_fps = _media_rate(hello, traffic)
    if given_fps is not None and (media_fps is None or given_fps < media_fps):
        return Maximum(rate_fps=given_fps, origin="given")
    return Maximum(rate_fps=media_fps, origin="none" if media_fps is None else "media")


def _media_rate(hello: Hello, traffic: TrafficPlan) -> int | None:
    """Of the slower side, whose larger frames count; None if a port's link has no speed."""
    rates = []
    for port in hello.ports:
        if port.link_speed_mbps == 0:
            return None
        line_rate_bps = port.link_speed_mbps * 10**6
        rates.append(int(theoretical_fps(line_rate_bps, traffic.frame_size_on(port.side))))
    return min(rates, default=None)
