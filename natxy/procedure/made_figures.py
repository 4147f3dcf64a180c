"""Figures beside an establishment rate: what the trials at this rate have made."""

from collections.abc import Iterable

from natxy.model.measurement import Figure
from natxy.model.stream_counters import ConnectionCounters


def drawn_figures(found: Iterable[ConnectionCounters | None]) -> tuple[Figure, ...]:
    """Returns the figures of connections drawn with repetition, where a combination that is drawn
    again is not a new connection (MP Table 23).

    `found` has what each search made at its rate, or None. If it is not known of all, there are no
    figures.
    """
    made = list(found)
    drawn = [of for of in made if of is not None and of.known]
    if not drawn or len(drawn) < len(made):
        return ()
    return (
        Figure(
            name="connections",
            unit="connections",
            values=tuple(float(of.new) for of in drawn),
            primary=False,
        ),
        Figure(
            name="ending new connection ratio",
            unit="%",
            values=tuple(of.ending_new_percent for of in drawn),
            primary=False,
        ),
    )
