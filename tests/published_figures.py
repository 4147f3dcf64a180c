"""What must be said of published figures that have no measured one beside them."""

from collections.abc import Iterator, Sequence

PUBLISHED, HERE = ", published", ", here"  # the ends of the names of two rows, one below the other
Row = tuple[str, Sequence[str]]  # its name, and the text of each column


def unexplained(columns: Sequence[str], rows: Sequence[Row], notes: Sequence[str]) -> Iterator[str]:
    """Yields a sentence for each published figure that has no measured one and no reason."""
    if not rows and not any("prints no numbers" in note for note in notes):
        yield "there is no published figure, and nothing says why"
    following = (*rows[1:], ("", ()))
    for (name, theirs), (below, ours) in zip(rows, following, strict=False):
        if not name.endswith(PUBLISHED):
            continue
        label = name.removesuffix(PUBLISHED)
        if below != label + HERE:
            yield f"{label}: no measured row stands below the published one"
            continue
        for column, their, our in zip(columns, theirs, ours, strict=True):
            reasons = [note for note in notes if f"column {column}: " in note and label in note]
            if their and not our and not reasons:
                yield f"{label}, column {column}: {their} has no measured figure beside it"
