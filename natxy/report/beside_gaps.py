"""Sentences for published figures that have no measured one beside them."""

from collections.abc import Iterator, Mapping, Sequence

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import PairSection
from natxy.model.published import Published
from natxy.report.campaign_notes import columns_named
from natxy.report.cell_figures import ColumnFigures, Found, main_figure

Gap = tuple[str, str]  # column, and why it has no figure


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
    yield from _columns(experiment, shown, published)
    yield from _rows(experiment, published)
    yield from _cells(experiment, shown, published, found)


def _columns(experiment: Experiment, shown: Sequence[str], published: Published) -> Iterator[str]:
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


def _rows(experiment: Experiment, published: Published) -> Iterator[str]:
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


def _cells(
    experiment: Experiment, shown: Sequence[str], published: Published, found: Found
) -> Iterator[str]:
    labels: dict[Gap, list[str]] = {}
    for pair in _pairs(experiment):
        values, numbers = published.numbers(pair.row), numbers_of(pair, experiment)
        for column in shown:
            number = numbers[column]
            if not number or values[number - 1] is None:
                continue  # the document has no figure there
            if why := _why_none(pair, found.get((pair.of, column))):
                labels.setdefault((column, why), []).append(published.rows[pair.row].label)
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
