"""Notes under a campaign's table, which name the columns or the testbeds that they are about."""

from collections.abc import Callable, Iterator, Sequence

from natxy.model.disturbance import Disturbance
from natxy.model.duration import duration
from natxy.model.experiment import Experiment
from natxy.model.measurement import Measurement, TrialCounts
from natxy.report.cell_figures import CellResult, rate_words
from natxy.report.measurement_notes import connection_notes, count_notes, device_notes


def campaign_notes(
    experiment: Experiment, columns: Sequence[str], cells: Sequence[CellResult]
) -> list[str]:
    """Returns the unit of the rates, deviations from the RFCs, remarks, and what trials counted.

    What is true of all columns that were measured names none.
    """
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    about: dict[tuple[str, str], set[str]] = {}
    measured: dict[str, set[str]] = {}
    for (measure, column), results in _by_place(cells).items():
        measured.setdefault(measure, set()).add(column)
        for note in _notes_of(results, summed=measure in both):
            about.setdefault((measure, note), set()).add(column)
    said: dict[tuple[str, str], list[str]] = {}
    for (measure, note), of in about.items():
        place = _named(columns, of, all_of=measured[measure])
        said.setdefault((place, note), []).append(measure)
    return [
        *(f"{', '.join(measures)}{place}: {note}" for (place, note), measures in said.items()),
        *_shares(cells),
    ]


def _by_place(cells: Sequence[CellResult]) -> dict[tuple[str, str], list[Measurement]]:
    """Returns the results of all rounds, by measure and column; a failed cell has none."""
    places: dict[tuple[str, str], list[Measurement]] = {}
    for cell in cells:
        if cell.results:
            places.setdefault((cell.measure, cell.column), []).extend(cell.results)
    return places


def _notes_of(results: Sequence[Measurement], *, summed: bool) -> Iterator[str]:
    counts = TrialCounts.total(result.counts for result in results)
    for result in results:
        conditions = result.conditions
        yield from _notes(result, summed=summed)
        yield from conditions.formats
        yield from connection_notes(conditions.connections, counts)
        yield from device_notes((conditions.left_media, conditions.right_media))
    yield from count_notes(counts)


def _shares(cells: Sequence[CellResult]) -> Iterator[str]:
    """Yields a note for each measure with what each column counted, over all rounds."""
    counted: dict[str, dict[str, TrialCounts]] = {}
    for (measure, column), results in _by_place(cells).items():
        total = TrialCounts.total(result.counts for result in results)
        counted.setdefault(measure, {})[column] = total
    for measure, columns in counted.items():
        for what, share_of in SHARES:
            shares = [
                f"{share}{f' in {name}' * bool(name)}"
                for name, counts in columns.items()
                if (share := share_of(counts))
            ]
            if shares:
                yield f"{measure}: {what}: {'; '.join(shares)}."


def _invalid(counts: TrialCounts) -> str:
    return f"{counts.invalid_percent:.0f} %" if counts.invalid_trials else ""


def _away(counts: TrialCounts) -> str:
    of = counts.disturbance
    return f"{_of_sending(of.away_ns, of)}, {duration(of.longest_away_ns)} at most" * bool(
        of.away_ns
    )


def _paused(counts: TrialCounts) -> str:
    return _of_sending(counts.disturbance.paused_ns, counts.disturbance)


def _late(counts: TrialCounts) -> str:
    return duration(counts.worst_lateness_ns) if counts.worst_lateness_ns else ""


def _of_sending(time_ns: float, of: Disturbance) -> str:
    return f"{time_ns / of.sending_ns * 100:.2g} %" if time_ns and of.sending_ns else ""


def _counted(count: int) -> str:
    return f"{count:,}" if count else ""


def _gaps(counts: TrialCounts) -> str:
    """Returns the gaps and the lost frames, both of which RFC 2544 section 10 asks for."""
    return f"{counts.gaps:,} with {counts.lost:,} lost frames" if counts.gaps else ""


SHARES: tuple[tuple[str, Callable[[TrialCounts], str]], ...] = (
    ("misdelivered frames", lambda counts: _counted(counts.misdelivered)),
    ("duplicated frames", lambda counts: _counted(counts.duplicated)),
    ("reordered frames", lambda counts: _counted(counts.reordered)),
    ("gaps of the numbering, over all trials", _gaps),
    ("invalid trials", _invalid),
    ("time in which the gateway was without its CPU, in valid trials", _away),
    ("time in which the tester's senders paused, in valid trials", _paused),
    ("largest lateness of a frame, in valid trials", _late),
)


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
    yield from map(str, result.remarks)


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
