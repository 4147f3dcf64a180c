"""What loss verification has changed, in a sentence beneath the figures."""

from collections.abc import Iterator

from natxy.model.measurement import TrialCounts


def verification_notes(counts: TrialCounts) -> Iterator[str]:
    """Nothing where no failure was overturned: then the figures are as they would be without."""
    if counts.overturned:
        trials = "trial was" if counts.overturned == 1 else "trials were"
        yield (
            f"{counts.overturned:,} failed {trials} overturned by loss verification: repeated at "
            "the same rate, a trial passed."
        )
