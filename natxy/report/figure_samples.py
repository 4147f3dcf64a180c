"""The figures of a campaign, as samples of what its gateway does."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from natxy.model.measurement import Figure, Measurement, Unit
from natxy.model.remark import BOUNDS, Topic
from natxy.report.cell_figures import CellResult, Variant, rate_words, together, variant_of
from natxy.report.change import Sample
from natxy.report.numbers import ARROWS

SEARCHED: set[Unit] = {"fps", "cps"}  # units of the figures that have the error of their search
USUAL = ("100 % foreground", "networks 1", "steady")  # of most results; need not be said
NOISY = {Topic.BOUND_BY_NOISE, Topic.LOST_AT_MOST}  # only noise is why a figure is a bound
FORWARDING, LOSS = "forwarding rate", "frame loss rate"
Campaign = Sequence[CellResult]


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
        words = (*self.cell, self.name, self.at, ARROWS.get(self.direction, ""), *variant)
        return " ".join(filter(None, words))


def samples_of(campaigns: Sequence[Campaign], *, in_turn: bool) -> dict["Key", dict[int, Sample]]:
    """Returns the samples of each figure, by the places of their campaigns."""
    found: dict[Key, dict[int, Sample]] = {}
    for place, cells in enumerate(campaigns):
        for key, sample in figures_in(cells, in_turn=in_turn).items():
            found.setdefault(key, {})[place] = sample
    return found


def figures_in(cells: Campaign, *, in_turn: bool = False) -> dict["Key", Sample]:
    """Returns each main figure, with the values of all rounds.

    `in_turn`: the trials of both gateways alternated, so noise has met both alike: what it left out
    or made a bound counts as well. In place of each loss rate, there is the forwarding rate: if
    noise delays the tester, it sends fewer frames, and the loss rate falls.
    """
    found: dict[Key, Sample] = {}
    for cell in cells:
        for result in cell.results:
            limits = {remark.code for remark in result.remarks} & (BOUNDS | NOISY)
            for figure in result.figures:
                is_bound = bool(figure.values) and figure.benchmark_bound != "exact"
                by_noise = figure.name == FORWARDING or (bool(limits) and limits <= NOISY)
                is_noisy = is_bound and by_noise
                if in_turn:
                    figure = _with_noise(figure, is_bound=is_noisy)
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
                one = Sample(
                    figure=figure,
                    search_error=_search_error(result, figure),
                    is_noisy=is_noisy and not in_turn,
                )
                found[key] = _with(found[key], one) if key in found else one
    return found


def _with_noise(figure: Figure, *, is_bound: bool) -> Figure:
    """Returns the figure with the trials that noise left out, and without the bound it made.

    Of what noise has spread, the mean tells more than the median.
    """
    update: dict[str, Any] = dict.fromkeys(("lower_bound", "upper_bound"), ()) if is_bound else {}
    if figure.name == FORWARDING:
        values = (*(() if is_bound else figure.values), *figure.excused)
        update |= {"values": values, "statistic": "mean", "primary": True}
    elif figure.name == LOSS:
        update["primary"] = False
    return figure.model_copy(update=update)


def _with(known: Sample, one: Sample) -> Sample:
    return Sample(
        figure=together(known.figure, one.figure),
        rounds=known.rounds + 1,
        search_error=max(known.search_error, one.search_error),
        is_noisy=known.is_noisy or one.is_noisy,
    )


def _search_error(result: Measurement, figure: Figure) -> float:
    search = result.conditions.search
    if search is None or figure.unit not in SEARCHED:
        return 0
    return search.error_fps or 0
