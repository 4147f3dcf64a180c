"""Notes under a campaign's table, which name the columns or the testbeds that they are about."""

from collections.abc import Iterator, Sequence

from natxy.model.experiment import Experiment
from natxy.model.measurement import Measurement, TrialCounts
from natxy.report.cell_figures import CellResult, rate_words


def campaign_notes(
    experiment: Experiment, columns: Sequence[str], cells: Sequence[CellResult]
) -> list[str]:
    """Returns the unit of the rates, deviations from the RFCs, and remarks.

    What is true of all columns that were measured names none.
    """
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    about: dict[tuple[str, str], set[str]] = {}
    measured: dict[str, set[str]] = {}
    for cell in cells:
        if cell.results:
            measured.setdefault(cell.measure, set()).add(cell.column)
        for result in cell.results:
            for note in _notes(result, summed=cell.measure in both):
                about.setdefault((cell.measure, note), set()).add(cell.column)
    return [
        *(
            f"{measure}{_named(columns, of, all_of=measured[measure])}: {note}"
            for (measure, note), of in about.items()
        ),
        *_invalid_trials(cells),
    ]


def _invalid_trials(cells: Sequence[CellResult]) -> Iterator[str]:
    """Yields a note for each measure with the share of each column, over all rounds."""
    counted: dict[str, dict[str, list[TrialCounts]]] = {}
    for cell in cells:
        column = counted.setdefault(cell.measure, {}).setdefault(cell.column, [])
        column += [result.counts for result in cell.results]
    for measure, columns in counted.items():
        totals = {name: TrialCounts.total(counts) for name, counts in columns.items()}
        shares = [
            f"{total.invalid_percent:.0f} %{f' in {name}' * bool(name)}"
            for name, total in totals.items()
            if total.invalid_trials
        ]
        if shares:
            yield f"{measure}: invalid trials: {'; '.join(shares)}."


def _notes(result: Measurement, *, summed: bool) -> Iterator[str]:
    main = [figure for figure in result.figures if figure.primary]
    units = {figure.unit for figure in main}
    rates = (rate_words(result.conditions, figure, summed=summed) for figure in main)
    for words in dict.fromkeys(filter(None, rates)):
        yield f"rates in frames a second, {words}."
    if any(figure.statistic == "mean" for figure in main):
        yield "the benchmark is the mean."
    if "cps" in units:
        yield "rates in connections a second."
    yield from (f"deviates from {result.reference}: {each}" for each in result.deviations)
    yield from result.remarks


def _named(columns: Sequence[str], of: set[str], *, all_of: set[str]) -> str:
    if of == all_of:
        return ""
    return f", {columns_named([column for column in columns if column in of])}"


def columns_named(labels: Sequence[str]) -> str:
    """Returns "columns 84 B; 512 B": a label may have a comma, but hardly a semicolon."""
    return f"column{'s' * (len(labels) > 1)} {'; '.join(labels)}"


def testbed_notes(cells: Sequence[CellResult]) -> Iterator[str]:
    """Yields a sentence for each testbed; none if one has measured all cells."""
    found: dict[tuple[int, str], dict[str, list[int]]] = {}
    for cell in cells:
        if cell.testbed and cell.host:
            title = ", ".join(filter(None, (cell.measure, cell.column)))
            rounds = found.setdefault((cell.testbed, cell.host), {}).setdefault(title, [])
            rounds.append(cell.round)
    if len(found) < 2:
        return
    several = any(cell.round > 1 for cell in cells)
    for (number, host), titles in sorted(found.items()):
        measured = (_titled(title, rounds if several else ()) for title, rounds in titles.items())
        yield f"Measured by testbed {number}, on {host}: {'; '.join(measured)}."


def _titled(title: str, rounds: Sequence[int]) -> str:
    if not rounds:
        return title
    return f"{title} (round{'s' * (len(rounds) > 1)} {', '.join(map(str, sorted(rounds)))})"
