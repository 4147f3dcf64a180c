"""Compares the figures of two campaigns: is a gateway worse than it was?

The test is that of Mann and Whitney (two-sided), as an exact permutation test of the ranks: if both
campaigns measured the same gateway, every assignment of the values to the two is as likely as the
one that was seen. It assumes nothing about the distribution of the values.
"""

import bisect
import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from natxy.model.measurement import Bound, Figure, Unit
from natxy.report.cell_figures import (
    CellResult,
    Variant,
    rate_words,
    together,
    told_apart,
    variant_of,
)

LEVEL = 0.05  # of significance
EXACT = 50_000  # up to so many assignments all are tried; else so many are drawn
SEED = 1
LOWER_IS_BETTER: set[Unit] = {"ns", "%", "s"}
ARTICLES: dict[Bound, str] = {"lower": "a", "upper": "an"}
CORRECTED = "corrected buffer time"
HIGHER_IS_BETTER = (CORRECTED,)  # although the unit is one of those
# They may be below 0, and a gateway is best if they are near 0; so are their degradations.
NEITHER_IS_BETTER = ("minimum IPDV", "median IPDV")
LOSS = "frame loss rate"
LOSSLESS_TO_END = 2  # successive rates without loss end a series
COMPUTED = ("degradation", "relative scale up")  # beginnings of names; follow from other figures
OF_A_BUFFER = ("back-to-back frames", CORRECTED)  # absent if no burst fills the gateway's buffer
USUAL = ("100 % foreground", "networks 1", "steady")  # of most results; need not be said
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A figure of both campaigns."""

    measure: str
    column: str
    figure: str
    unit: Unit
    better: Better
    rates: str  # which directions a rate counts; empty: it is none
    before: float  # the benchmark: a median or a mean
    after: float
    bounds: tuple[Bound, Bound]  # of both
    p: float  # probability of such a difference between equal gateways
    counts: tuple[int, int]  # of values
    doubt: str = ""  # why nothing follows from the difference; empty: it can be judged

    @property
    def change(self) -> float:
        """(after - before) / |before|; infinite if only `before` is 0."""
        more = self.after - self.before
        if not more:
            return 0.0
        return more / abs(self.before) if self.before else math.copysign(math.inf, more)

    @property
    def worse_by(self) -> float:
        """Returns by which share the gateway is worse; negative if better, 0 if nobody can tell."""
        if self.better == "neither":
            return 0.0
        return self.change if self.better == "lower" else -self.change

    @property
    def significant(self) -> bool:
        return not self.doubt and self.p < LEVEL

    def decides(self, share: float) -> bool:
        """Returns whether it is known if the gateway is worse by more than this share: what is
        worse than a bound is so by an unknown share."""
        known = self.bounds == ("exact", "exact")
        return not self.doubt and (known or not 0 < self.worse_by <= share)


def compared(before: Sequence[CellResult], after: Sequence[CellResult]) -> list[Difference]:
    """Returns the main figures that both campaigns have, in the order of the first."""
    old, new = _figures(before), _figures(after)
    told = _told_apart(old)
    return [
        _difference(key, told[key.cell, key.variant], figure, new[key])
        for key, figure in old.items()
        if key in new
    ]


def missing(before: Sequence[CellResult], after: Sequence[CellResult]) -> Iterator[str]:
    """Yields the figures that only one campaign has."""
    old, new = _figures(before), _figures(after)
    for key in [*old, *new]:
        if key not in old or key not in new:
            yield f"{key.words}: only in the {'first' if key in old else 'second'} campaign"


class Key(NamedTuple):
    """The members that two results share if their figures are values of one figure."""

    measure: str
    column: str
    name: str
    at: str
    direction: str
    variant: Variant
    rates: str  # which directions a rate counts

    @property
    def cell(self) -> tuple[str, str]:
        return (self.measure, self.column)

    @property
    def series(self) -> "Key":
        """The key without the rate, which is the last part of the point."""
        return self._replace(at=self.at.rpartition(", ")[0])

    @property
    def words(self) -> str:
        variant = (word for word in self.variant if word not in USUAL)
        words = (*self.cell, self.name, self.at, self.direction, *variant)
        return " ".join(filter(None, words))


def _figures(cells: Sequence[CellResult]) -> dict[Key, Figure]:
    found: dict[Key, Figure] = {}
    for cell in cells:
        for result in cell.results:
            for figure in result.figures:
                if not figure.primary or not figure.values:
                    continue
                key = Key(
                    measure=cell.measure,
                    column=cell.column,
                    name=figure.name,
                    at=figure.at,
                    direction=figure.direction or "",
                    variant=variant_of(result.conditions),
                    rates=rate_words(result.conditions, figure, summed=cell.summed),
                )
                found[key] = together(found[key], figure) if key in found else figure
    return found


def _told_apart(keys: Iterable[Key]) -> dict[tuple[tuple[str, str], Variant], str]:
    """Returns the words that tell a variant from the others of its cell."""
    cells: dict[tuple[str, str], dict[Variant, None]] = {}
    for key in keys:
        cells.setdefault(key.cell, {})[key.variant] = None
    return {
        (cell, variant): words
        for cell, variants in cells.items()
        for variant, words in zip(variants, told_apart(list(variants)), strict=True)
    }


def _difference(key: Key, variant: str, before: Figure, after: Figure) -> Difference:
    return Difference(
        measure=key.measure,
        column=key.column,
        figure=" ".join(filter(None, (key.direction, key.name, key.at, variant))),
        unit=before.unit,
        rates=key.rates,
        better=better(before),
        before=before.benchmark,
        after=after.benchmark,
        bounds=(before.benchmark_bound, after.benchmark_bound),
        p=mann_whitney_p(*cautious(before, after)),
        counts=(len(before.values), len(after.values)),
        doubt=_doubt(before, after),
    )


def better(figure: Figure) -> Better:
    """Returns which values of a figure are the better ones."""
    if figure.name.endswith(NEITHER_IS_BETTER):
        return "neither"
    if figure.name in HIGHER_IS_BETTER:
        return "higher"
    return "lower" if figure.unit in LOWER_IS_BETTER else "higher"


def _doubt(before: Figure, after: Figure) -> str:
    """Returns why nothing follows from the difference; empty if it can be judged."""
    if better(before) == "neither":
        return "neither more nor less is better"
    for which, figure in (("first", before), ("second", after)):
        if figure.uncertain:
            return f"the {which} value is uncertain"
    old, new = before.benchmark, after.benchmark
    for which, bound, value, other in (
        ("first", before.benchmark_bound, old, new),
        ("second", after.benchmark_bound, new, old),
    ):
        # A bound is the tester's, so a difference may be, too. But what is at least 10 is surely
        # more than 5: then the true values differ by even more.
        beyond = value > other if bound == "lower" else value < other
        if bound != "exact" and not beyond:
            return f"the {which} value is {ARTICLES[bound]} {bound} bound"
    if smallest_p(len(before.values), len(after.values)) >= LEVEL:
        return f"too few repetitions for p < {LEVEL:g}"
    return ""


def cautious(before: Figure, after: Figure) -> tuple[list[float], list[float]]:
    """Returns the values for the test, so that p is not too small: a lower bound of the figure with
    the lower benchmark may be as high as any value, and an upper bound of the other one as low."""
    if before.benchmark <= after.benchmark:
        return _raised(before), _lowered(after)
    return _lowered(before), _raised(after)


def _raised(figure: Figure) -> list[float]:
    return _replaced(figure.values, figure.lower_bound, math.inf)


def _lowered(figure: Figure) -> list[float]:
    return _replaced(figure.values, figure.upper_bound, -math.inf)


def _replaced(values: Sequence[float], bounds: Sequence[bool], by: float) -> list[float]:
    marks = bounds or (False,) * len(values)
    return [by if bound else value for value, bound in zip(values, marks, strict=True)]


def smallest_p(before: int, after: int) -> float:
    """Returns the smallest p that so many values can give."""
    return min(1.0, 2 / math.comb(before + after, before))


def mann_whitney_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Returns the share of the assignments whose rank sums are at least as far from the middle."""
    ranks = _ranks([*before, *after])
    middle = len(before) * (len(ranks) + 1) / 2

    def away(places: Sequence[int]) -> float:
        return abs(sum(ranks[place] for place in places) - middle)

    seen = away(range(len(before)))
    count = math.comb(len(ranks), len(before))
    if count <= EXACT:
        chosen = itertools.combinations(range(len(ranks)), len(before))
        return sum(away(places) >= seen for places in chosen) / count
    draw = random.Random(SEED)
    places = range(len(ranks))
    extremes = sum(away(draw.sample(places, len(before))) >= seen for _ in range(EXACT))
    return (extremes + 1) / (EXACT + 1)


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, from 1; equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [
        (bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value) + 1) / 2
        for value in values
    ]


def lost(before: Sequence[CellResult], after: Sequence[CellResult]) -> list[str]:
    """Returns the cells with a result in the first campaign and none in the second."""
    known = {(cell.measure, cell.column) for cell in after if cell.results}
    names = [(cell.measure, cell.column) for cell in before if cell.results]
    return [" ".join(filter(None, name)) for name in dict.fromkeys(names) if name not in known]


def lacking(before: Sequence[CellResult], after: Sequence[CellResult]) -> list[str]:
    """Returns the figures that the second campaign lacks in cells that both have.

    A figure that follows from others is not needed, since those others are compared. The same is
    true of one that is not judged, and of a buffer that no burst fills.
    """
    old, new = _figures(before), _figures(after)
    cells = {(cell.measure, cell.column) for cell in after if cell.results}
    return [
        key.words
        for key, figure in old.items()
        if key not in new
        and key.cell in cells
        and not key.name.startswith(COMPUTED)
        and key.name not in OF_A_BUFFER
        and better(figure) != "neither"
        and not _ended_above(key, old, new)
    ]


def _ended_above(key: Key, old: Iterable[Key], new: Mapping[Key, Figure]) -> bool:
    """Tells whether a series of loss rates has ended at higher rates: it ends at two in turn
    without loss (RFC 2544 section 26.3), so the gateway is no worse at the rates below."""
    if key.name != LOSS:
        return False
    series = [each for each in old if each.series == key.series]
    kept = [each for each in series if each in new]
    end = kept[-LOSSLESS_TO_END:]
    return (
        len(end) == LOSSLESS_TO_END
        and series.index(key) > series.index(end[-1])
        and not any(max(new[each].values) for each in end)
    )


def worse(differences: Sequence[Difference], share: float) -> list[Difference]:
    """Returns those that are significantly worse, by more than this share."""
    return [each for each in differences if each.significant and each.worse_by > share]


def failures(cells: Sequence[CellResult]) -> Mapping[str, str]:
    """Returns the sentences of the cells that failed, by their names."""
    return {f"{cell.measure} {cell.column}".strip(): cell.error for cell in cells if cell.error}
