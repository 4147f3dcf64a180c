"""Notes under a campaign's table, which name the columns or the testbeds that they are about."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from natxy.model.coded import duration
from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Measurement, TrialCounts
from natxy.model.reason import Explanation
from natxy.model.remark import Remark, Topic
from natxy.report.cell_figures import CellResult
from natxy.report.measurement_notes import connection_notes, count_notes, device_notes
from natxy.report.table_rows import CampaignTable, Notes, Row, Value

Places = dict[str, set[str]]  # columns, by measurement
DEVIATIONS, NOTES = "Deviations from the RFCs", "Notes"
# The table has the errors of its figures; a deviation says that a rate was given.
SAID_ELSEWHERE = {Topic.TOO_LONG, Topic.WRONG_EITHER_WAY, Topic.LOSS_ERROR, Topic.RATE_GIVEN}
ONE_BY_ONE = {each.code for each in (Topic.FEW_VALID, Topic.FEW_VALID_BY_RETRY_TIME)}


def campaign_notes(columns: Sequence[str], cells: Sequence[CellResult]) -> Notes:
    """Returns the deviations from the RFCs and what else was said, each kind once.

    What is true of all columns that were measured names none.
    """
    said: dict[tuple[str, str], dict[str, Places]] = {}
    measured: Places = {}
    for (measure, column), results in _by_place(cells).items():
        measured.setdefault(measure, set()).add(column)
        for heading, kind, text in _said(results):
            places = said.setdefault((heading, kind), {}).setdefault(text, {})
            places.setdefault(measure, set()).add(column)
    found: dict[str, list[str]] = {}
    for (heading, kind), texts in said.items():
        named = {text: _place(of, measured, columns) for text, of in texts.items()}
        apart = [{text: place} for text, place in named.items()] if kind in ONE_BY_ONE else [named]
        found.setdefault(heading, []).extend(map(_joined, apart))
    return {heading: tuple(notes) for heading, notes in found.items()}


def _place(of: Places, measured: Places, columns: Sequence[str]) -> str:
    """Returns the measurements that a note is about, and of each the columns; empty: all."""
    if of == measured:
        return ""
    by_columns: dict[str, list[str]] = {}
    for measure, some in of.items():
        by_columns.setdefault(_named(columns, some, all_of=measured[measure]), []).append(measure)
    return "; ".join(f"{', '.join(measures)}{named}" for named, measures in by_columns.items())


def _joined(places: Mapping[str, str]) -> str:
    """Returns notes of one kind as one, each with its place: the words with which all begin, up to
    a bracket, stand once."""
    if len(places) == 1:
        ((text, place),) = places.items()
        return f"{place}: {text}" if place else _capital(text)
    words = [text.rstrip(".").split() for text in places]
    same = takewhile(
        lambda each: len(set(each)) == 1 and not each[0].startswith("("), zip(*words, strict=False)
    )
    begins = sum(1 for _ in same)
    ends = [
        " ".join((*of[begins:], *([f"[{place}]"] if place else [])))
        for of, place in zip(words, places.values(), strict=True)
    ]
    return _capital(f"{' '.join(words[0][:begins])} {'; '.join(filter(None, ends))}.".strip())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _by_place(cells: Sequence[CellResult]) -> dict[tuple[str, str], list[Measurement]]:
    """Returns the results of all rounds, by measure and column; a failed cell has none."""
    places: dict[tuple[str, str], list[Measurement]] = {}
    for cell in cells:
        if cell.results:
            places.setdefault((cell.measure, cell.column), []).extend(cell.results)
    return places


def _said(results: Sequence[Measurement]) -> Iterator[tuple[str, str, str]]:
    """Yields the heading, the kind and the text of what is said of the results of a place."""
    counts = TrialCounts.total(result.counts for result in results)
    for result in results:
        conditions = result.conditions
        for deviation in result.deviations:
            yield DEVIATIONS, deviation.code.code, str(deviation)
        for remark in result.remarks:
            if remark.code not in SAID_ELSEWHERE:
                yield NOTES, remark.code.code, str(_without_advice(remark))
        for text in (
            *conditions.formats,
            *connection_notes(conditions.connections, counts),
            *device_notes((conditions.left_media, conditions.right_media)),
        ):
            yield NOTES, text, text
    for text in count_notes(counts):
        yield NOTES, text, text


def _without_advice(remark: Remark) -> Remark:
    """Returns a remark as a report has it, whose reader does not measure."""
    facts = {
        name: fact.model_copy(update={"advice": None}) if isinstance(fact, Explanation) else fact
        for name, fact in remark.facts.items()
    }
    return remark.model_copy(update={"facts": facts})


def counted_table(columns: Sequence[str], cells: Sequence[CellResult]) -> CampaignTable:
    """Returns what the trials of each measurement counted, over all rounds."""
    places = _by_place(cells)
    counted = {
        place: TrialCounts.total(result.counts for result in results)
        for place, results in places.items()
    }
    rows = []
    for measure in dict.fromkeys(measure for measure, _ in places):
        of = [counted.get((measure, column), TrialCounts()) for column in columns]
        for what, share_of in SHARES:
            texts = [share_of(counts) for counts in of]
            if any(texts):
                values = tuple(Value(text=text) for text in texts)
                rows.append(Row(name=f"{measure}: {what}", values=values, group=measure))
    return CampaignTable(title="What the trials counted", columns=tuple(columns), rows=tuple(rows))


def _invalid(counts: TrialCounts) -> str:
    return f"{counts.invalid_trials:,} of {counts.trials:,}" if counts.invalid_trials else ""


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
    ("gaps of the numbering, all trials", _gaps),
    ("invalid trials", _invalid),
    ("gateway without its CPU, valid trials", _away),
    ("senders paused, valid trials", _paused),
    ("largest lateness of a frame, valid trials", _late),
)


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
