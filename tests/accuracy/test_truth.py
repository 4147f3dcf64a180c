"""No rate that is marked as exact is outside its stated error: any gateway, in noise or not."""

import pytest

from tests.accuracy import truth

RUNS = 10
QUICK = ["policer-8", "connections"]


def check(name: str, noise_percent: float, number: int, *, watched: bool) -> None:
    found = truth.runs(name, noise_percent, number, watched=watched)
    print(truth.line(name, noise_percent, found, watched=watched))
    assert truth.wrong(name, noise_percent, found, watched=watched) == []


@pytest.mark.parametrize("name", QUICK)
def test_a_search_in_noise_finds_the_rate_or_says_that_it_does_not(name: str) -> None:
    check(name, 5, 1, watched=True)


@pytest.mark.long
@pytest.mark.parametrize("watched", [True, False], ids=["watched", "closed"])
@pytest.mark.parametrize("noise_percent", [0, 5, 10])
@pytest.mark.parametrize("name", truth.ROWS)
def test_no_exact_figure_is_wrong(name: str, noise_percent: float, watched: bool) -> None:
    check(name, noise_percent, RUNS, watched=watched)
