"""Tests of the searches that count if the time to repeat INVALID trials ends in one of them."""

from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

from natxy.measure.plan import repeat
from natxy.measure.search_remarks import cut_remarks, lacking_remarks
from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Topic
from natxy.trial.observer import Observer
from natxy.trial.repeats import RetryTime
from natxy.trial.trials import Trials

LIMIT_S = Fraction(10)


def figure(fps: float, *, is_bound: bool, at: str = "") -> Figure:
    return Figure(name="throughput", unit="fps", at=at, values=(fps,), lower_bound=(is_bound,))


def kept(*searches: tuple[float, bool], ends_in: int, is_search: bool = True) -> list[float]:
    """Runs searches with these results (a rate, and whether it is a bound); returns those that
    count. The time ends in the search with this number."""
    trials = cast(
        "Trials",
        SimpleNamespace(
            retry_time=RetryTime(given_s=LIMIT_S),
            session=SimpleNamespace(observer=Observer()),
            check_arrivals=lambda: None,
        ),
    )

    def search(number: int) -> tuple[float, bool]:
        if number == ends_in:
            trials.retry_time.count(LIMIT_S, valid=False)
        return searches[number - 1]

    found = repeat(
        len(searches),
        trials,
        search,
        lambda one: [figure(one[0], is_bound=one[1])],
        is_search=is_search,
    )
    return [fps for fps, _ in found]


@pytest.mark.parametrize(
    ("first_is_bound", "second_is_bound", "counted"),
    [
        (False, True, [1000]),  # the bound says less than the exact result
        (False, False, [1000, 50_000]),
        (True, True, [1000, 50_000]),  # both are bounds, and the second says more
        (True, False, [1000, 50_000]),
    ],
)
def test_a_search_that_was_cut_off_counts_unless_it_says_less(
    first_is_bound: bool, second_is_bound: bool, counted: list[float]
) -> None:
    searches = (1000.0, first_is_bound), (50_000.0, second_is_bound), (7.0, False)
    assert kept(*searches, ends_in=2) == counted


@pytest.mark.parametrize(("second_fps", "counted"), [(999, [1000]), (1001, [1000, 1001])])
def test_a_bound_that_was_cut_off_counts_if_it_is_the_highest(
    second_fps: float, counted: list[float]
) -> None:
    """A search that repeats no more trials may end far below what a gateway has already passed."""
    assert kept((1000.0, True), (second_fps, True), (7.0, False), ends_in=2) == counted


def test_the_first_search_always_counts() -> None:
    assert kept((1000.0, True), (7.0, False), ends_in=1) == [1000]


def test_repetitions_that_are_no_searches_are_all_run() -> None:
    assert kept((1000.0, False), (7.0, True), (8.0, False), ends_in=2, is_search=False) == [
        1000,
        7,
        8,
    ]


def test_each_point_of_a_series_names_the_repetitions_that_it_lacks() -> None:
    points = [figure(1.0, is_bound=False, at="1 core"), figure(2.0, is_bound=False, at="2 cores")]
    assert lacking_remarks(1, points) == ()
    assert lacking_remarks(3, points) == tuple(
        Remark.of(Topic.LACKING, at, lacking=2, asked=3) for at in ("1 core", "2 cores")
    )


def test_a_measurement_without_lacking_repetitions_says_nothing() -> None:
    trials = cast(
        "Trials", SimpleNamespace(retry_time=RetryTime(given_s=None), check_arrivals=lambda: None)
    )
    assert cut_remarks(3, 3, trials) == ()
    (remark,) = cut_remarks(3, 1, trials)
    assert remark.facts == {"lacking": 2, "asked": 3}
