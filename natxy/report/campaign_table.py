"""The table of a campaign: a column for each column of the experiment, a row for each figure.

Conditions come first, then the figures, then what is computed from them, as in
draft-lencse-v6ops-transition-scalability.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from natxy.model.experiment import Experiment
from natxy.report.cell_figures import CellResult, found_figures
from natxy.report.computed_rows import computed_row
from natxy.report.figure_rows import figure_rows
from natxy.report.table_rows import CampaignTable, Row, Value
from natxy.report.testbed_keys import at


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
