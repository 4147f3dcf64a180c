"""A point in which a result differs from what a document asks for."""

from collections.abc import Collection, Iterable

from natxy.model.base import Model


class Deviation(Model):
    """What a result has, and what a clause of a document asks for instead."""

    clause: str  # "RFC 2544 section 24"; empty: no document has a clause about it
    has: str  # "trials of 0.2 s"
    asked: str = ""  # "60 s"; empty: `has` says it

    def __str__(self) -> str:
        said = f"{self.has}, not {self.asked}" if self.asked else self.has
        return f"{said} ({self.clause})" if self.clause else said


Deviations = tuple[Deviation, ...]


def each_once(of_results: Iterable[Deviations]) -> Deviations:
    """Returns the deviations of several results, such as the points of a series."""
    return tuple(dict.fromkeys(each for deviations in of_results for each in deviations))


def without(deviations: Iterable[Deviation], others: Collection[Deviation]) -> Deviations:
    """Returns the deviations that are not among the others."""
    return tuple(each for each in deviations if each not in others)
