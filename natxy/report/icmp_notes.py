"""What ICMP errors say of the frames that were lost: a sentence under a table."""

from collections.abc import Iterable, Iterator

from natxy.model.icmp_words import icmp_list
from natxy.model.trial_result import IcmpError


def icmp_notes(errors: Iterable[IcmpError]) -> Iterator[str]:
    """A gateway may limit how many errors it sends, so their number is not that of the losses."""
    if said := icmp_list(errors):
        yield f"The device answered frames of the trials with errors: {said}."
