"""The table of a campaign, with rows that are computed from others or show keys of the testbeds.

A row is computed from the benchmarks of a measurement, such as its scale-up, or shows the fill of
the gateway's connection tracking table: connections, and places for them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import RowKind, RowSection, merged, value_at
from natxy.model.measurement import Bound, ConnectionConditions, Figure, Unit
from natxy.model.testbed import Testbed
from natxy.report.cell_figures import CellResult, ColumnFigures, Found, found_figures, main_figure
from natxy.report.figure_rows import figure_rows, value_of
from natxy.report.numbers import SIGNS, quantity, with_bound
from natxy.report.table_rows import CampaignTable, Row, Value
from natxy.statistics import summary

# Keys whose values options of a measurement may replace, such as --frame-size.
OF_OPTIONS = {
    "traffic.direction",
    "traffic.frame_size_bytes",
    "traffic.n",
    "traffic.m",
    "traffic.left_networks",
    "traffic.right_networks",
}
Of = Callable[[ConnectionConditions], int | None]
PLACES: Mapping[RowKind, Of] = {
    "connections per hash bucket": lambda of: of.hash_size,
    "connections per entry": lambda of: of.table_entries,
}
COUNTED = "connections"  # the figure of a measurement that counts them, as in MP Table 23
# Options of a series over numbers of connections, which then are not those of the testbed.
SERIES = {"counts", "source_ports", "destination_ports"}
ENDING = "ending new connection ratio"  # the figure of an establishment (MP Table 23)
INVERSE: Mapping[Bound, Bound] = {"exact": "exact", "lower": "upper", "upper": "lower"}
Testbeds = Mapping[str, dict[str, Any]]  # by the label of a column


def at(testbed: Mapping[str, Any], path: str) -> Any:
    """Returns the value of a key, or its default where the testbed does not set it; None if there
    is neither. No default is known of [dut] and [tester], which depend on the kind of gateway, and
    of what an option may have replaced.
    """
    found = value_at(testbed, path)
    if found is not None or path.startswith("tester.") or path in OF_OPTIONS:
        return found
    return value_at(_with_defaults(testbed), path)


def _with_defaults(testbed: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the testbed with all defaults; nothing of one that this release refuses."""
    sections = {name: testbed[name] for name in Testbed.model_fields if name in testbed}
    try:
        known = Testbed.model_validate_json(json.dumps(sections, default=str))
    except ValidationError:
        return {}
    return known.model_dump(mode="json")


def places_of(kind: RowKind, conditions: Sequence[ConnectionConditions]) -> int | None:
    """Returns the buckets or entries; None: they are not known, or differ between the results."""
    return _the_one(map(PLACES[kind], conditions))


def connections_of(
    conditions: Sequence[ConnectionConditions],
    testbed: Mapping[str, Any],
    options: Iterable[str],
) -> int | None:
    """Returns the connections of phase 1; None: they are not known, or differ.

    A measurement that can have a series of them, such as tear-down, does not keep their number; it
    is the testbed's if no option of the measurement names a series.
    """
    if any(of.count is not None for of in conditions):
        return _the_one(of.count for of in conditions)
    count = testbed.get("connections", {}).get("count")
    known = conditions and isinstance(count, int) and not SERIES & set(options)
    return count if known else None


def _the_one(values: Iterable[int | None]) -> int | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


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
        rows += figure_rows(measure, columns, found)
    rows += [computed_row(row, experiment, found, testbeds) for row in experiment.row]
    return CampaignTable(
        title=experiment.title,
        columns=columns,
        rows=tuple(rows),
        notes={"": tuple(_failures(cells))},
    )


def further_table(experiment: Experiment, cells: Sequence[CellResult]) -> CampaignTable:
    """Returns the figures that measurements report in addition to their main ones."""
    columns = tuple(column.label for column in experiment.columns)
    found = found_figures(experiment, cells)
    rows = [
        row
        for measure in experiment.measure
        for row in figure_rows(measure, columns, found, primary=False)
    ]
    return CampaignTable(
        title=f"{experiment.title}: further figures", columns=columns, rows=tuple(rows)
    )


def _condition(value: Any) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Value(number=float(value), text=f"{value:,}")
    return Value(text="" if value is None else str(value))


def _failures(cells: Sequence[CellResult]) -> Iterator[str]:
    for cell in cells:
        if cell.error:
            column = f", column {cell.column}" if cell.column else ""
            yield f"{cell.measure}{column}, round {cell.round} failed: {cell.error}"
