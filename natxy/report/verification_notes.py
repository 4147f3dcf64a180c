"""The note about failed trials that loss verification overturned."""

from collections.abc import Iterator

from natxy.model.measurement import TrialCounts


def verification_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields a note if a failure was overturned; otherwise loss verification changed nothing."""
    if counts.overturned:
        trials = "trial was" if counts.overturned == 1 else "trials were"
        yield (
            f"{counts.overturned:,} failed {trials} overturned by loss verification: a repeated "
            "trial at the same rate passed."
        )
