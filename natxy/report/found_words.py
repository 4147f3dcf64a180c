"""What a measurement found, in a line: the same words in a terminal, in a browser and in files."""

from collections.abc import Sequence

from natxy.model.measurement import Conditions, Figure, Measurement
from natxy.report.cell_figures import (
    RATES,
    Place,
    in_directions,
    rate_words,
    told_apart,
    variant_of,
)
from natxy.report.numbers import ARROWS, benchmark, with_bound


def found(results: Sequence[Measurement], *, summed: bool) -> list[str]:
    """Returns the main figures of each result in one line, as the report shows them: with the words
    that tell the results apart, and rates per direction or, if `summed`, of both."""
    words = told_apart([variant_of(result.conditions) for result in results])
    return [
        f"{series}: {figures}" if series else figures
        for series, result in zip(words, results, strict=True)
        for figures in [main_words(in_directions(result, summed=summed), summed=summed)]
    ]


def main_words(result: Measurement, *, summed: bool) -> str:
    """Returns the main figures of a result whose rates are those that are shown."""
    return ", ".join(
        " ".join(
            filter(
                None,
                (
                    ARROWS[figure.direction],
                    figure.title,
                    benchmark(figure),
                    figure.unit if figure.unit in RATES else "",
                    rate_words(result.conditions, figure, summed=summed),
                    _on_the_wire(result.conditions, figure, summed=summed),
                ),
            )
        )
        for figure in result.figures
        if figure.primary and (figure.values or figure.missing)
    )


def _on_the_wire(conditions: Conditions, figure: Figure, *, summed: bool) -> str:
    """Returns what a rate of frames is on the wire, in parentheses; empty for another figure."""
    if not figure.values:
        return ""
    words = Place.of(conditions, figure, summed=summed).wire_words(with_bound(figure)[0])
    return f"({words})" if words else ""
