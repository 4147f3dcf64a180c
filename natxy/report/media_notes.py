"""The media on both sides, and what it could carry at most (RFC 2544 section 26.1)."""

from collections.abc import Iterator

from natxy.model.measurement import Conditions, Media


def media_notes(conditions: Conditions) -> Iterator[str]:
    if conditions.left_media is None or conditions.right_media is None:
        return
    sides = f"left {_text(conditions.left_media)}, right {_text(conditions.right_media)}"
    if conditions.theoretical_fps is None:
        yield f"Media: {sides}: there is no theoretical limit."
    else:
        yield (
            f"Media: {sides}; media, fps: what the slower side could carry of this size, in each "
            "direction (RFC 8219 appendix A)."
        )


def _text(media: Media) -> str:
    if media.speed_mbps is None:
        return f"{media.driver}, which has no rate"
    if media.speed_mbps % 1000:
        return f"{media.driver} at {media.speed_mbps} Mb/s"
    return f"{media.driver} at {media.speed_mbps // 1000} Gb/s"
