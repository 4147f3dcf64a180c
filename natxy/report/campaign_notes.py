"""Notes under a campaign's table, which name the columns that they are about."""

from collections.abc import Iterator, Sequence

from natxy.model.experiment import Experiment
from natxy.model.measurement import Measurement
from natxy.report.cell_figures import CellResult


def rate_notes(experiment: Experiment, cells: Sequence[CellResult]) -> list[str]:
    """Says in what the rates of each measurement are, which the table's rows do not."""
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    notes = (
        f"{cell.measure}: {words}."
        for cell in cells
        for result in cell.results
        if (words := _rates(result, summed=cell.measure in both))
    )
    return list(dict.fromkeys(notes))


def _rates(result: Measurement, *, summed: bool) -> str:
    units = {figure.unit for figure in result.figures if figure.primary}
    words = [_frames(result, summed=summed)] if "fps" in units else []
    if "cps" in units:
        words.append("connections a second")
    return f"rates in {', and '.join(words)}" if words else ""


def _frames(result: Measurement, *, summed: bool) -> str:
    if result.conditions.direction != "both":
        return f"frames a second, {result.conditions.direction}"
    directions = "as the sum of both directions" if summed else "per direction"
    return f"frames a second, {directions}"


def result_notes(columns: Sequence[str], cells: Sequence[CellResult]) -> list[str]:
    """Returns deviations from the RFCs and remarks; what is true of all columns names none."""
    about: dict[tuple[str, str], set[str]] = {}
    measured: dict[str, set[str]] = {}
    for cell in cells:
        if cell.results:
            measured.setdefault(cell.measure, set()).add(cell.column)
        for result in cell.results:
            for note in _notes(result):
                about.setdefault((cell.measure, note), set()).add(cell.column)
    return [
        f"{measure}{_named(columns, of, all_of=measured[measure])}: {note}"
        for (measure, note), of in about.items()
    ]


def _notes(result: Measurement) -> Iterator[str]:
    yield from (f"deviates from {result.reference}: {each}" for each in result.deviations)
    yield from result.remarks


def _named(columns: Sequence[str], of: set[str], *, all_of: set[str]) -> str:
    if of == all_of:
        return ""
    return f", {columns_named([column for column in columns if column in of])}"


def columns_named(labels: Sequence[str]) -> str:
    """Returns "columns 84 B; 512 B": a label may have a comma, but hardly a semicolon."""
    return f"column{'s' * (len(labels) > 1)} {'; '.join(labels)}"
