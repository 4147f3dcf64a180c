"""A published table beside what a campaign measured: in each column both values and their ratio."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import PairSection
from natxy.model.measurement import Figure, Unit
from natxy.model.published import Published
from natxy.model.published_values import BY_COLUMN
from natxy.model.published_values import Row as PublishedRow
from natxy.report.beside_gaps import gap_notes, numbers_of
from natxy.report.bounds import SIGNS
from natxy.report.campaign_table import CampaignTable, Row, Value
from natxy.report.cell_figures import Found, main_figure
from natxy.statistics import P1, P99, median, percentile, summary

Statistic = Callable[[Sequence[float]], float]
STATISTICS: Mapping[str, Statistic] = {
    "": median,
    "median": median,
    "minimum": min,
    "maximum": max,
    "mean": lambda values: summary(values).mean,
    "standard deviation": lambda values: summary(values).standard_deviation,
    "P1": lambda values: percentile(values, P1),
    "P99": lambda values: percentile(values, P99),
}
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
    pairs = experiment.published.pair if experiment.published else ()
    source = published.source
    name = f"{source.document} {source.kind.title()} {source.number}"
    return CampaignTable(
        title=f"{name}, and measured here",
        columns=tuple(shown),
        rows=tuple(
            row
            for pair in pairs
            for row in _rows(pair, published, numbers_of(pair, experiment), shown, found)
        ),
        notes=(
            *gap_notes(experiment, shown, published, found),
            *_notes(experiment, published),
        ),
    )


def _rows(
    pair: PairSection,
    published: Published,
    numbers: Mapping[str, int],
    shown: Sequence[str],
    found: Found,
) -> Iterator[Row]:
    row, values = published.rows[pair.row], published.numbers(pair.row)
    compute = STATISTICS[row.statistic]
    theirs: list[Value] = []
    ours: list[Value] = []
    ratios: list[Value] = []
    for label in shown:
        number = numbers[label]
        unit = _unit(row, published, number)
        value = values[number - 1] if number else None
        theirs.append(Value() if value is None else Value(number=value, text=_text(value)))
        figure = main_figure(found.get((pair.of, label)), pair.figure, pair.direction)
        ours.append(_ours(figure, compute, unit))
        ratios.append(_ratio(ours[-1], theirs[-1]))
    unit = row.unit if row.unit != BY_COLUMN else ""
    yield Row(name=f"{row.label}, published", values=tuple(theirs), unit=unit, group=pair.of)
    yield Row(name=f"{row.label}, here", values=tuple(ours), unit=unit, group=pair.of, main=True)
    yield Row(name="here / published", values=tuple(ratios), unit="times")


def _unit(row: PublishedRow, published: Published, number: int) -> str:
    if row.unit != BY_COLUMN or not number:
        return row.unit
    return str(published.columns["unit"].values[number - 1])


def _ours(figure: Figure | None, compute: Statistic, unit: str) -> Value:
    if figure is None:
        return Value()
    value = compute(figure.values)
    number, bound = value * FACTORS.get((figure.unit, unit), 1.0), figure.bound(value)
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
