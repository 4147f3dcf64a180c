"""Notes about what the trials of a measurement counted."""

from collections.abc import Iterable, Iterator

from natxy.model.icmp_words import icmp_list
from natxy.model.measurement import TrialCounts
from natxy.model.port_result import IcmpError


def icmp_notes(errors: Iterable[IcmpError]) -> Iterator[str]:
    """Yields a note if there are errors. Gateways may limit errors, so they do not count losses."""
    if said := icmp_list(errors):
        yield f"The gateway answered frames of the trials with ICMP errors: {said}."


def verification_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields a note if a failure was overturned; otherwise loss verification changed nothing."""
    if counts.overturned:
        trials = "trial was" if counts.overturned == 1 else "trials were"
        yield (
            f"{counts.overturned:,} failed {trials} overturned by loss verification: a repeated "
            "trial at the same rate passed."
        )


def checksum_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields a note if frames were received without a UDP checksum."""
    if counts.without_udp_checksum:
        yield (
            f"{counts.without_udp_checksum:,} frames arrived without a UDP checksum, as RFC 768 "
            "allows over IPv4. They count as received, but nothing protects their data."
        )
