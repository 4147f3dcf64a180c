"""Rows that are computed from the benchmarks of a measurement, such as its scale-up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import RowSection
from natxy.model.measurement import Bound, Figure, Unit
from natxy.model.testbed_changes import merged
from natxy.report.cell_figures import ColumnFigures, Found, main_figure
from natxy.report.figure_rows import value_of
from natxy.report.numbers import SIGNS, quantity, with_bound
from natxy.report.table_fill import COUNTED, PLACES, connections_of, places_of
from natxy.report.table_rows import Row, Value
from natxy.report.testbed_keys import at
from natxy.statistics import summary

ENDING = "ending new connection ratio"  # the figure of an establishment (MP Table 23)
INVERSE: Mapping[Bound, Bound] = {"exact": "exact", "lower": "upper", "upper": "lower"}
Testbeds = Mapping[str, dict[str, Any]]  # by the label of a column


def computed_row(row: RowSection, experiment: Experiment, found: Found, testbeds: Testbeds) -> Row:
    if row.kind in PLACES:
        return _filled(row, experiment, found, testbeds)
    return _computed(row, [column.label for column in experiment.columns], found, testbeds)


def _computed(row: RowSection, columns: Sequence[str], found: Found, testbeds: Testbeds) -> Row:
    name = ENDING if row.kind == "ending ratio" else row.figure
    figures = [main_figure(found.get((row.of, column)), name) for column in columns]
    benchmarks = list(map(_benchmark, figures))
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
            compared = [None, *map(_ratio, benchmarks[1:], benchmarks)]
        case "ratio":
            divisors = [main_figure(found.get((row.to, column)), "") for column in columns]
            compared = list(map(_ratio, benchmarks, map(_benchmark, divisors)))
        case "figure" | "ending ratio":
            return _of_figure(row, figures)
        case "per":
            unit = next((figure.unit for figure in figures if figure is not None), unit)
            compared = list(map(_ratio, benchmarks, xs))
        case "relative scale-up":
            divisors = figures[:1] * len(columns)
            compared = [
                _ratio(_ratio(value, benchmarks[0]), _ratio(x, xs[0]))
                for value, x in zip(benchmarks, xs, strict=True)
            ]
    values = tuple(map(_compared, compared, [unit] * len(columns), figures, divisors))
    return Row(name=row.name, values=values, unit=unit, kind=row.kind)


def _of_figure(row: RowSection, figures: Sequence[Figure | None]) -> Row:
    """Returns the row of a figure that the procedure reports beside its main ones."""
    units = {figure.unit for figure in figures if figure is not None}
    values = tuple(replace(value_of(figure), spread=None) for figure in figures)
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


def _benchmark(figure: Figure | None) -> float | None:
    return None if figure is None else with_bound(figure)[0]


def _bound(figure: Figure | None) -> Bound:
    return "exact" if figure is None else with_bound(figure)[1]


def _filled(row: RowSection, experiment: Experiment, found: Found, testbeds: Testbeds) -> Row:
    """Returns a row that says how full the gateway's table is in each column."""
    measure = next(each for each in experiment.measure if each.name == row.of)
    values = []
    for column in experiment.columns:
        of = found.get((row.of, column.label), ColumnFigures())
        figure = main_figure(of, row.figure or COUNTED)
        count = _benchmark(figure)
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
