"""The values that tell the results of one cell apart: frame size, foreground, networks."""

from collections.abc import Sequence
from itertools import compress

from natxy.model.measurement import Conditions

Variant = tuple[str, str, str]


def variant_of(conditions: Conditions) -> Variant:
    return (
        f"{conditions.frame_size_bytes:,} B",
        f"{conditions.foreground_percent:g} % foreground",
        f"networks {conditions.networks}",
    )


def told_apart(variants: Sequence[Variant]) -> list[str]:
    """Returns each variant's words without those that all have: "84 B, 50 % foreground"."""
    differ = [len(set(words)) > 1 for words in zip(*variants, strict=True)]
    return [", ".join(compress(words, differ)) for words in variants]
