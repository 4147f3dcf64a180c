"""Notes under a campaign's table, which name the columns that they are about."""

from collections.abc import Iterator, Sequence

from natxy.model.experiment import Experiment
from natxy.model.measurement import Measurement, TrialCounts
from natxy.report.cell_figures import CellResult


def campaign_notes(
    experiment: Experiment, columns: Sequence[str], cells: Sequence[CellResult]
) -> list[str]:
    """Returns the unit of the rates, deviations from the RFCs, and remarks.

    What is true of all columns that were measured names none.
    """
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    about: dict[tuple[str, str], set[str]] = {}
    invalid: dict[str, list[str]] = {}
    measured: dict[str, set[str]] = {}
    for cell in cells:
        if cell.results:
            measured.setdefault(cell.measure, set()).add(cell.column)
        counts = TrialCounts.total(result.counts for result in cell.results)
        if counts.invalid_trials:
            share = f"{counts.invalid_percent:.0f} % in {cell.column}" if cell.column else ""
            invalid.setdefault(cell.measure, []).append(share or counts.invalid_share)
        for result in cell.results:
            for note in _notes(result, summed=cell.measure in both):
                about.setdefault((cell.measure, note), set()).add(cell.column)
    return [
        *(
            f"{measure}{_named(columns, of, all_of=measured[measure])}: {note}"
            for (measure, note), of in about.items()
        ),
        *(
            f"{measure}: invalid trials: {'; '.join(shares)}."
            for measure, shares in invalid.items()
        ),
    ]


def _notes(result: Measurement, *, summed: bool) -> Iterator[str]:
    units = {figure.unit for figure in result.figures if figure.primary}
    if "fps" in units:
        yield f"rates in frames a second, {_directions(result, summed=summed)}."
    if "cps" in units:
        yield "rates in connections a second."
    yield from (f"deviates from {result.reference}: {each}" for each in result.deviations)
    yield from result.remarks


def _directions(result: Measurement, *, summed: bool) -> str:
    if result.conditions.direction != "both":
        return result.conditions.direction
    return "as the sum of both directions" if summed else "per direction"


def _named(columns: Sequence[str], of: set[str], *, all_of: set[str]) -> str:
    if of == all_of:
        return ""
    return f", {columns_named([column for column in columns if column in of])}"


def columns_named(labels: Sequence[str]) -> str:
    """Returns "columns 84 B; 512 B": a label may have a comma, but hardly a semicolon."""
    return f"column{'s' * (len(labels) > 1)} {'; '.join(labels)}"
