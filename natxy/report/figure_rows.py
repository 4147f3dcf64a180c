"""The rows of the figures that a campaign measured: one for each figure, direction and point."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from natxy.model.experiment_sections import MeasureSection
from natxy.model.measurement import Figure
from natxy.report.cell_figures import RATES, ColumnFigures, Found, Key, Place
from natxy.report.numbers import ARROWS, SIGNS, quantity, rate, with_bound
from natxy.report.table_rows import Row, Spread, Value, named
from natxy.statistics import summary

NONE = ColumnFigures()
Known = TypeVar("Known")


def figure_rows(
    measure: MeasureSection, columns: Sequence[str], found: Found, *, primary: bool | None = True
) -> Iterator[Row]:
    """Yields the rows of the main figures, or of those that are reported in addition to them;
    None: both."""
    of = [_without_series(found.get((measure.name, column), NONE)) for column in columns]
    keys = list(dict.fromkeys(key for each in of for key in each.figures))
    if not keys and primary is not False:
        yield Row(
            name=measure.name,
            values=tuple(Value(text="failed" if each.error else "") for each in of),
            group=measure.name,
            figure=measure.name,
        )
    for key in keys:
        figures = [each.figures.get(key) for each in of]
        known = next(figure for figure in figures if figure is not None)
        if primary is None or known.primary is primary:
            yield _row(measure, key, known, of)


def _row(measure: MeasureSection, key: Key, known: Figure, of: Sequence[ColumnFigures]) -> Row:
    figures = [each.figures.get(key) for each in of]
    rates = list(dict.fromkeys(at_words(each, key) for each in of if key in each.figures))
    at = rates[0] if len(rates) == 1 else ""
    point = ", ".join(filter(None, (key[0], _point(key[-1], figures), at)))
    point_unit = known.at_unit if key[-1] and not key[0] else None
    name = " ".join(filter(None, (measure.label, known.name)))
    return Row(
        name=" ".join(filter(None, (ARROWS[known.direction], named(name, point, point_unit)))),
        values=tuple(
            value_of(figure, each, key, names_rate=not at)
            for figure, each in zip(figures, of, strict=True)
        ),
        unit=known.unit,
        rates=next((place.directions for each in of if (place := each.place(key))), ""),
        group=measure.name,
        series=key[0],
        figure=name,
        direction=known.direction,
        point=point,
        point_unit=point_unit,
        rate_fps=known.rate_fps or 0,
        statistic=known.statistic,
    )


def _without_series(of: ColumnFigures) -> ColumnFigures:
    """Returns the figures by keys without the point of a series, if the column has only one.

    So the tear-down rates of 1,000 and of 2,000 connections, in two columns, are in one row.
    """
    if len({figure.at for figure in of.figures.values()}) != 1:
        return of
    return replace(
        of,
        figures=_without_point(of.figures),
        places=_without_point(of.places),
        planned=_without_point(of.planned),
    )


def _without_point(known: Mapping[Key, Known]) -> dict[Key, Known]:
    return {(*key[:-1], ""): each for key, each in known.items()}


def _point(at: str, figures: Sequence[Figure | None]) -> str:
    """Returns the point of a row, with what was found there if it is the same in all columns."""
    shared = {figure.found for figure in figures if figure is not None}
    return ", ".join(word for word in (at, *(shared if len(shared) == 1 else ())) if word)


def at_words(of: ColumnFigures, key: Key) -> str:
    """Returns the rate at which a figure was measured; empty if its point names it, or if it has
    none."""
    figure = of.figures[key]
    rates = [each.rate_fps for each in of.places.get(key, ()) if each.rate_fps is not None]
    if figure.rate_fps is not None or not rates:
        return ""
    words = " … ".join(dict.fromkeys(map(rate, (min(rates), max(rates)))))
    return f"at {words} fps"


def value_of(
    figure: Figure | None, of: ColumnFigures = NONE, key: Key = (), *, names_rate: bool = False
) -> Value:
    """Returns the benchmark with its spread."""
    if figure is None or not figure.values:
        missing = "" if figure is None else figure.missing
        return Value(text=missing or ("failed" if of.error else ""))
    number, bound = with_bound(figure)
    text = SIGNS[bound] + quantity(number, figure.unit)
    return Value(
        number=number,
        text=f"({text})" if figure.uncertain else text,
        bound=bound,
        is_uncertain=figure.uncertain,
        spread=_spread(figure, of, key, names_rate=names_rate),
        place=Place.of_all(of.places.get(key, ())),
    )


def _spread(figure: Figure, of: ColumnFigures, key: Key, *, names_rate: bool) -> Spread:
    number, bound = with_bound(figure)
    values = summary(figure.values)
    place = of.place(key)
    return Spread(
        n=values.n,
        planned=of.planned.get(key, values.n),
        minimum=values.minimum,
        maximum=values.maximum,
        # RFC 9004 section 6.4 asks for it.
        deviation=values.standard_deviation if figure.statistic == "mean" else None,
        error=_error(figure, of.search_errors.get(key[0]) if key else None),
        unit=figure.unit,
        measured=bound == "upper" and number > figure.benchmark,
        at=at_words(of, key) if names_rate else "",
        wire="" if place is None else place.wire_words(number),
    )


def _error(figure: Figure, of_search: float | None) -> float | None:
    """Returns the error of a figure's benchmark: what its timing can have caused, or how far the
    search for the rate was from a rate that fails. A bound has none: above it, no rate has failed,
    or it contains the error."""
    if with_bound(figure)[1] != "exact":
        return None
    if figure.errors:
        return figure.benchmark_error
    return of_search if figure.unit in RATES else None
