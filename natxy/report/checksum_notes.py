"""What to know of frames that came without a UDP checksum."""

from collections.abc import Iterator

from natxy.model.measurement import TrialCounts


def checksum_notes(counts: TrialCounts) -> Iterator[str]:
    if counts.without_udp_checksum:
        yield (
            f"{counts.without_udp_checksum:,} frames came without a UDP checksum, as RFC 768 "
            "allows over IPv4, and count as received; nothing covers their data."
        )
