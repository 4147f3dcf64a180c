"""The note about ICMP errors that the gateway sent, which may explain losses."""

from collections.abc import Iterable, Iterator

from natxy.model.icmp_words import icmp_list
from natxy.model.port_result import IcmpError


def icmp_notes(errors: Iterable[IcmpError]) -> Iterator[str]:
    """Yields a note if there are errors. Gateways may limit errors, so they do not count losses."""
    if said := icmp_list(errors):
        yield f"The gateway answered frames of the trials with ICMP errors: {said}."
