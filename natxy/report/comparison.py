"""Compares the figures of two gateways: is one worse than the other?

Each figure has its change, with an interval (natxy/report/change.py). The levels of the intervals
are those of Holm's method: if nothing has changed, the probability that any figure is said to be
worse or better is `LEVEL`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from natxy.model.measurement import Bound, Figure, Unit
from natxy.report.cell_figures import CellResult, Variant, told_apart
from natxy.report.change import LEAST_RUNS, Change, Sample, change_of, that_count
from natxy.report.figure_samples import LOSS, Campaign, Key, figures_in, samples_of
from natxy.report.numbers import ARROWS
from natxy.statistics import holm_levels

LEVEL = 0.05  # of all figures together
RUN_VARIATION = 0.015  # standard deviation of a figure from run to run, as a share
LEAST_VALUES = 2  # of each gateway: one value does not show how much it varies
LOWER_IS_BETTER: set[Unit] = {"ns", "%", "s"}
ARTICLES: dict[Bound, str] = {"lower": "a", "upper": "an"}
CORRECTED = "corrected buffer time"
HIGHER_IS_BETTER = (CORRECTED,)  # although the unit is one of those
# They may be below 0, and a gateway is best if they are near 0; so are their degradations.
NEITHER_IS_BETTER = ("minimum IPDV", "median IPDV")
LOSSLESS_TO_END = 2  # successive rates without loss end a series
FEW_RUNS = f"a gateway has too few runs (expected {LEAST_RUNS})"
COMPUTED = ("degradation", "relative scale up")  # beginnings of names; follow from other figures
OF_A_BUFFER = ("back-to-back frames", CORRECTED)  # absent if no burst fills the gateway's buffer
Better = Literal["higher", "lower", "neither"]
Verdict = Literal["worse", "better", "no change shown", "cannot be told"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A figure of both gateways."""

    measure: str
    column: str
    figure: str
    unit: Unit
    better: Better
    rates: str  # which directions a rate counts; empty: it is none
    bounds: tuple[Bound, Bound]  # of both
    campaigns: tuple[int, int]
    left_out: int  # campaigns with a bound, beside enough with an exact value
    counts: tuple[int, int]  # of values
    of: Change
    level: float  # at which Holm's method tests this figure
    first_level: float  # of the first test of that method, for which a change must be largest
    doubt: str = ""  # why nothing follows from the difference; empty: it can be judged

    @property
    def before(self) -> float:
        return self.of.before

    @property
    def after(self) -> float:
        return self.of.after

    @property
    def change(self) -> float:
        return self.of.share

    @property
    def interval(self) -> tuple[float, float]:
        return self.of.interval(self.level)

    @property
    def worse_by(self) -> float:
        """Returns by which share the gateway is worse; negative if better, 0 if nobody can tell."""
        if self.better == "neither":
            return 0.0
        return self.change if self.better == "lower" else -self.change

    @property
    def verdict(self) -> Verdict:
        if self.doubt:
            return "cannot be told"
        if self.of.p < self.level:
            return "worse" if self.worse_by > 0 else "better"
        return "no change shown" if self.bounds == ("exact", "exact") else "cannot be told"

    @property
    def tells(self) -> bool:
        """Whether the gateways were told apart."""
        return self.verdict in ("worse", "better")

    @property
    def reason(self) -> str:
        """Returns why nothing can be told; empty if something can."""
        if self.verdict != "cannot be told" or self.doubt:
            return self.doubt
        # If both are bounds, the one because of which the true values may be equal.
        nearer = ("lower", "upper") if self.of.difference > 0 else ("upper", "lower")
        first, other = self.bounds
        second = first == "exact" or (first != nearer[0] and other == nearer[1])
        bound = other if second else first
        return f"the {'second' if second else 'first'} value is {ARTICLES[bound]} {bound} bound"

    def decides(self, share: float) -> bool:
        """Returns whether it is known if the gateway is worse by more than this share: what is
        worse than a bound is so by an unknown share."""
        known = self.bounds == ("exact", "exact")
        return self.verdict != "cannot be told" and (known or not 0 < self.worse_by <= share)


def compared(
    before: Sequence[Campaign],
    after: Sequence[Campaign],
    run_variation: float | None = RUN_VARIATION,
    level: float = LEVEL,
    *,
    in_turn: bool = False,
) -> list[Difference]:
    """Returns the main figures that campaigns of both gateways have, in the order of the first.

    `run_variation` is how much runs are known to differ; None: only the campaigns show it. `level`
    is the probability that any of them is said to be worse or better if none has changed.
    `in_turn`: the trials of one campaign of each alternated, so that noise has met both alike.
    """
    old, new = (samples_of(each, in_turn=in_turn) for each in (before, after))
    told = _told_apart(old)
    both: dict[Key, tuple[list[Sample], list[Sample], Change]] = {}
    doubts: dict[Key, str] = {}
    for key in (each for each in old if each in new):
        samples, others = (that_count(list(each[key].values())) for each in (old, new))
        if in_turn:
            places = sorted(old[key].keys() & new[key].keys())
            samples, others = ([each[key][place] for place in places] for each in (old, new))
        if not samples:
            continue
        are_few = run_variation is None and min(len(samples), len(others)) < LEAST_RUNS
        variation = RUN_VARIATION if are_few else run_variation
        change = change_of(samples, others, variation, paired=in_turn and not are_few)
        both[key] = (samples, others, change)
        doubts[key] = FEW_RUNS if are_few else _doubt(samples, others)
    tested = [key for key, doubt in doubts.items() if not doubt]
    tests = holm_levels([both[key][2].p for key in tested], level)
    levels = dict(zip(tested, tests, strict=True))
    return [
        Difference(
            measure=key.measure,
            column=key.column,
            figure=_words(key, told[key.cell, key.variant]),
            unit=samples[0].figure.unit,
            rates=key.rates,
            better=better(samples[0].figure),
            bounds=(_bound(samples), _bound(others)),
            campaigns=(len(samples), len(others)),
            left_out=len(old[key]) + len(new[key]) - len(samples) - len(others),
            counts=(_count(samples), _count(others)),
            of=change,
            level=levels.get(key, level),
            first_level=level / max(1, len(tested)),
            doubt=doubts[key],
        )
        for key, (samples, others, change) in both.items()
    ]


def missing(before: Campaign, after: Campaign) -> Iterator[str]:
    """Yields the figures that only one gateway has."""
    old, new = figures_in(before), figures_in(after)
    for key in [*old, *new]:
        if key not in old or key not in new:
            yield f"{key.words}: only in the {'first' if key in old else 'second'} folder"


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


def _words(key: Key, variant: str) -> str:
    arrow = ARROWS.get(key.direction, "")
    return " ".join(filter(None, (arrow, key.name, key.at, variant)))


def _bound(samples: Sequence[Sample]) -> Bound:
    bounds = (each.figure.benchmark_bound for each in samples)
    return next((each for each in bounds if each != "exact"), "exact")


def _count(samples: Sequence[Sample]) -> int:
    return sum(len(each.figure.values) for each in samples)


def better(figure: Figure) -> Better:
    """Returns which values of a figure are the better ones."""
    if figure.name.endswith(NEITHER_IS_BETTER):
        return "neither"
    if figure.name in HIGHER_IS_BETTER:
        return "higher"
    return "lower" if figure.unit in LOWER_IS_BETTER else "higher"


def _doubt(before: Sequence[Sample], after: Sequence[Sample]) -> str:
    """Returns why nothing follows from the difference; empty if it can be judged."""
    if better(before[0].figure) == "neither":
        return "neither more nor less is better"
    for which, samples in (("first", before), ("second", after)):
        if any(each.figure.uncertain for each in samples):
            return f"the {which} value is uncertain"
        if _count(samples) < LEAST_VALUES:
            return f"too few repetitions of the {which} (expected {LEAST_VALUES})"
    return ""


def lost(before: Campaign, after: Campaign) -> list[str]:
    """Returns the cells with a result in the first campaign and none in the second."""
    known = {(cell.measure, cell.column) for cell in after if cell.results}
    names = [(cell.measure, cell.column) for cell in before if cell.results]
    return [" ".join(filter(None, name)) for name in dict.fromkeys(names) if name not in known]


def lacking(before: Campaign, after: Campaign) -> list[str]:
    """Returns the figures that the second campaign lacks in cells that both have.

    A figure that follows from others is not needed, since those others are compared. The same is
    true of one that is not judged, and of a buffer that no burst fills.
    """
    old, new = figures_in(before), figures_in(after)
    cells = {(cell.measure, cell.column) for cell in after if cell.results}
    return [
        key.words
        for key, sample in old.items()
        if key not in new
        and key.cell in cells
        and not key.name.startswith(COMPUTED)
        and key.name not in OF_A_BUFFER
        and better(sample.figure) != "neither"
        and not _ended_above(key, old, new)
    ]


def _ended_above(key: Key, old: Iterable[Key], new: Mapping[Key, Sample]) -> bool:
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
        and not any(max(new[each].figure.values) for each in end)
    )


def worse(differences: Sequence[Difference], share: float) -> list[Difference]:
    """Returns those that are worse, by more than this share."""
    return [each for each in differences if each.verdict == "worse" and each.worse_by > share]


def failures(cells: Sequence[CellResult]) -> Mapping[str, str]:
    """Returns the sentences of the cells that failed, by their names."""
    return {f"{cell.measure} {cell.column}".strip(): cell.error for cell in cells if cell.error}
