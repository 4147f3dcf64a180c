"""A published table beside what a campaign measured: in each column both values and their ratio.

Sentences say which published figures have no measured one beside them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import PairSection
from natxy.model.measurement import Figure, Unit
from natxy.model.published import Published
from natxy.model.published_values import BY_COLUMN
from natxy.model.published_values import Row as PublishedRow
from natxy.report.campaign_notes import columns_named
from natxy.report.cell_figures import ColumnFigures, Found, main_figure
from natxy.report.numbers import SIGNS, with_bound
from natxy.report.table_rows import CampaignTable, Row, Value
from natxy.statistics import P1, P99, median, percentile, summary

Statistic = Callable[[Sequence[float]], float]
STATISTICS: Mapping[str, Statistic] = {
    "median": median,
    "minimum": min,
    "maximum": max,
    "mean": lambda values: summary(values).mean,
    "standard deviation": lambda values: summary(values).standard_deviation,
    "P1": lambda values: percentile(values, P1),
    "P99": lambda values: percentile(values, P99),
}
Gap = tuple[str, str]  # column, and why it has no figure
# What one of the first unit is in the second; units of the same kind need no entry.
FACTORS: Mapping[tuple[Unit, str], float] = {
    ("ns", "ms"): 1e-6,
    ("ns", "s"): 1e-9,
    ("s", "ms"): 1e3,
}


def beside(
    experiment: Experiment, shown: Sequence[str], published: Published, found: Found
) -> CampaignTable:
    """Returns a table of the columns `shown`, with three rows for each pair of the experiment."""
    source = published.source
    name = f"{source.document} {source.kind.title()} {source.number}"
    rows: list[Row] = []
    for pair, label in labels_of(experiment, published).items():
        numbers = numbers_of(pair, experiment)
        columns = [(numbers[each], found.get((pair.of, each))) for each in shown]
        rows += _rows(pair, label, published, columns)
    return CampaignTable(
        title=f"{name}, and measured here",
        columns=tuple(shown),
        rows=tuple(rows),
        notes={
            "": (
                *gap_notes(experiment, shown, published, found),
                *_notes(experiment, published),
            )
        },
    )


def labels_of(experiment: Experiment, published: Published) -> dict[PairSection, str]:
    """Returns the printed label of each pair's row. Some documents print one label in several
    parts of a table: then the measurement, or what else differs, stands behind it."""
    groups: dict[str, list[PairSection]] = {}
    for pair in _pairs(experiment):
        groups.setdefault(published.rows[pair.row].label, []).append(pair)
    words = {
        pair: f"{label} ({told})" if told else label
        for label, pairs in groups.items()
        for pair, told in zip(pairs, _told_apart(pairs), strict=True)
    }
    return {pair: words[pair] for pair in _pairs(experiment)}


def _told_apart(pairs: Sequence[PairSection]) -> list[str]:
    """Returns what tells pairs of one label apart; empty: there is only one."""
    parts = [(pair.of, pair.figure, pair.direction) for pair in pairs]
    differ = [len(set(words)) > 1 for words in zip(*parts, strict=True)]
    told = [", ".join(filter(None, compress(each, differ))) for each in parts]
    return told if len(set(told)) == len(pairs) else [pair.row for pair in pairs]


def _rows(
    pair: PairSection,
    label: str,
    published: Published,
    columns: Sequence[tuple[int, ColumnFigures | None]],
) -> Iterator[Row]:
    """Yields what was published, what was measured and the ratio. `columns` has, of each column
    that is shown, the number of the published one, and what was measured."""
    row, values = published.rows[pair.row], published.numbers(pair.row)
    theirs: list[Value] = []
    ours: list[Value] = []
    ratios: list[Value] = []
    for number, found in columns:
        unit = _unit(row, published, number)
        value = values[number - 1] if number else None
        theirs.append(Value() if value is None else Value(number=value, text=_text(value)))
        figure = main_figure(found, pair.figure, pair.direction)
        ours.append(_ours(figure, row.statistic, unit))
        ratios.append(_ratio(ours[-1], theirs[-1]))
    unit = row.unit if row.unit != BY_COLUMN else ""
    yield Row(name=f"{label}, published", values=tuple(theirs), unit=unit, group=pair.of)
    yield Row(name=f"{label}, here", values=tuple(ours), unit=unit, group=pair.of)
    yield Row(name=f"{label}, here / published", values=tuple(ratios), unit="times")


def _unit(row: PublishedRow, published: Published, number: int) -> str:
    if row.unit != BY_COLUMN or not number:
        return row.unit
    return str(published.columns["unit"].values[number - 1])


def _ours(figure: Figure | None, statistic: str, unit: str) -> Value:
    if figure is None:
        return Value()
    of = statistic or figure.statistic
    value = STATISTICS[of](figure.values)
    bound = figure.mean_bound if of == "mean" else figure.bound(value)
    if of == figure.statistic:
        value, bound = with_bound(figure)  # as in the campaign's own table
    number = value * FACTORS.get((figure.unit, unit), 1.0)
    text = SIGNS[bound] + _text(number)
    return Value(number=number, text=f"({text})" if figure.uncertain else text, bound=bound)


def _ratio(ours: Value, theirs: Value) -> Value:
    """Returns the ratio to what was published, which is a bound if ours is one."""
    if ours.number is None or not theirs.number:
        return Value()
    ratio = ours.number / theirs.number
    return Value(number=ratio, text=f"{SIGNS[ours.bound]}{ratio:.3g}", bound=ours.bound)


def _text(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _notes(experiment: Experiment, published: Published) -> Iterator[str]:
    source = published.source
    yield f"{source.author}: {source.title}. {source.published}. Section {source.section}."
    for device in published.devices.values():
        version = f" {device.version}" if device.version else ""
        cores = f", {device.cores} cores" if device.cores else ""
        yield (
            f"Published: {device.name}{version}{cores}, {device.operating_system}; {device.machine}"
        )
    yield f"Published with {published.tester.program}, DPDK {published.tester.dpdk}."
    yield f"Rates of the document are those of the {_rates(published)}."
    if published.not_stated:
        yield f"The document does not state: {', '.join(published.not_stated)}."
    for key, misprint in published.misprints.items():
        columns = ", ".join(map(str, misprint.columns))
        yield f"Misprint in {key}, column {columns}: {misprint.reason}"
    yield from published.notes
    if (named := experiment.published) is not None:
        yield from (f"Here: {differs}" for differs in (*named.gateway_differs, *named.differs))


def _rates(published: Published) -> str:
    both = published.traffic.rates == "sum of directions"
    return "sum of both directions" if both else "single direction"


def numbers_of(pair: PairSection, experiment: Experiment) -> Mapping[str, int]:
    """Returns the number of the published column for each column of the whole experiment."""
    labels = [column.label for column in experiment.columns]
    return dict(zip(labels, pair.columns or range(1, len(labels) + 1), strict=True))


def gap_notes(
    experiment: Experiment, shown: Sequence[str], published: Published, found: Found
) -> Iterator[str]:
    """Yields a sentence for all that was published and has no measured figure beside it."""
    if published.drawn:
        yield (
            "The document draws the figures and prints no numbers, so none stands beside those "
            "measured here."
        )
        return
    yield from _column_gaps(experiment, shown, published)
    yield from _row_gaps(experiment, published)
    yield from _cell_gaps(experiment, shown, published, found)


def _column_gaps(
    experiment: Experiment, shown: Sequence[str], published: Published
) -> Iterator[str]:
    left_out = [each.label for each in experiment.columns if each.label not in shown]
    if left_out:
        yield f"Published, and left out of this campaign: {columns_named(left_out)}."
    pairs = _pairs(experiment)
    paired = {number for pair in pairs for number in numbers_of(pair, experiment).values()}
    others = [number for number in range(1, published.column_count + 1) if number not in paired]
    if others and pairs:
        first = next(iter(published.columns.values()))
        words = [f"{first.values[number - 1]}" for number in others]
        yield f"Published, and not a part of the experiment: {columns_named(words)}."


def _row_gaps(experiment: Experiment, published: Published) -> Iterator[str]:
    paired = {pair.row for pair in _pairs(experiment)}
    for role, sentence in (
        ("measured", "Published, and not a part of the experiment"),
        ("derived", "Published, and computed from these figures"),
    ):
        labels = [
            row.label
            for key, row in published.rows.items()
            if row.role == role and key not in paired
        ]
        if labels:
            yield f"{sentence}: {'; '.join(dict.fromkeys(labels))}."


def _cell_gaps(
    experiment: Experiment, shown: Sequence[str], published: Published, found: Found
) -> Iterator[str]:
    labels: dict[Gap, list[str]] = {}
    for pair, label in labels_of(experiment, published).items():
        values, numbers = published.numbers(pair.row), numbers_of(pair, experiment)
        for column in shown:
            number = numbers[column]
            if not number or values[number - 1] is None:
                continue  # the document has no figure there
            if why := _why_none(pair, found.get((pair.of, column))):
                labels.setdefault((column, why), []).append(label)
    for (column, why), rows in labels.items():
        yield f"Not measured here: column {column}: {'; '.join(dict.fromkeys(rows))}: {why}."


def _why_none(pair: PairSection, of: ColumnFigures | None) -> str:
    """Returns why a published figure has no measured one beside it; empty: it has one."""
    if main_figure(of, pair.figure, pair.direction) is not None:
        return ""
    if of is None:
        return f"{pair.of} has not been measured in this column"
    if of.error:
        return f"{pair.of} failed: {of.error.rstrip('.')}"
    return f"{pair.of} has no such figure in this column"


def _pairs(experiment: Experiment) -> tuple[PairSection, ...]:
    return experiment.published.pair if experiment.published else ()
