"""What tests of campaign notes share with others."""

from natxy.model.measurement import Measurement
from natxy.report.campaign_notes import DEVIATIONS, campaign_notes, counted_table
from natxy.report.cell_figures import CellResult


def cells_of(*results: Measurement) -> list[CellResult]:
    """Returns a cell for each result, a column each."""
    return [
        CellResult(
            column=result.conditions.dut, measure=result.procedure, round=1, results=(result,)
        )
        for result in results
    ]


def report_notes(*results: Measurement) -> list[str]:
    """Returns the notes of a report of these results, a column each."""
    cells = cells_of(*results)
    found = campaign_notes([cell.column for cell in cells], cells)
    return [note for notes in found.values() for note in notes]


def report_deviations(*results: Measurement) -> tuple[str, ...]:
    """Returns those of them that are deviations from the RFCs."""
    cells = cells_of(*results)
    return campaign_notes([cell.column for cell in cells], cells)[DEVIATIONS]


def counted(columns: tuple[str, ...], cells: list[CellResult]) -> dict[str, list[str]]:
    """Returns the rows of what the trials counted, by their names."""
    return {row.name: [of.text for of in row.values] for row in counted_table(columns, cells).rows}
