"""The note about frames that were received without a UDP checksum."""

from collections.abc import Iterator

from natxy.model.measurement import TrialCounts


def checksum_notes(counts: TrialCounts) -> Iterator[str]:
    if counts.without_udp_checksum:
        yield (
            f"{counts.without_udp_checksum:,} frames arrived without a UDP checksum, as RFC 768 "
            "allows over IPv4. They count as received, but nothing protects their data."
        )
