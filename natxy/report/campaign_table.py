"""The table of a campaign: a column for each column of the experiment, a row for each figure.

Its layout is that of draft-lencse-v6ops-transition-scalability: conditions first, then the figures
with median, minimum and maximum, then what is computed from them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import MeasureSection, RowSection
from natxy.model.measurement import Bound, ConnectionConditions, Figure, Measurement, Unit
from natxy.model.testbed_changes import merged
from natxy.report.bounds import SIGNS, marked
from natxy.report.measurement_table import ARROWS
from natxy.report.numbers import quantity
from natxy.report.table_fill import COUNTED, PLACES, connections_of, places_of
from natxy.report.testbed_keys import at
from natxy.statistics import median, summary


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What a cell of the campaign found."""

    column: str
    measure: str
    round: int
    results: tuple[Measurement, ...]
    error: str = ""
    started: str = ""  # ISO 8601, UTC
    ended: str = ""  # empty: it was interrupted
    testbed: int = 1  # that measured it; 0: none has
    host: str = ""  # the name of the machine that measured it


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value of the table, as a number and as text; no number: an error, or nothing measured."""

    number: float | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    values: tuple[Value, ...]  # one for each column
    unit: str = ""
    group: str = ""  # the measurement; empty: a condition, or computed
    main: bool = False  # a median of a main figure
    kind: str = ""  # of a computed row: "relative scale-up"


@dataclass(frozen=True, kw_only=True)
class CampaignTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    warning: str = ""  # before anything else


@dataclass(kw_only=True)
class ColumnFigures:
    """The figures of a measurement in one column, with the values of all rounds together."""

    figures: dict[tuple[str, ...], Figure] = field(default_factory=dict)
    connections: list[ConnectionConditions] = field(default_factory=list)  # of each result
    error: str = ""

    def add(self, cell: CellResult) -> None:
        self.error = self.error or cell.error
        for place, result in enumerate(cell.results):
            if result.conditions.connections is not None:
                self.connections.append(result.conditions.connections)
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
    return result.model_copy(update={"figures": tuple(map(doubled, result.figures))})


def campaign_table(
    experiment: Experiment, testbeds: Mapping[str, dict[str, Any]], cells: Sequence[CellResult]
) -> CampaignTable:
    """Returns the table; `testbeds` has the testbed of each column, by its label."""
    columns = tuple(column.label for column in experiment.columns)
    found = found_figures(experiment, cells)
    rows = [
        Row(
            name=header.name,
            values=tuple(_condition(at(testbeds[label], header.key)) for label in columns),
        )
        for header in experiment.header
    ]
    for measure in experiment.measure:
        rows += _figure_rows(measure, columns, found)
    rows += [
        _filled(row, experiment, found, testbeds)
        if row.kind in PLACES
        else _computed(row, columns, found, testbeds)
        for row in experiment.row
    ]
    return CampaignTable(
        title=experiment.title, columns=columns, rows=tuple(rows), notes=tuple(_notes(cells))
    )


Found = Mapping[tuple[str, str], ColumnFigures]  # by the names of measurement and column


def found_figures(experiment: Experiment, cells: Sequence[CellResult]) -> Found:
    """Returns the figures of each measurement in each column, as its table shows them."""
    found: dict[tuple[str, str], ColumnFigures] = {}
    for cell in as_shown(experiment, cells):
        found.setdefault((cell.measure, cell.column), ColumnFigures()).add(cell)
    return found


def _condition(value: Any) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Value(number=float(value), text=f"{value:,}")
    return Value(text="" if value is None else str(value))


ENDING = "ending new connection ratio"  # the figure of an establishment (MP Table 23)
INVERSE: Mapping[Bound, Bound] = {"exact": "exact", "lower": "upper", "upper": "lower"}
Statistic = Callable[[Sequence[float]], float]
STATISTICS: tuple[tuple[str, Statistic], ...] = (("median", median), ("min", min), ("max", max))


def _figure_rows(
    measure: MeasureSection,
    columns: Sequence[str],
    found: Found,
) -> Iterator[Row]:
    of = [_without_series(found.get((measure.name, column), ColumnFigures())) for column in columns]
    keys = list(dict.fromkeys(key for each in of for key in each.figures))
    if not keys:
        yield Row(
            name=measure.name,
            values=tuple(Value(text="failed" if each.error else "") for each in of),
            group=measure.name,
        )
    for key in keys:
        figures = [each.figures.get(key) for each in of]
        known = next(figure for figure in figures if figure is not None)
        if not known.primary:
            continue
        several = len({each[0] for each in keys}) > 1
        name = _name(measure, known, at=key[-1], several=several, place=key[0])
        for statistic, compute in STATISTICS:
            yield Row(
                name=f"{name} {statistic}",
                values=tuple(
                    _value(figure, compute, each.error)
                    for figure, each in zip(figures, of, strict=True)
                ),
                unit=known.unit,
                group=measure.name,
                main=statistic == "median",
            )


def _without_series(of: ColumnFigures) -> ColumnFigures:
    """Returns the figures by keys without the point of a series, if the column has only one.

    So the tear-down rates of 1,000 and of 2,000 connections, in two columns, are in one row.
    """
    points = {figure.at for figure in of.figures.values()}
    if len(points) != 1:
        return of
    figures = {(*key[:-1], ""): figure for key, figure in of.figures.items()}
    return ColumnFigures(figures=figures, error=of.error)


def _name(measure: MeasureSection, figure: Figure, *, at: str, several: bool, place: str) -> str:
    part = f"({int(place) + 1})" if several else ""
    words = (ARROWS[figure.direction], measure.label, figure.name, at, part)
    return " ".join(word for word in words if word)


def _value(figure: Figure | None, compute: Statistic, error: str) -> Value:
    if figure is None or not figure.values:
        return Value(text="failed" if error else "")
    number = compute(figure.values)
    return Value(number=number, text=marked(figure, number))


def _computed(
    row: RowSection,
    columns: Sequence[str],
    found: Found,
    testbeds: Mapping[str, dict[str, Any]],
) -> Row:
    name = ENDING if row.kind == "ending ratio" else row.figure
    figures = [main_figure(found.get((row.of, column)), name) for column in columns]
    medians = [None if figure is None else median(figure.values) for figure in figures]
    xs = [_number(at(testbeds[column], row.x)) if row.x else None for column in columns]
    compared: list[float | None]
    divisors: Sequence[Figure | None] = [None] * len(columns)
    unit: Unit = "times"
    match row.kind:
        case "dispersion":
            unit = "%"
            compared = [
                None if figure is None else summary(figure.values).dispersion_percent
                for figure in figures
            ]
        case "ratio to the previous":
            divisors = [None, *figures[:-1]]
            compared = [None, *map(_ratio, medians[1:], medians)]
        case "ratio":
            divisors = [main_figure(found.get((row.to, column)), "") for column in columns]
            to = [None if figure is None else median(figure.values) for figure in divisors]
            compared = list(map(_ratio, medians, to))
        case "ending ratio":
            unit = "%"
            compared = medians
        case "per":
            compared = list(map(_ratio, medians, xs))
        case "relative scale-up":
            divisors = figures[:1] * len(columns)
            compared = [
                _ratio(_ratio(value, medians[0]), _ratio(x, xs[0]))
                for value, x in zip(medians, xs, strict=True)
            ]
    values = tuple(map(_compared, compared, [unit] * len(columns), figures, divisors))
    return Row(name=row.name, values=values, unit=unit, kind=row.kind)


def _compared(
    value: float | None, unit: Unit, figure: Figure | None, divisor: Figure | None = None
) -> Value:
    """Returns the value with the sign that the figures give it; no figure: no sign."""
    if value is None:
        return Value()
    if unit == "%" or figure is divisor:  # a spread, a share, or a figure's ratio to itself
        return Value(number=value, text=quantity(value, unit))
    signs = {_bound(figure), INVERSE[_bound(divisor)]} - {"exact"}
    if len(signs) > 1:
        return Value(text="unknown")  # the quotient of two lower bounds can be any number
    return Value(number=value, text=SIGNS[next(iter(signs), "exact")] + quantity(value, unit))


def _bound(figure: Figure | None) -> Bound:
    return "exact" if figure is None else figure.bound(median(figure.values))


def _filled(
    row: RowSection,
    experiment: Experiment,
    found: Found,
    testbeds: Mapping[str, dict[str, Any]],
) -> Row:
    """Returns a row that says how full the device's table is in each column."""
    measure = next(each for each in experiment.measure if each.name == row.of)
    values = []
    for column in experiment.columns:
        of = found.get((row.of, column.label), ColumnFigures())
        figure = main_figure(of, row.figure or COUNTED)
        count: float | None = None if figure is None else median(figure.values)
        if figure is None and not row.figure:
            testbed = merged(testbeds[column.label], measure.testbed)
            options = (*experiment.options, *measure.options, *column.options)
            count = connections_of(of.connections, testbed, options)
        each = _ratio(count, places_of(row.kind, of.connections))
        values.append(_compared(each, "times", figure))
    return Row(name=row.name, values=tuple(values), unit="times", kind=row.kind)


def main_figure(of: ColumnFigures | None, name: str, direction: str = "") -> Figure | None:
    """Returns the first figure with values that has this name, or is a main one, and, if one is
    given, this direction."""
    figures = () if of is None else of.figures.values()
    fits = (each for each in figures if (each.name == name if name else each.primary))
    towards = (each for each in fits if direction in ("", each.direction))
    return next((figure for figure in towards if figure.values), None)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _ratio(value: float | None, to: float | None) -> float | None:
    return None if value is None or not to else value / to


def _notes(cells: Sequence[CellResult]) -> Iterator[str]:
    for cell in cells:
        if cell.error:
            column = f", column {cell.column}" if cell.column else ""
            yield f"{cell.measure}{column}, round {cell.round} failed: {cell.error}"
