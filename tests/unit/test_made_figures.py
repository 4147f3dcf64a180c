"""Connections that were drawn with repetition: which searches have the figures of them."""

import pytest

from natxy.model.stream_counters import ConnectionCounters
from natxy.procedure.establishment import drawn_figures


def counters(new: int, known: int) -> ConnectionCounters:
    numbers = {"changed": 0, "wrong": 0, "collided": 0}
    return ConnectionCounters(new=new, known=known, ending_new_percent=36.5, **numbers)


def test_new_connections_and_their_share_at_the_end_are_shown_for_each_search() -> None:
    new, ending = drawn_figures([counters(800, 200), counters(700, 300)])
    assert (new.name, new.unit, new.values) == ("connections", "connections", (800, 700))
    assert (ending.unit, ending.values) == ("%", (36.5, 36.5))
    assert not new.primary
    assert not ending.primary


@pytest.mark.parametrize(
    "found",
    [
        [],
        [None],
        [counters(800, 200), None],
        [counters(800, 200), counters(1000, 0)],
        [counters(1000, 0)],
    ],
    ids=["no search", "no rate", "a rate in one search", "no repetition in one", "no repetition"],
)
def test_what_is_not_known_of_all_searches_is_no_figure(
    found: list[ConnectionCounters | None],
) -> None:
    assert drawn_figures(found) == ()
