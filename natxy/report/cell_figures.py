"""Figures of a campaign's cells, by measurement and column, as its tables and plots show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from natxy.model.experiment import Experiment
from natxy.model.measurement import Conditions, ConnectionConditions, Figure, Measurement

Variant = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """The figures that a cell of the campaign found."""

    column: str
    measure: str
    round: int
    results: tuple[Measurement, ...]
    error: str = ""
    started: str = ""  # ISO 8601, UTC
    ended: str = ""  # empty: it was interrupted
    testbed: int = 1  # that measured it; 0: none has
    host: str = ""  # the name of the machine that measured it


@dataclass(kw_only=True)
class ColumnFigures:
    """The figures of a measurement in one column, with the values of all rounds together."""

    figures: dict[tuple[str, ...], Figure] = field(default_factory=dict)
    connections: list[ConnectionConditions] = field(default_factory=list)  # of each result
    search_errors: dict[str, float] = field(default_factory=dict)  # largest, by place of the result
    error: str = ""

    def add(self, cell: CellResult) -> None:
        self.error = self.error or cell.error
        for place, result in enumerate(cell.results):
            if result.conditions.connections is not None:
                self.connections.append(result.conditions.connections)
            of_search = result.conditions.search
            if of_search is not None and of_search.error_fps is not None:
                largest = max(of_search.error_fps, self.search_errors.get(str(place), 0))
                self.search_errors[str(place)] = largest
            for figure in result.figures:
                key = (str(place), figure.direction or "", figure.name, figure.at)
                known = self.figures.get(key)
                self.figures[key] = figure if known is None else together(known, figure)


def together(one: Figure, other: Figure) -> Figure:
    """Returns a figure with the values of both; bounds and errors stay with their values."""

    def bounds(figure: Figure, name: str) -> tuple[bool, ...]:
        return getattr(figure, name) or (False,) * len(figure.values)

    return one.model_copy(
        update={
            "values": (*one.values, *other.values),
            "lower_bound": (*bounds(one, "lower_bound"), *bounds(other, "lower_bound")),
            "upper_bound": (*bounds(one, "upper_bound"), *bounds(other, "upper_bound")),
            "errors": (*one.errors, *other.errors),
            "found": one.found if one.found == other.found else "",
            "uncertain": one.uncertain or other.uncertain,
        }
    )


def doubled(figure: Figure) -> Figure:
    """Returns a rate per direction as the sum of both directions; its error doubles as well."""
    if figure.unit != "fps" or figure.direction is not None:
        return figure
    return figure.model_copy(
        update={
            "values": tuple(2 * value for value in figure.values),
            "errors": tuple(2 * error for error in figure.errors),
        }
    )


def as_shown(experiment: Experiment, cells: Sequence[CellResult]) -> list[CellResult]:
    """Returns the cells with the rates that the experiment asks for: per direction, or the sum of
    both. If only one direction was active, its rate is the sum."""
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    return [
        replace(cell, results=tuple(map(_summed, cell.results))) if cell.measure in both else cell
        for cell in cells
    ]


def _summed(result: Measurement) -> Measurement:
    if result.conditions.direction != "both":
        return result
    conditions, search = result.conditions, result.conditions.search
    if search is not None and search.error_fps is not None:
        twice = search.model_copy(update={"error_fps": 2 * search.error_fps})
        conditions = conditions.model_copy(update={"search": twice})
    figures = tuple(map(doubled, result.figures))
    return result.model_copy(update={"conditions": conditions, "figures": figures})


Found = Mapping[tuple[str, str], ColumnFigures]  # by the names of measurement and column


def found_figures(experiment: Experiment, cells: Sequence[CellResult]) -> Found:
    """Returns the figures of each measurement in each column, as its table shows them."""
    found: dict[tuple[str, str], ColumnFigures] = {}
    for cell in as_shown(experiment, cells):
        found.setdefault((cell.measure, cell.column), ColumnFigures()).add(cell)
    return found


def main_figure(of: ColumnFigures | None, name: str, direction: str = "") -> Figure | None:
    """Returns the first figure with values that has this name, or is a main one, and, if one is
    given, this direction."""
    figures = () if of is None else of.figures.values()
    fits = (each for each in figures if (each.name == name if name else each.primary))
    towards = (each for each in fits if direction in ("", each.direction))
    return next((figure for figure in towards if figure.values), None)


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
