"""Notes about the media of both sides and their theoretical rate (RFC 2544 section 26.1)."""

from collections.abc import Iterable, Iterator

from natxy.model.measurement import Conditions, Media
from natxy.model.packet_sockets import PACKET_SOCKETS


def media_notes(conditions: Conditions) -> Iterator[str]:
    yield from device_notes((conditions.left_media, conditions.right_media))
    if conditions.left_media is None or conditions.right_media is None:
        return
    sides = f"left {_text(conditions.left_media)}, right {_text(conditions.right_media)}"
    if conditions.theoretical_fps is None:
        yield f"Media: {sides}. There is no theoretical limit."
    else:
        yield (
            f'Media: {sides}. The column "media, fps" shows the rate of the slower side '
            f"{_at_size(conditions)}, per direction (RFC 8219 appendix A)."
        )


def _at_size(conditions: Conditions) -> str:
    connections = conditions.connections
    if connections is None or connections.transport == "udp":
        return "at this frame size"
    return "at this frame size, or of TCP segments without data if only those are measured"


def device_notes(both: Iterable[Media | None]) -> Iterator[str]:
    """Yields a note if the kind of the tester's ports limits the figures."""
    if PACKET_SOCKETS in {media.driver for media in both if media is not None}:
        yield (
            f"The tester's ports are packet sockets ({PACKET_SOCKETS}). They reach about half the "
            "rate of AF_XDP, with longer delays."
        )


def _text(media: Media) -> str:
    if media.speed_mbps is None:
        return f"{media.driver}, which has no rate"
    if media.speed_mbps % 1000:
        return f"{media.driver} at {media.speed_mbps} Mb/s"
    return f"{media.driver} at {media.speed_mbps // 1000} Gb/s"
