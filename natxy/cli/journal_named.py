"""Says where the journal of a measurement is that did not end as it should."""

from collections.abc import Iterator
from contextlib import contextmanager

from natxy.campaign.journal import Journal
from natxy.cli.options import progress_console
from natxy.cli.sentences import quote


@contextmanager
def naming(journal: Journal) -> Iterator[None]:
    """Prints the journal's path if the block ends with an error or an interrupt."""
    try:
        yield
    except BaseException:
        quote(progress_console, f"The journal of the trials so far: {journal.path}")
        raise
