"""The table of a campaign: a column for each column of the experiment, a row for each figure.

Its layout is that of draft-lencse-v6ops-transition-scalability: conditions first, then the figures
with median, minimum and maximum, then what is computed from them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import MeasureSection, RowSection
from natxy.model.measurement import Bound, Figure, Unit
from natxy.model.testbed_changes import merged
from natxy.report.cell_figures import CellResult, ColumnFigures, Found, found_figures, main_figure
from natxy.report.numbers import ARROWS, SIGNS, quantity
from natxy.report.table_fill import COUNTED, PLACES, connections_of, places_of
from natxy.report.testbed_keys import at
from natxy.statistics import median, summary


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value of the table, as a number and as text; no number: an error, or nothing measured."""

    number: float | None = None
    text: str = ""
    bound: Bound = "exact"


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    values: tuple[Value, ...]  # one for each column
    unit: str = ""
    group: str = ""  # the measurement; empty: a condition, or computed
    main: bool = False  # the benchmark of a main figure
    series: str = ""  # what tells the results of a series apart: "84 B, 50 % foreground"
    rates: str = ""  # which directions a rate counts: "per direction"
    kind: str = ""  # of a computed row: "relative scale-up"


@dataclass(frozen=True, kw_only=True)
class CampaignTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    warning: str = ""  # before anything else


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


def _condition(value: Any) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Value(number=float(value), text=f"{value:,}")
    return Value(text="" if value is None else str(value))


ENDING = "ending new connection ratio"  # the figure of an establishment (MP Table 23)
INVERSE: Mapping[Bound, Bound] = {"exact": "exact", "lower": "upper", "upper": "lower"}
RATES: tuple[Unit, ...] = ("fps", "cps")  # what a search finds
Statistic = Callable[[Sequence[float]], float]
COMPUTE: Mapping[str, Statistic] = {
    "median": median,
    "mean": lambda values: summary(values).mean,
    "min": min,
    "max": max,
    "standard deviation": lambda values: summary(values).standard_deviation,
}
SHOWN = {  # by the statistic that is the benchmark
    "median": ("median", "min", "max"),
    "mean": ("mean", "min", "max", "standard deviation"),  # RFC 9004 section 6.4
}


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
        name = _name(measure, known, series=key[0], at=_point(key[-1], figures))
        rates = next((each.rates[key] for each in of if each.rates.get(key)), "")
        for statistic in SHOWN[known.statistic]:
            yield Row(
                name=f"{name} {statistic}",
                values=tuple(
                    _value(figure, statistic, each.error)
                    for figure, each in zip(figures, of, strict=True)
                ),
                unit=known.unit,
                rates=rates,
                main=statistic == known.statistic,
                group=measure.name,
                series=key[0],
            )
        yield Row(
            name=f"{name} n",
            values=tuple(_count(figure) for figure in figures),
            group=measure.name,
            series=key[0],
        )
        errors = [
            _error(figure, each.search_errors.get(key[0]))
            for figure, each in zip(figures, of, strict=True)
        ]
        if any(errors):
            yield Row(
                name=f"{name} error",
                values=tuple(_plain(error, known.unit) for error in errors),
                unit=known.unit,
                rates=rates,
                group=measure.name,
                series=key[0],
            )


def _count(figure: Figure | None) -> Value:
    """Returns the number of values, which differs: a search may end before all its repetitions."""
    if figure is None:
        return Value()
    n = len(figure.values)
    return Value(number=float(n), text=f"{n:,}")


def _plain(number: float | None, unit: Unit) -> Value:
    return Value() if number is None else Value(number=number, text=quantity(number, unit))


def _error(figure: Figure | None, of_search: float | None) -> float | None:
    """Returns the largest error of a figure's values: what its timing can have caused, or how far
    the search for the rate was from a rate that fails; above a bound, no rate has failed."""
    if figure is None or not figure.values:
        return None
    if figure.errors:
        return max(figure.errors)
    return of_search if figure.unit in RATES and figure.benchmark_bound == "exact" else None


def _without_series(of: ColumnFigures) -> ColumnFigures:
    """Returns the figures by keys without the point of a series, if the column has only one.

    So the tear-down rates of 1,000 and of 2,000 connections, in two columns, are in one row.
    """
    points = {figure.at for figure in of.figures.values()}
    if len(points) != 1:
        return of
    figures = {(*key[:-1], ""): figure for key, figure in of.figures.items()}
    rates = {(*key[:-1], ""): words for key, words in of.rates.items()}
    return replace(of, figures=figures, rates=rates)


def _point(at: str, figures: Sequence[Figure | None]) -> str:
    """Returns the point of a row, with what was found there if it is the same in all columns."""
    shared = {figure.found for figure in figures if figure is not None}
    return ", ".join(word for word in (at, *(shared if len(shared) == 1 else ())) if word)


def _name(measure: MeasureSection, figure: Figure, *, series: str, at: str) -> str:
    place = ", ".join(filter(None, (series, at)))
    words = (ARROWS[figure.direction], measure.label, figure.name, place)
    return " ".join(word for word in words if word)


def _value(figure: Figure | None, statistic: str, error: str) -> Value:
    if figure is None or not figure.values:
        missing = "" if figure is None else figure.missing
        return Value(text=missing or ("failed" if error else ""))
    number = COMPUTE[statistic](figure.values)
    bound = _bound_of(figure, statistic, number)
    text = SIGNS[bound] + quantity(number, figure.unit)
    return Value(number=number, text=f"({text})" if figure.uncertain else text, bound=bound)


def _bound_of(figure: Figure, statistic: str, number: float) -> Bound:
    if statistic == "standard deviation":
        return "exact"
    return figure.mean_bound if statistic == "mean" else figure.bound(number)


def _computed(
    row: RowSection,
    columns: Sequence[str],
    found: Found,
    testbeds: Mapping[str, dict[str, Any]],
) -> Row:
    name = ENDING if row.kind == "ending ratio" else row.figure
    figures = [main_figure(found.get((row.of, column)), name) for column in columns]
    medians = [None if figure is None else figure.benchmark for figure in figures]
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
            to = [None if figure is None else figure.benchmark for figure in divisors]
            compared = list(map(_ratio, medians, to))
        case "figure" | "ending ratio":
            return _of_figure(row, figures)
        case "per":
            unit = next((figure.unit for figure in figures if figure is not None), unit)
            compared = list(map(_ratio, medians, xs))
        case "relative scale-up":
            divisors = figures[:1] * len(columns)
            compared = [
                _ratio(_ratio(value, medians[0]), _ratio(x, xs[0]))
                for value, x in zip(medians, xs, strict=True)
            ]
    values = tuple(map(_compared, compared, [unit] * len(columns), figures, divisors))
    return Row(name=row.name, values=values, unit=unit, kind=row.kind)


def _of_figure(row: RowSection, figures: Sequence[Figure | None]) -> Row:
    """Returns the row of a figure that the procedure reports beside its main ones."""
    units = {figure.unit for figure in figures if figure is not None}
    values = tuple(
        Value() if figure is None else _value(figure, figure.statistic, "") for figure in figures
    )
    return Row(name=row.name, values=values, unit=next(iter(units), ""), kind=row.kind)


def _compared(
    value: float | None, unit: Unit, figure: Figure | None, divisor: Figure | None = None
) -> Value:
    """Returns the value with the sign that the figures give it; no figure: no sign."""
    if value is None:
        return Value()
    if unit == "%" or figure is divisor:  # a spread, a share, or a figure's ratio to itself
        return Value(number=value, text=quantity(value, unit))
    signs: set[Bound] = {_bound(figure), INVERSE[_bound(divisor)]} - {"exact"}
    if len(signs) > 1:
        return Value(text="unknown")  # the quotient of two lower bounds can be any number
    bound: Bound = next(iter(signs), "exact")
    return Value(number=value, text=SIGNS[bound] + quantity(value, unit), bound=bound)


def _bound(figure: Figure | None) -> Bound:
    return "exact" if figure is None else figure.benchmark_bound


def _filled(
    row: RowSection,
    experiment: Experiment,
    found: Found,
    testbeds: Mapping[str, dict[str, Any]],
) -> Row:
    """Returns a row that says how full the gateway's table is in each column."""
    measure = next(each for each in experiment.measure if each.name == row.of)
    values = []
    for column in experiment.columns:
        of = found.get((row.of, column.label), ColumnFigures())
        figure = main_figure(of, row.figure or COUNTED)
        count: float | None = None if figure is None else figure.benchmark
        if figure is None and not row.figure:
            testbed = merged(testbeds[column.label], measure.testbed)
            options = (*experiment.options, *measure.options, *column.options)
            count = connections_of(of.connections, testbed, options)
        each = _ratio(count, places_of(row.kind, of.connections))
        values.append(_compared(each, "times", figure))
    return Row(name=row.name, values=tuple(values), unit="times", kind=row.kind)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _ratio(value: float | None, to: float | None) -> float | None:
    return None if value is None or not to else value / to


def _notes(cells: Sequence[CellResult]) -> Iterator[str]:
    for cell in cells:
        if cell.error:
            column = f", column {cell.column}" if cell.column else ""
            yield f"{cell.measure}{column}, round {cell.round} failed: {cell.error}"
